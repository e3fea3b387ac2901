#include "krohn/gpu/networks/device_place.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/gpu/automata/long_word.h"
#include "krohn/gpu/automata/word_tables.h"
#include "krohn/gpu/device/device.h"
#include "krohn/gpu/networks/ordered_layer.h"
#include "krohn/simulate/evaluate/lanes/sample.h"

namespace krohn {
namespace {

template <class A, class D>
class OrderedSampler {
 public:
  using Number = typename D::Number;
  using Reference = decltype(reference_of(D{}));

  OrderedSampler(Place place, const Network& network, const SampleOptions& options)
      : place_(place),
        options_(options),
        automaton_(network.automaton),
        table_(network.automaton),
        image_(network, options.form),
        bytes_(place),
        outcome_(place, 1),
        first_unknown_(place, 1) {
    network_ = image_.put(place, bytes_);
    make_layers(network);
    const Order& order = options.order;
    constexpr std::uint64_t kSegmentsAtOnce = std::uint64_t{1} << 20;  // whose totals are kept
    segment_ = order.kind == Order::Kind::kChunked || order.block == 0 ? UINT64_MAX
               : scans_short_segments(order)                           ? order.block * kSegmentsAtOnce
                                                                       : order.block;
    if (automaton_.states() > SliceTables::kMaxEnds) return;
    slices_.emplace(automaton_);
    if (slices_->kind() == SliceTables::Kind::kMaps || slices_->kind() == SliceTables::Kind::kElements)
      reader_ = place == Place::kDevice ? cuda_slice_reader(*slices_) : reference_slice_reader(*slices_, 1);
  }

  SampleReport run(std::uint64_t length, std::uint64_t first) {
    LengthReport& row = report_.lengths.emplace_back();
    row.length = length;
    for (std::uint64_t word = first; word < first + options_.words; ++word) {
      const OrderedOutcome outcome = read_word(word, length);
      add_word(row, automaton_, {outcome.state, outcome.answer, length, outcome.right_letters});
      done_ += length;
      if (outcome.failing_at != ~0ULL) note_failure(report_, outcome.failing_at, word);
    }
    return report_;
  }

 private:
  void make_layers(const Network& network) {
    const std::vector<Number> all = image_.initial_numbers();
    const RoundedNetwork<Reference> rounded(network, options_.form);
    auto at = all.begin();
    for (std::size_t k = 0; k < network.layers.size(); ++k) {
      const Layer& layer = network.layers[k];
      const auto end = at + static_cast<std::ptrdiff_t>(std::size_t{layer.dimension} * layer.columns);
      std::vector<Number> initial(at, end);
      at = end;
      if (options_.order.kind == Order::Kind::kChunked && takes_ut_form(layer, options_.form)) {
        const OrderedLayer<Reference> ordered(layer, rounded.layers()[k], options_.form, options_.order);
        layers_.push_back(std::make_unique<ChunkLayerReader<D>>(place_, layer, ordered, std::move(initial)));
      } else {
        layers_.push_back(std::make_unique<MapLayerReader<D>>(place_, layer, options_, std::move(initial)));
      }
    }
  }

  OrderedOutcome read_word(std::uint64_t index, std::uint64_t length) {
    const RandomWord word(automaton_.letters(), options_.seed, index);
    OrderedOutcome outcome{.state = automaton_.initial(), .answer = network_.initial_answer};
    if (outcome.state != outcome.answer) outcome.failing_at = 0;
    outcome_.write({&outcome, 1});
    for (const auto& layer : layers_) layer->reset();
    labels_before_ = image_.initial_labels();
    known_.assign(layers_.size(), length);
    automaton_state_ = automaton_.initial();
    for (std::uint64_t first = 0, letters = 0; first < length; first += letters) {
      letters = std::min(segment_, length - first);
      LayerWord<D> segment;
      segment.network = network_;
      segment.key = word.key();
      segment.segment = first;
      segment.letters = letters;
      asked_ = 0;
      const AutomatonStates states = [&](std::uint64_t from, std::uint64_t step, std::uint64_t count) {
        return automaton_states(word, segment, from, step, count);
      };
      layers_.size() == 1 ? layers_[0]->read(segment, states, outcome_.data()) : read_layers(segment, states);
      if (asked_ < letters) automaton_states(word, segment, letters, 1, 0);
    }
    outcome_.read({&outcome, 1});
    return outcome;
  }

  /// Before letters from, from + step, … of a segment. The truth is the automaton's: in slices where it has small maps
  /// or a small monoid, otherwise by its table here.
  std::vector<std::uint32_t> automaton_states(const RandomWord& word, const LayerWord<D>& segment, std::uint64_t from,
                                              std::uint64_t step, std::uint64_t count) {
    std::vector<std::uint32_t> before;
    // Whole blocks of the random word several letters a step.
    const std::uint64_t per_block = word.letters_per_block();
    const auto read_to = [&](std::uint64_t end) {
      while (asked_ < end) {
        const std::uint64_t at = segment.segment + asked_, past = at % per_block;
        if (const std::uint64_t blocks = past == 0 ? (end - asked_) / per_block : 0; blocks > 0) {
          automaton_state_ = with_entries(table_.entry_size, table_.entries.data(), [&](const auto* entries) {
            return read_blocks(entries, table_.cut, word.key(), at / per_block, blocks, automaton_state_);
          });
          asked_ += blocks * per_block;
          continue;
        }
        slice_.resize(std::min(per_block - past, end - asked_));
        word.fill(at, slice_);
        for (const Letter letter : slice_) automaton_state_ = automaton_.next(automaton_state_, letter);
        asked_ += slice_.size();
      }
    };
    read_to(from);
    const std::uint64_t at = segment.segment + from;
    std::uint64_t whole = std::min(count, (segment.letters - from) / step);
    if (!reader_ || whole < 2 || at % per_block != 0 || step % per_block != 0) whole = 0;
    if (whole > 0) {
      WordSlices slices{word.key(), at / per_block, whole * step / per_block, step / per_block, whole, 0};
      const std::vector<std::uint32_t> numbers = reader_->read(slices);
      const std::size_t each = slices_->numbers_per_slice();
      for (std::uint64_t i = 0; i < whole; ++i) {
        before.push_back(automaton_state_);
        automaton_state_ = slices_->follow(std::span(numbers).subspan(i * each, each), automaton_state_).value();
      }
      asked_ += whole * step;
    }
    for (std::uint64_t i = whole; i < count; ++i) {
      before.push_back(automaton_state_);
      read_to(std::min(from + (i + 1) * step, segment.letters));
    }
    if (options_.progress)
      options_.progress(done_ + segment.segment + asked_, options_.lengths.back() * options_.words);
    return before;
  }

  /// Layer after layer; then the answers are compared.
  void read_layers(LayerWord<D> segment, const AutomatonStates& states) {
    const std::uint64_t letters = segment.letters;
    Buffer<std::uint32_t> contexts(place_, letters), labels(place_, letters), nodes(place_, letters);
    segment.contexts = contexts.data();
    segment.labels = labels.data();
    segment.nodes = nodes.data();
    launch(place_, WriteLetters{segment.key, segment.segment, letters, network_.letters, contexts.data()},
           (letters + kLettersAnItem - 1) / kLettersAnItem);
    for (std::uint32_t k = 0; k < layers_.size(); ++k) {
      const std::uint64_t known = known_[k] - std::min(known_[k], segment.segment);
      segment.layer = k;
      segment.letters = std::min(letters, known);
      if (segment.letters == 0) break;
      layers_[k]->read(segment, states, outcome_.data());
      if (k + 1 < layers_.size()) raise_contexts(segment, contexts);
      if (segment.letters == letters) labels.read({&labels_before_[k], 1}, letters - 1);
    }
    compare(segment, letters, nodes, states);
  }

  /// Letters of the layer whose context above is unknown end what the layers above read, for good.
  void raise_contexts(const LayerWord<D>& segment, Buffer<std::uint32_t>& contexts) {
    first_unknown_.write(std::vector<unsigned long long>{~0ULL});
    launch(place_,
           MakeContexts<Number>{network_, segment.layer, labels_before_[segment.layer], segment.labels, contexts.data(),
                                first_unknown_.data()},
           segment.letters);
    const unsigned long long unknown = first_unknown_.values()[0];
    std::uint64_t known = known_[segment.layer];
    if (unknown != ~0ULL) known = std::min<std::uint64_t>(known, segment.segment + unknown);
    for (std::size_t above = segment.layer + 1; above < known_.size(); ++above)
      known_[above] = std::min(known_[above], known);
  }

  void compare(const LayerWord<D>& segment, std::uint64_t letters, const Buffer<std::uint32_t>& nodes,
               const AutomatonStates& states) {
    const std::uint64_t items = (letters + kLettersAnItem - 1) / kLettersAnItem;
    CompareNodes<Number> job;
    job.network = network_;
    job.key = segment.key;
    job.segment = segment.segment;
    job.count = letters;
    job.known = known_.back() - std::min(known_.back(), segment.segment);
    job.nodes = nodes.data();
    job.outcome = outcome_.data();
    for (; job.first_item < items; job.first_item += kMaxItems) {
      const std::uint64_t count = std::min(kMaxItems, items - job.first_item);
      const Buffer<std::uint32_t> before(place_, states(job.first_item * kLettersAnItem, kLettersAnItem, count));
      job.automaton_states = before.data();
      launch(place_, job, count);
      outcome_.values();  // before the automaton's states go
    }
  }

  Place place_;
  const SampleOptions& options_;
  const Dfa& automaton_;
  SymbolTable table_;
  std::optional<SliceTables> slices_;
  std::unique_ptr<SliceReader> reader_;
  NetworkImage<A> image_;
  Buffer<std::byte> bytes_;
  DeviceNetwork<Number> network_;
  Buffer<OrderedOutcome> outcome_;
  Buffer<unsigned long long> first_unknown_;
  std::vector<std::unique_ptr<LayerReader<D>>> layers_;
  std::vector<std::uint64_t> known_;          ///< by layer: letters of the word whose contexts are known
  std::vector<std::uint32_t> labels_before_;  ///< by layer: before the segment
  std::uint64_t segment_ = UINT64_MAX, done_ = 0;
  State automaton_state_ = 0;
  std::uint64_t asked_ = 0;  ///< letters of the segment that the automaton has read
  Word slice_;
  SampleReport report_;
};

}  // namespace

SampleReport sample_words_in_order(Place place, const Network& network, ArithmeticName arithmetic,
                                   const SampleOptions& options, std::uint64_t first) {
  const auto refuse = [&](const std::string& what) {
    throw NotOnDevice("--order", fmt::format("{} on a device: {}; take --device cpu", to_string(options.order), what));
  };
  if (options.lengths.size() != 1 || options.words == 0) refuse("one length and at least one word");
  if (options.order.is_sequential()) refuse("this order composes nothing");
  if (network.automaton.letters() == 0) throw InputError("sampling needs an alphabet of at least one letter");
  if (network.snap_every > 0) refuse("networks that snap");
  SampleReport report = with_device_arithmetic(arithmetic, [&](auto format, auto device) {
    return OrderedSampler<decltype(format), decltype(device)>(place, network, options).run(options.lengths[0], first);
  });
  report.letters = options.lengths[0] * options.words;
  keep_failing_word(report, network.automaton.letters(), options.seed);
  return report;
}

}  // namespace krohn
