// gpu/networks/ordered_layer.h — one layer of a network over a segment of a word in an order that composes letters, on
// a device: by maps (gpu/networks/ordered_blocks.cuh), or in chunks of reflections (gpu/networks/ordered_chunks.cuh).
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

/// The automaton's states before letters first, first + step, …, `count` of them, of the word's present segment, the
/// next ones after those that were asked for before.
using AutomatonStates =
    std::function<std::vector<std::uint32_t>(std::uint64_t first, std::uint64_t step, std::uint64_t count)>;

/// A layer that has read the word up to some segment. Its states are kept from segment to segment.
template <class D>
class LayerReader {
 public:
  virtual ~LayerReader() = default;
  /// Back to H_0.
  virtual void reset() = 0;
  /// Reads `word.letters` letters of the segment. A layer that is alone asks for the automaton's states, and adds to
  /// *outcome.
  virtual void read(const LayerWord<D>& word, const AutomatonStates& states, OrderedOutcome* outcome) = 0;
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

  MapLayerReader(Place place, const Layer& layer, const SampleOptions& options, std::vector<Number> initial)
      : place_(place),
        affine_(layer, options.form),
        initial_(std::move(initial)),
        actions_(place, std::span<const std::uint32_t>(layer.wiring.action_of)),
        blocks_(place, std::span<const std::uint32_t>(affine_.blocks())),
        state_(place, affine_.size()) {
    word_.shape = affine_.shape();
    word_.shape.blocks = blocks_.data();
    for (const std::uint32_t size : affine_.blocks()) word_.entries += size * size;
    write_letters();
    choose_blocks(options.order);
  }

  void reset() override { state_.write(initial_); }

  void read(const LayerWord<D>& word, const AutomatonStates& states, OrderedOutcome* outcome) override {
    static_cast<LayerWord<D>&>(word_) = word;
    word_.actions = actions_.data();
    const std::uint64_t positions = word_.positions(), whole = positions / word_.block;
    const std::uint64_t blocks = (positions + word_.block - 1) / word_.block;
    if (blocks > UINT32_MAX)
      throw LimitError("a segment of so many letters has more maps than a device indexes; take a shorter length");
    std::vector<Maps<Number>> totals;
    is_chained() ? make_chained_totals(totals, whole) : make_totals(totals, whole);
    Buffer<Number> starts(place_, (blocks + 1) * affine_.size());
    starts.write(state_.values());
    Buffer<Number> ends(place_, 41 * affine_.size());
    ends.write(state_.values());
    word_.ends = ends.data();
    if (is_chained())
      chain(starts, whole);
    else if (word_.order == BlockOrder::kScan)
      hand_down(totals, starts, whole);
    std::uint64_t first = 0;
    if (word_.order == BlockOrder::kDoubling) {
      read_blocks(states, outcome, starts, 0, 1);
      find_ends(totals, ends);
      first = 1;
    }
    for (; first < blocks; first += items_)
      read_blocks(states, outcome, starts, first, std::min(items_, blocks - first));
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
    word_.block = is_chained_ ? order.block : std::uint64_t{1} << kLogBlock;
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

  /// Level by level: of the blocks, and of twice as many positions each time.
  void make_totals(std::vector<Maps<Number>>& totals, std::uint64_t whole) {
    if (whole == 0) return;
    totals.push_back(make_maps(whole));
    word_.totals[word_.log_block] = totals[0].array();
    make_totals_of_blocks(whole);
    while (totals.back().count() >= 2) {
      const std::uint64_t count = totals.back().count() / 2;
      totals.push_back(make_maps(count));
      Buffer<Number> sums(place_, word_.shape.dimension * count);
      launch(place_,
             JoinTotals<D>{word_, totals[totals.size() - 2].array(), totals.back().array(), sums.data(), word_.shift()},
             count);
      state_.values();  // before the sums go
    }
    for (std::size_t k = 0; k < totals.size(); ++k) word_.totals[k + word_.log_block] = totals[k].array();
  }

  void make_chained_totals(std::vector<Maps<Number>>& totals, std::uint64_t whole) {
    if (whole == 0) return;
    for (std::uint32_t k = 0; k <= word_.log_block; ++k) {
      if ((word_.total_bits() >> k & 1) == 0) continue;
      totals.push_back(make_maps(whole));
      word_.totals[k] = totals.back().array();
    }
    make_totals_of_blocks(whole);
  }

  void make_totals_of_blocks(std::uint64_t whole) {
    for (std::uint64_t first = 0; first < whole; first += items_)
      launch(place_, MakeTotals<D>{word_, room_, first}, std::min(items_, whole - first));
  }

  void apply(Maps<Number>& maps, ApplyTotals<D> job, std::uint64_t items) {
    Buffer<Number> sums(place_, word_.shape.dimension * items);
    job.word = word_;
    job.totals = maps.array();
    job.sums = sums.data();
    launch(place_, job, items);
    state_.values();  // before the sums go
  }

  bool is_chained() const { return is_chained_; }

  /// Chunk after chunk, or segment after segment.
  void chain(Buffer<Number>& starts, std::uint64_t whole) {
    ChainTotals<D> job{word_, starts.data(), whole, nullptr};
    Buffer<Number> spare(place_, job.fits() ? 0 : job.near_words());
    job.spare = spare.data();
    launch_teams(place_, job, job.teams());
    state_.values();  // before the spare numbers go
  }

  /// The down-sweep: from the highest level on, a right half starts where the left half's total takes its start.
  void hand_down(std::vector<Maps<Number>>& totals, Buffer<Number>& starts, std::uint64_t whole) {
    for (std::size_t k = totals.size(); k-- > 0;) {
      const std::uint64_t half = std::uint64_t{1} << k;
      ApplyTotals<D> job;
      job.states = starts.data();
      job.total_step = 2;
      job.to = half;
      job.step = 2 * half;
      apply(totals[k], job, (whole - half) / (2 * half) + 1);
    }
  }

  /// H at position 2^{a+1} − 1 from that at 2^a − 1, for all a above the first block.
  void find_ends(std::vector<Maps<Number>>& totals, Buffer<Number>& ends) {
    for (std::size_t k = 0; k < totals.size() && totals[k].count() > 1; ++k) {
      ApplyTotals<D> job;
      job.states = ends.data();
      job.total_first = 1;
      job.from = word_.log_block + k;
      job.to = job.from + 1;
      apply(totals[k], job, 1);
    }
  }

  void read_blocks(const AutomatonStates& states, OrderedOutcome* outcome, const Buffer<Number>& starts,
                   std::uint64_t first, std::uint64_t count) {
    const std::uint64_t begin = first * word_.block;
    const Buffer<std::uint32_t> before(
        place_, word_.is_alone() ? states_before(states, begin, count) : std::vector<std::uint32_t>{});
    ReadBlocks<D> job;
    job.word = word_;
    job.room = room_;
    job.first_block = first;
    job.starts = starts.data();
    job.automaton_states = before.data();
    job.outcome = outcome;
    job.end = state_.data();
    launch(place_, job, count);
    state_.values();  // before the automaton's states go
  }

  /// Before blocks from position `begin` on. Doubling's first block has a letter less.
  std::vector<std::uint32_t> states_before(const AutomatonStates& states, std::uint64_t begin, std::uint64_t count) {
    if (begin > 0 || word_.shift() == 0) return states(begin - word_.shift(), word_.block, count);
    return states(0, word_.block - word_.shift(), count);
  }

  Place place_;
  AffineLayer<Reference> affine_;
  std::vector<Number> initial_;
  Buffer<std::uint32_t> actions_, blocks_;
  Buffer<Number> state_;  ///< at the end of the segment read last
  OrderedWord<D> word_;
  std::vector<Maps<Number>> letters_, room_maps_;
  Buffer<Number> room_states_{place_};
  BlockRoom<Number> room_;
  std::uint64_t items_ = 1;
  bool is_chained_ = false;  ///< blocks are chunks or segments, whose ends are found one after another
};

/// Chunks of reflections in the UT form.
template <class D>
class ChunkLayerReader final : public LayerReader<D> {
 public:
  using Number = typename D::Number;
  using Reference = decltype(reference_of(D{}));

  /// `ordered` is the layer in the order; it is not kept.
  ChunkLayerReader(Place place, const Layer& layer, const OrderedLayer<Reference>& ordered, std::vector<Number> initial)
      : place_(place),
        initial_(std::move(initial)),
        actions_(place, std::span<const std::uint32_t>(layer.wiring.action_of)),
        factor_begin_(place),
        keys_(place),
        scaled_(place),
        state_(place, initial_.size()) {
    word_.dimension = ordered.dimension();
    word_.columns = ordered.columns();
    word_.chunk = ordered.order().block;
    word_.rows = static_cast<std::uint32_t>(std::max<std::size_t>(ordered.factors_per_chunk(), 1));
    write_factors(ordered);
    make_room();
  }

  void reset() override { state_.write(initial_); }

  void read(const LayerWord<D>& word, const AutomatonStates& states, OrderedOutcome* outcome) override {
    static_cast<LayerWord<D>&>(word_) = word;
    word_.actions = actions_.data();
    const std::uint64_t chunks = (word_.letters + word_.chunk - 1) / word_.chunk;
    Buffer<Number> starts(place_, (items_ + 1) * word_.size());
    for (std::uint64_t first = 0; first < chunks; first += items_) {
      const std::uint64_t count = std::min<std::uint64_t>(items_, chunks - first);
      starts.write(state_.values());
      // Within these chunks, the first one's start is number 0.
      LayerWord<D> part = word_;
      part.segment += first * word_.chunk;
      part.letters = std::min(word_.letters - first * word_.chunk, count * word_.chunk);
      if (!word_.is_alone()) {
        part.contexts += first * word_.chunk;
        part.labels += first * word_.chunk;
        part.nodes += first * word_.chunk;
      }
      read_chunks(part, starts, count, first + count == chunks, outcome,
                  word_.is_alone() ? states(first * word_.chunk, word_.chunk, count) : std::vector<std::uint32_t>{});
      std::vector<Number> end(word_.size());
      starts.read(end, count * word_.size());
      state_.write(end);
    }
  }

 private:
  void read_chunks(const LayerWord<D>& part, Buffer<Number>& starts, std::uint64_t count, bool is_last,
                   OrderedOutcome* outcome, const std::vector<std::uint32_t>& before) {
    ChunkedWord<D> word = word_;
    static_cast<LayerWord<D>&>(word) = part;
    const Buffer<std::uint32_t> automaton_states(place_, before);
    launch(place_, MakeChunks<D>{word, room_, 0}, count);
    chain({word, room_, 0, count, starts.data(), nullptr});
    launch(place_, ReadChunks<D>{word, room_, 0, starts.data(), automaton_states.data(), outcome, is_last}, count);
    state_.values();  // before the automaton's states go
  }

  void chain(ChainChunks<D> job) const {
    Buffer<Number> spare(place_, job.fits() ? 0 : job.near_words());
    job.spare = spare.data();
    launch_teams(place_, job, 1);
    state_.values();  // before the spare numbers go
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

  Place place_;
  std::vector<Number> initial_;
  Buffer<std::uint32_t> actions_, factor_begin_;
  Buffer<Number> keys_, scaled_, state_;
  ChunkedWord<D> word_;
  Buffer<std::uint32_t> room_words_{place_};
  Buffer<Number> room_numbers_{place_};
  ChunkRoom<Number> room_;
  std::uint64_t items_ = 1;
};

}  // namespace krohn
