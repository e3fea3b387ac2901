#include "gpu/ordered_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "gpu/network_image.h"
#include "gpu/ordered_blocks.cuh"
#include "simulate/affine_layer.h"
#include "simulate/layer_run.h"

namespace krohn {
namespace {

constexpr std::uint32_t kLogBlock = 6;
constexpr std::uint64_t kMostItems = std::uint64_t{1} << 15, kRoomBytes = std::uint64_t{1} << 28;

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

template <class A, class D>
class OrderedSampler {
 public:
  using Number = typename D::Number;
  using Reference = typename ArithmeticOf<D>::type;

  OrderedSampler(Place place, const Network& network, const SampleOptions& options)
      : place_(place),
        options_(options),
        automaton_(network.automaton),
        image_(network, options.form),
        bytes_(place),
        affine_(network.layers[0], options.form),
        actions_(place, std::span<const std::uint32_t>(network.layers[0].wiring.action_of)),
        blocks_(place, std::span<const std::uint32_t>(affine_.blocks())),
        outcome_(place, 1),
        state_(place, affine_.size()) {
    ImageWriter measure(nullptr);
    image_.write(measure);
    bytes_ = Buffer<std::byte>(place, measure.bytes().size());
    ImageWriter image(bytes_.data());
    word_.network = image_.write(image);
    bytes_.write(image.bytes());
    word_.shape = affine_.shape();
    word_.shape.blocks = blocks_.data();
    for (const std::uint32_t size : affine_.blocks()) word_.entries += size * size;
    word_.actions = actions_.data();
    write_letters();
    choose_blocks();
  }

  SampleReport run(std::uint64_t length) {
    LengthReport& row = report_.lengths.emplace_back();
    row.length = length;
    for (std::uint64_t word = 0; word < options_.words; ++word) {
      OrderedOutcome outcome = read_word(word, length);
      ++row.words;
      row.letters += length;
      row.right_letters += outcome.right_letters;
      row.right_state += outcome.answer == outcome.state;
      row.right_output +=
          outcome.answer < automaton_.states() && automaton_.output(outcome.answer) == automaton_.output(outcome.state);
      if (outcome.failing_at == ~0ULL) continue;
      if (report_.failing_at && std::make_tuple(*report_.failing_at, *report_.failing_word_index) <=
                                    std::make_tuple(std::uint64_t{outcome.failing_at}, word))
        continue;
      report_.failing_at = outcome.failing_at;
      report_.failing_word_index = word;
    }
    return report_;
  }

 private:
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

  void choose_blocks() {
    const Order& order = options_.order;
    word_.order = order.kind == Order::Kind::kChunked ? BlockOrder::kChunked
                  : order.kind == Order::Kind::kScan  ? BlockOrder::kScan
                                                      : BlockOrder::kDoubling;
    const bool chunked = word_.order == BlockOrder::kChunked;
    word_.log_block = chunked ? 0 : kLogBlock;
    word_.block = chunked ? order.block : std::uint64_t{1} << kLogBlock;
    segment_ = chunked || order.block == 0 ? UINT64_MAX : order.block;
    const std::uint64_t maps = BlockRoom<Number>::kMaps + word_.log_block,
                        states = BlockRoom<Number>::kStates + word_.log_block;
    const std::uint64_t bytes =
        maps * (numbers_each() * sizeof(Number) + word_.shape.dimension * 4) + states * affine_.size() * sizeof(Number);
    items_ = std::clamp<std::uint64_t>(kRoomBytes / bytes, 1, place_ == Place::kDevice ? kMostItems : 64);
    room_maps_.push_back(make_maps(maps * items_));
    room_states_ = Buffer<Number>(place_, states * affine_.size() * items_);
    room_ = {room_maps_[0].array(), room_states_.data(), static_cast<std::uint32_t>(items_)};
  }

  OrderedOutcome read_word(std::uint64_t index, std::uint64_t length) {
    const RandomWord word(automaton_.letters(), options_.seed, index);
    word_.key = word.key();
    OrderedOutcome outcome;
    outcome.state = automaton_.initial();
    outcome.answer = word_.network.initial_answer;
    if (outcome.state != outcome.answer) outcome.failing_at = 0;
    outcome_.write({&outcome, 1});
    state_.write(image_.initial_numbers());
    automaton_state_ = automaton_.initial();
    for (word_.segment = 0; word_.segment < length; word_.segment += word_.letters) {
      word_.letters = std::min(segment_, length - word_.segment);
      read_segment(word);
    }
    outcome_.read({&outcome, 1});
    return outcome;
  }

  void read_segment(const RandomWord& word) {
    const std::uint64_t positions = word_.positions(), whole = positions / word_.block;
    const std::uint64_t blocks = (positions + word_.block - 1) / word_.block;
    if (blocks > UINT32_MAX)
      throw LimitError("a segment of so many letters has more maps than a device indexes; take a shorter length");
    std::vector<Maps<Number>> totals;
    make_totals(totals, whole);
    Buffer<Number> starts(place_, (blocks + 1) * affine_.size());
    starts.write(state_.values());
    Buffer<Number> ends(place_, 41 * affine_.size());
    ends.write(state_.values());
    word_.ends = ends.data();
    if (word_.order == BlockOrder::kChunked)
      chain(totals, starts, blocks);
    else if (word_.order == BlockOrder::kScan)
      hand_down(totals, starts, whole);
    std::uint64_t first = 0;
    if (word_.order == BlockOrder::kDoubling) {
      read_blocks(word, starts, 0, 1);
      find_ends(totals, ends);
      first = 1;
    }
    for (; first < blocks; first += items_) read_blocks(word, starts, first, std::min(items_, blocks - first));
  }

  /// Level by level: of the blocks, and of twice as many positions each time.
  void make_totals(std::vector<Maps<Number>>& totals, std::uint64_t whole) {
    if (whole == 0) return;
    totals.push_back(make_maps(whole));
    for (std::uint64_t first = 0; first < whole; first += items_)
      launch(place_, MakeTotals<D>{word_, room_, first, totals[0].array()}, std::min(items_, whole - first));
    if (word_.order == BlockOrder::kChunked) return;
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

  void apply(Maps<Number>& maps, ApplyTotals<D> job, std::uint64_t items) {
    Buffer<Number> sums(place_, word_.shape.dimension * items);
    job.word = word_;
    job.totals = maps.array();
    job.sums = sums.data();
    launch(place_, job, items);
    state_.values();  // before the sums go
  }

  /// Chunk after chunk: as the order has it, there is nothing to be done side by side.
  void chain(std::vector<Maps<Number>>& totals, Buffer<Number>& starts, std::uint64_t blocks) {
    if (blocks < 2) return;
    ApplyTotals<D> job;
    job.states = starts.data();
    job.links = blocks - 1;
    apply(totals[0], job, 1);
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

  void read_blocks(const RandomWord& word, const Buffer<Number>& starts, std::uint64_t first, std::uint64_t count) {
    // The truth is the processor's own: the automaton, letter by letter.
    std::vector<std::uint32_t> before;
    for (std::uint64_t block = first; block < first + count; ++block) {
      before.push_back(automaton_state_);
      const std::uint64_t begin = std::max(block * word_.block, word_.shift()) - word_.shift();
      const std::uint64_t end = std::min((block + 1) * word_.block, word_.positions()) - word_.shift();
      slice_.resize(end - begin);
      word.fill(word_.segment + begin, slice_);
      for (const Letter letter : slice_) automaton_state_ = automaton_.next(automaton_state_, letter);
    }
    const Buffer<std::uint32_t> automaton_states(place_, before);
    ReadBlocks<D> job;
    job.word = word_;
    job.room = room_;
    job.first_block = first;
    job.starts = starts.data();
    job.automaton_states = automaton_states.data();
    job.outcome = outcome_.data();
    job.end = state_.data();
    launch(place_, job, count);
    state_.values();  // before the automaton's states go
    done_ += count * word_.block;
    if (options_.progress) options_.progress(done_, options_.lengths.back() * options_.words);
  }

  Place place_;
  const SampleOptions& options_;
  const Dfa& automaton_;
  NetworkImage<A> image_;
  Buffer<std::byte> bytes_;
  AffineLayer<Reference> affine_;
  Buffer<std::uint32_t> actions_, blocks_;
  Buffer<OrderedOutcome> outcome_;
  Buffer<Number> state_;  ///< at the end of the segment read last
  OrderedWord<D> word_;
  std::vector<Maps<Number>> letters_, room_maps_;
  Buffer<Number> room_states_{place_};
  BlockRoom<Number> room_;
  std::uint64_t items_ = 1, segment_ = UINT64_MAX, done_ = 0;
  State automaton_state_ = 0;
  Word slice_;
  SampleReport report_;
};

}  // namespace

SampleReport sample_words_in_order(Place place, const Network& network, ArithmeticName arithmetic,
                                   const SampleOptions& options) {
  const auto refuse = [&](const std::string& what) {
    throw InputError("--order", fmt::format("{} on a device: {}; take --device cpu", to_string(options.order), what));
  };
  if (options.lengths.size() != 1 || options.words == 0) refuse("one length and at least one word");
  if (options.order.is_sequential()) refuse("this order composes nothing");
  if (network.automaton.letters() == 0) throw InputError("sampling needs an alphabet of at least one letter");
  require_linear(network, "order " + to_string(options.order));
  if (network.layers.size() != 1) refuse("networks of one layer only");
  if (options.order.kind == Order::Kind::kChunked && takes_ut_form(network.layers[0], options.form))
    refuse("chunks of reflections are evaluated on the processor only");
  SampleReport report = with_device_arithmetic(arithmetic, [&](auto format, auto device) {
    return OrderedSampler<decltype(format), decltype(device)>(place, network, options).run(options.lengths[0]);
  });
  report.letters = options.lengths[0] * options.words;
  if (report.failing_at && *report.failing_at <= kPrintableLength)
    report.failing_word =
        RandomWord(network.automaton.letters(), options.seed, *report.failing_word_index).slice(0, *report.failing_at);
  return report;
}

}  // namespace krohn
