// gpu/networks/ordered_layer.h — one layer of a network over a segment of words in an order that composes letters, on a
// device: by maps (gpu/networks/ordered_blocks.cuh), or in chunks of reflections (gpu/networks/ordered_chunks.cuh).
// Included by gpu/networks/ordered_words.cpp alone.
#pragma once

#include <algorithm>
#include <bit>
#include <functional>
#include <vector>

#include "krohn/gpu/device/place.h"
#include "krohn/gpu/networks/network_image.h"
#include "krohn/gpu/networks/ordered_blocks.cuh"
#include "krohn/gpu/networks/ordered_chunks.cuh"
#include "krohn/simulate/evaluate/affine_layer.h"
#include "krohn/simulate/evaluate/layer_run.h"

namespace krohn {

/// The automaton's states before letters first, first + step, …, `count` of them, of every word's present segment, the
/// next ones after those that were asked for before.
using AutomatonStates =
    std::function<Buffer<std::uint32_t>(std::uint64_t first, std::uint64_t step, std::uint64_t count)>;

/// A layer that has read words up to some segment. Its states are kept from segment to segment.
template <class D>
class LayerReader {
 public:
  using Number = typename D::Number;

  LayerReader(Place place, const Layer& layer, const std::vector<Number>& initial)
      : place_(place),
        initial_(place, std::span<const Number>(initial)),
        actions_(place, std::span<const std::uint32_t>(layer.wiring.action_of)),
        state_(place) {}
  virtual ~LayerReader() = default;

  /// Words of which so many letters are in work at once.
  std::uint64_t words_at_once(std::uint64_t letters) const { return items_ / (letters / block_letters_ + 1); }
  /// So many words before their first letter.
  void reset(std::uint64_t words) {
    state_ = Buffer<Number>(place_, words * initial_.size());
    copy_states(initial_.data(), 0, state_.data(), 1, words);
  }
  /// Reads the segment of all words, at most words_at_once() of them or one. A layer that is alone asks for the
  /// automaton's states, and adds to the outcomes.
  virtual void read(const LayerWord<D>& words, const AutomatonStates& states, OrderedOutcome* outcomes) = 0;

 protected:
  /// A state of every word, in rows of so many states.
  void copy_states(const Number* from, std::uint64_t from_step, Number* to, std::uint64_t to_step,
                   std::uint64_t words) const {
    const std::uint64_t size = initial_.size();
    launch(place_, CopyRows<Number>{from, from_step * size, to, to_step * size, size}, words * size);
  }
  /// On a device, before memory goes that a kernel works with.
  void wait() const {
    Number number;
    state_.read({&number, 1});
  }

  Place place_;
  Buffer<Number> initial_;
  Buffer<std::uint32_t> actions_;
  Buffer<Number> state_;                         ///< by word, at the end of the segment read last
  std::uint64_t items_ = 1, block_letters_ = 1;  ///< blocks that are in work at once, and the letters of one
};

inline constexpr std::uint64_t kMaxItems = std::uint64_t{1} << 17, kRoomBytes = std::uint64_t{1} << 30;

/// True where an item works on a segment, many segments side by side; longer ones have items of their own.
inline bool scans_short_segments(const Order& order) {
  constexpr std::uint64_t kMaxLetters = 1024;
  return order.kind == Order::Kind::kScan && order.block > 0 && order.block <= kMaxLetters;
}

/// Blocks that are in work at once, of `bytes` each.
inline std::uint64_t items_in_room(Place place, std::uint64_t bytes) {
  constexpr std::uint64_t kOnProcessor = 64;
  return std::clamp<std::uint64_t>(kRoomBytes / bytes, 1, place == Place::kDevice ? kMaxItems : kOnProcessor);
}

/// Maps with their memory.
template <class Number>
class Maps {
 public:
  Maps(Place place, const AffineShape& shape, std::uint64_t numbers_each, std::uint64_t count)
      : numbers_(place, numbers_each * count),
        targets_(place, shape.only_moves ? shape.dimension * count : 0),
        count_(static_cast<std::uint32_t>(count)) {}

  MapArray<Number> array() { return {numbers_.data(), targets_.data(), count_}; }
  std::uint64_t count() const { return count_; }
  void write(std::span<const Number> numbers, std::span<const std::uint32_t> targets) {
    numbers_.write(numbers);
    targets_.write(targets);
  }

 private:
  Buffer<Number> numbers_;
  Buffer<std::uint32_t> targets_;
  std::uint32_t count_;
};

/// Letters as maps.
template <class D>
class MapLayerReader final : public LayerReader<D> {
 public:
  using Number = typename D::Number;
  using Reference = decltype(reference_of(D{}));

  MapLayerReader(Place place, const Layer& layer, const SampleOptions& options, const std::vector<Number>& initial)
      : LayerReader<D>(place, layer, initial),
        affine_(layer, options.form),
        blocks_(place, std::span<const std::uint32_t>(affine_.blocks())) {
    word_.shape = affine_.shape();
    word_.shape.blocks = blocks_.data();
    for (const std::uint32_t size : affine_.blocks()) word_.entries += size * size;
    write_letters();
    choose_blocks(options.order);
  }

  void read(const LayerWord<D>& words, const AutomatonStates& states, OrderedOutcome* outcomes) override {
    static_cast<LayerWord<D>&>(word_) = words;
    word_.actions = actions_.data();
    const std::uint64_t blocks = word_.all_blocks();
    if (words.words * blocks > UINT32_MAX)
      throw LimitError("a segment of so many letters has more maps than a device indexes; take a shorter length");
    std::vector<Maps<Number>> totals;
    is_chained_ ? make_chained_totals(totals) : make_totals(totals);
    Buffer<Number> kept(place_, words.words * word_.states_each() * affine_.size());
    word_.states = kept.data();
    this->copy_states(state_.data(), 1, kept.data(), word_.states_each(), words.words);
    if (is_chained_)
      chain();
    else if (word_.order == BlockOrder::kScan)
      hand_down(totals);
    std::uint64_t first = 0;
    if (word_.order == BlockOrder::kDoubling) {
      read_blocks(states, outcomes, {0, 1});
      find_ends(totals);
      first = 1;
    }
    for_pieces(first, blocks, [&](const PartsOfWords& piece) { read_blocks(states, outcomes, piece); });
  }

 private:
  static constexpr std::uint32_t kLogBlock = 6;

  std::uint64_t numbers_each() const { return word_.entries + (word_.shape.adds ? affine_.size() : 0); }
  Maps<Number> make_maps(std::uint64_t count) const { return Maps<Number>(place_, word_.shape, numbers_each(), count); }

  void write_letters() {
    const std::size_t count = affine_.letters();
    letters_.push_back(make_maps(count));
    std::vector<Number> numbers(numbers_each() * count);
    std::vector<std::uint32_t> targets(word_.shape.only_moves ? word_.shape.dimension * count : 0);
    for (Action action = 0; action < count; ++action) {
      const auto& map = affine_.letter(action);
      std::size_t e = 0;
      for (const auto* part : {&map.entries, &map.addition})
        for (const auto number : *part) numbers[e++ * count + action] = static_cast<Number>(to_double(number));
      for (std::size_t j = 0; j < map.targets.size(); ++j) targets[j * count + action] = map.targets[j];
    }
    letters_[0].write(numbers, targets);
    word_.letter_maps = letters_[0].array();
  }

  void choose_blocks(const Order& order) {
    word_.order = order.kind == Order::Kind::kChunked ? BlockOrder::kChunked
                  : order.kind == Order::Kind::kScan  ? BlockOrder::kScan
                                                      : BlockOrder::kDoubling;
    const bool chunked = word_.order == BlockOrder::kChunked;
    is_chained_ = chunked || scans_short_segments(order);
    word_.block = block_letters_ = is_chained_ ? order.block : std::uint64_t{1} << kLogBlock;
    word_.log_block = chunked ? 0 : static_cast<std::uint32_t>(std::bit_width(word_.block)) - 1;
    const std::uint64_t maps = BlockRoom<Number>::kMaps + word_.log_block,
                        states = BlockRoom<Number>::kStates + word_.log_block;
    const std::uint64_t bytes =
        maps * (numbers_each() * sizeof(Number) + word_.shape.dimension * 4) + states * affine_.size() * sizeof(Number);
    items_ = items_in_room(place_, bytes);
    room_maps_.push_back(make_maps(maps * items_));
    room_states_ = Buffer<Number>(place_, states * affine_.size() * items_);
    room_ = {room_maps_[0].array(), room_states_.data(), static_cast<std::uint32_t>(items_)};
  }

  /// Blocks `first` … `end` − 1 of every word, as many at a time as there is room for.
  template <class Body>
  void for_pieces(std::uint64_t first, std::uint64_t end, Body&& body) const {
    const std::uint64_t most = items_ / word_.words;
    for (; first < end; first += most) body(PartsOfWords{first, std::min(most, end - first)});
  }

  /// Level by level: of the blocks, and of twice as many positions each time.
  void make_totals(std::vector<Maps<Number>>& totals) {
    std::uint64_t each = word_.whole_blocks();
    if (each == 0) return;
    totals.push_back(make_maps(word_.words * each));
    word_.totals[word_.log_block] = totals[0].array();
    make_totals_of_blocks();
    for (; each >= 2; each /= 2) {
      const std::uint64_t count = word_.words * (each / 2);
      totals.push_back(make_maps(count));
      const auto below = totals[totals.size() - 2].array(), above = totals.back().array();
      Buffer<Number> sums(place_, word_.shape.dimension * count);
      launch(place_, JoinTotals<D>{word_, below, above, each, each / 2, sums.data()}, count);
      this->wait();  // before the sums go
    }
    for (std::size_t k = 0; k < totals.size(); ++k) word_.totals[k + word_.log_block] = totals[k].array();
  }

  void make_chained_totals(std::vector<Maps<Number>>& totals) {
    if (word_.whole_blocks() == 0) return;
    for (std::uint32_t k = 0; k <= word_.log_block; ++k) {
      if ((word_.total_bits() >> k & 1) == 0) continue;
      totals.push_back(make_maps(word_.words * word_.whole_blocks()));
      word_.totals[k] = totals.back().array();
    }
    make_totals_of_blocks();
  }

  void make_totals_of_blocks() {
    for_pieces(0, word_.whole_blocks(), [&](const PartsOfWords& piece) {
      launch(place_, MakeTotals<D>{word_, room_, piece}, word_.words * piece.each);
    });
  }

  void apply(Maps<Number>& maps, ApplyTotals<D> job) {
    Buffer<Number> sums(place_, word_.shape.dimension * word_.words * job.each);
    job.word = word_;
    job.totals = maps.array();
    job.totals_each = maps.count() / word_.words;
    job.sums = sums.data();
    launch(place_, job, word_.words * job.each);
    this->wait();  // before the sums go
  }

  /// Chunk after chunk, or segment after segment.
  void chain() {
    if (word_.whole_blocks() == 0) return;
    ChainTotals<D> job{word_, nullptr};
    Buffer<Number> spare(place_, job.fits() ? 0 : word_.words * job.near_words());
    job.spare = spare.data();
    launch_teams(place_, job, word_.words);
    this->wait();  // before the spare numbers go
  }

  /// The down-sweep: from the highest level on, a right half starts where the left half's total takes its start.
  void hand_down(std::vector<Maps<Number>>& totals) {
    for (std::size_t k = totals.size(); k-- > 0;) {
      const std::uint64_t half = std::uint64_t{1} << k;
      ApplyTotals<D> job;
      job.total_step = 2;
      job.to = half;
      job.step = 2 * half;
      job.each = (word_.whole_blocks() - half) / (2 * half) + 1;
      apply(totals[k], job);
    }
  }

  /// H at position 2^{a+1} − 1 from that at 2^a − 1, for all a above the first block.
  void find_ends(std::vector<Maps<Number>>& totals) {
    for (std::size_t k = 0; k + 1 < totals.size(); ++k) {
      ApplyTotals<D> job;
      job.total_first = 1;
      job.from = word_.log_block + k;
      job.to = job.from + 1;
      apply(totals[k], job);
    }
  }

  void read_blocks(const AutomatonStates& states, OrderedOutcome* outcomes, const PartsOfWords& piece) {
    Buffer<std::uint32_t> before(place_);
    if (word_.is_alone()) before = states_before(states, piece.first * word_.block, piece.each);
    ReadBlocks<D> job;
    job.word = word_;
    job.room = room_;
    job.blocks = piece;
    job.automaton_states = before.data();
    job.outcomes = outcomes;
    job.ends = state_.data();
    launch(place_, job, word_.words * piece.each);
    this->wait();  // before the automaton's states go
  }

  /// Before blocks from position `begin` on. Doubling's first block has a letter less.
  Buffer<std::uint32_t> states_before(const AutomatonStates& states, std::uint64_t begin, std::uint64_t count) {
    if (begin > 0 || word_.shift() == 0) return states(begin - word_.shift(), word_.block, count);
    return states(0, word_.block - word_.shift(), count);
  }

  using LayerReader<D>::place_, LayerReader<D>::actions_, LayerReader<D>::state_, LayerReader<D>::items_,
      LayerReader<D>::block_letters_;
  AffineLayer<Reference> affine_;
  Buffer<std::uint32_t> blocks_;
  OrderedWord<D> word_;
  std::vector<Maps<Number>> letters_, room_maps_;
  Buffer<Number> room_states_{place_};
  BlockRoom<Number> room_;
  bool is_chained_ = false;  ///< blocks are chunks or segments, whose ends are found one after another
};

/// Chunks of reflections in the UT form.
template <class D>
class ChunkLayerReader final : public LayerReader<D> {
 public:
  using Number = typename D::Number;
  using Reference = decltype(reference_of(D{}));

  /// `ordered` is the layer in the order; it is not kept.
  ChunkLayerReader(Place place, const Layer& layer, const OrderedLayer<Reference>& ordered,
                   const std::vector<Number>& initial)
      : LayerReader<D>(place, layer, initial), factor_begin_(place), keys_(place), scaled_(place) {
    word_.dimension = ordered.dimension();
    word_.columns = ordered.columns();
    word_.chunk = block_letters_ = ordered.order().block;
    word_.rows = static_cast<std::uint32_t>(std::max<std::size_t>(ordered.factors_per_chunk(), 1));
    write_factors(ordered);
    make_room();
  }

  void read(const LayerWord<D>& words, const AutomatonStates& states, OrderedOutcome* outcomes) override {
    const std::uint64_t chunks = (words.letters + word_.chunk - 1) / word_.chunk, most = items_ / words.words;
    Buffer<Number> starts(place_, words.words * (std::min(most, chunks) + 1) * word_.size());
    for (std::uint64_t first = 0; first < chunks; first += most) {
      // Within these chunks, the first one's start is number 0. Only a word that is alone has several pieces.
      static_cast<LayerWord<D>&>(word_) = words;
      word_.actions = actions_.data();
      word_.each = std::min(most, chunks - first);
      word_.segment += first * word_.chunk;
      word_.letters = std::min(words.letters - first * word_.chunk, word_.each * word_.chunk);
      if (!words.is_alone()) {
        word_.contexts += first * word_.chunk;
        word_.labels += first * word_.chunk;
        word_.nodes += first * word_.chunk;
      }
      this->copy_states(state_.data(), 1, starts.data(), word_.each + 1, words.words);
      Buffer<std::uint32_t> before(place_);
      if (words.is_alone()) before = states(first * word_.chunk, word_.chunk, word_.each);
      read_chunks(starts, {word_, room_, starts.data(), before.data(), outcomes, first + word_.each == chunks});
      this->copy_states(starts.data() + word_.each * word_.size(), word_.each + 1, state_.data(), 1, words.words);
      this->wait();  // before the automaton's states go
    }
  }

 private:
  void read_chunks(Buffer<Number>& starts, const ReadChunks<D>& job) const {
    const std::uint64_t count = word_.words * word_.each;
    launch(place_, MakeChunks<D>{word_, room_}, count);
    ChainChunks<D> links{word_, room_, starts.data(), nullptr};
    Buffer<Number> spare(place_, links.fits() ? 0 : word_.words * links.near_words());
    links.spare = spare.data();
    launch_teams(place_, links, word_.words);
    launch(place_, job, count);
    this->wait();  // before the spare numbers go
  }

  void write_factors(const OrderedLayer<Reference>& ordered) {
    std::vector<std::uint32_t> begin{0};
    std::vector<Number> keys, scaled;
    for (const auto& letter : ordered.reflections()) {
      for (const auto& factor : letter.factors) {
        std::vector<typename Reference::Number> key(word_.dimension, typename Reference::Number(0));
        for (const auto& entry : factor.entries) key[entry.position] = entry.key;
        for (const auto number : key) {
          keys.push_back(static_cast<Number>(to_double(number)));
          scaled.push_back(static_cast<Number>(
              to_double(Reference::store(Reference::product(factor.beta, Reference::load(number))))));
        }
      }
      begin.push_back(static_cast<std::uint32_t>(keys.size() / word_.dimension));
    }
    factor_begin_ = Buffer<std::uint32_t>(place_, begin);
    keys_ = Buffer<Number>(place_, keys);
    scaled_ = Buffer<Number>(place_, scaled);
    word_.factor_begin = factor_begin_.data();
    word_.keys = keys_.data();
    word_.scaled = scaled_.data();
  }

  void make_room() {
    const std::uint64_t rows = word_.rows, numbers = rows * rows + rows + rows * word_.dimension + 2 * word_.size();
    items_ = items_in_room(place_, numbers * sizeof(Number) + (rows + 1) * 4);
    room_words_ = Buffer<std::uint32_t>(place_, (rows + 1) * items_);
    room_numbers_ = Buffer<Number>(place_, numbers * items_);
    room_.items = static_cast<std::uint32_t>(items_);
    room_.factors = room_words_.data();
    room_.counts = room_.factors + rows * items_;
    room_.solved = room_numbers_.data();
    room_.row = room_.solved + rows * rows * items_;
    room_.w = room_.row + rows * items_;
    room_.sums = room_.w + rows * word_.dimension * items_;
    room_.state = room_.sums + word_.size() * items_;
  }

  using LayerReader<D>::place_, LayerReader<D>::actions_, LayerReader<D>::state_, LayerReader<D>::items_,
      LayerReader<D>::block_letters_;
  Buffer<std::uint32_t> factor_begin_;
  Buffer<Number> keys_, scaled_;
  ChunkedWord<D> word_;
  Buffer<std::uint32_t> room_words_{place_};
  Buffer<Number> room_numbers_{place_};
  ChunkRoom<Number> room_;
};

}  // namespace krohn
