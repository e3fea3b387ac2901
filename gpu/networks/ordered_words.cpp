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
        outcomes_(place),
        labels_before_(place) {
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
    const std::uint64_t at_once = words_at_once(std::min(length, segment_));
    const std::uint64_t end = first + options_.words;
    for (words_.first_word = first; words_.first_word < end; words_.first_word += words_.words) {
      words_.words = std::min(at_once, end - words_.first_word);
      read_words(length);
      std::uint64_t word = words_.first_word;
      for (const OrderedOutcome& outcome : outcomes_.values()) {
        add_word(row, automaton_, {outcome.state, outcome.answer, length, outcome.right_letters});
        if (outcome.failing_at != ~0ULL) note_failure(report_, outcome.failing_at, word);
        ++word;
      }
      done_ += words_.words * length;
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
      const std::vector<Number> initial(at, end);
      at = end;
      if (options_.order.kind == Order::Kind::kChunked && takes_ut_form(layer, options_.form)) {
        const OrderedLayer<Reference> ordered(layer, rounded.layers()[k], options_.form, options_.order);
        layers_.push_back(std::make_unique<ChunkLayerReader<D>>(place_, layer, ordered, initial));
      } else {
        layers_.push_back(std::make_unique<MapLayerReader<D>>(place_, layer, options_, initial));
      }
    }
  }

  /// Words that are read side by side, of a segment of so many letters. One keeps a device busy where it is long: its
  /// automaton is then read in slices, and otherwise a word a thread, of which there should be many.
  std::uint64_t words_at_once(std::uint64_t letters) const {
    constexpr std::uint64_t kLongWord = std::uint64_t{1} << 19, kLettersAtOnce = 16 * kLongWord;
    if (letters > kLongWord) return 1;
    std::uint64_t words = kLettersAtOnce / std::max<std::uint64_t>(letters, 1);
    for (const auto& layer : layers_) words = std::min(words, layer->words_at_once(letters));
    return std::max<std::uint64_t>(words, 1);
  }

  void read_words(std::uint64_t length) {
    OrderedOutcome before{.state = automaton_.initial(), .answer = network_.initial_answer};
    if (before.state != before.answer) before.failing_at = 0;
    outcomes_ = Buffer<OrderedOutcome>(place_, std::vector(words_.words, before));
    for (const auto& layer : layers_) layer->reset(words_.words);
    labels_before_ = Buffer<std::uint32_t>(place_, words_.words * layers_.size());
    launch(place_,
           CopyRows<std::uint32_t>{network_.initial_labels, 0, labels_before_.data(), layers_.size(), layers_.size()},
           labels_before_.size());
    automaton_state_ = automaton_.initial();
    for (words_.segment = 0; words_.segment < length; words_.segment += words_.letters) {
      words_.letters = std::min(segment_, length - words_.segment);
      LayerWord<D> segment{words_, network_};
      asked_ = 0;
      const AutomatonStates states = [&](std::uint64_t from, std::uint64_t step, std::uint64_t count) {
        Buffer<std::uint32_t> asked = words_.words == 1
                                          ? Buffer<std::uint32_t>(place_, states_of_word(from, step, count))
                                          : states_of_words(from, step, count);
        if (options_.progress)
          options_.progress(done_ + words_.words * (words_.segment + asked_), options_.lengths.back() * options_.words);
        return asked;
      };
      layers_.size() == 1 ? layers_[0]->read(segment, states, outcomes_.data()) : read_layers(segment, states);
    }
  }

  /// Before letters from, from + step, … of a segment, by a word a thread.
  Buffer<std::uint32_t> states_of_words(std::uint64_t from, std::uint64_t step, std::uint64_t count) {
    Buffer<std::uint32_t> before(place_, words_.words * count);
    launch(place_,
           WriteStates{words_, network_.next, network_.letters, from, step, count, outcomes_.data(), before.data()},
           words_.words);
    asked_ = std::min(from + step * count, words_.letters);
    return before;
  }

  /// The same of a single word: in slices where the automaton has small maps or a small monoid, otherwise by its table
  /// here.
  std::vector<std::uint32_t> states_of_word(std::uint64_t from, std::uint64_t step, std::uint64_t count) {
    const RandomWord word(automaton_.letters(), options_.seed, words_.first_word);
    std::vector<std::uint32_t> before;
    // Whole blocks of the random word several letters a step.
    const std::uint64_t per_block = word.letters_per_block();
    const auto read_to = [&](std::uint64_t end) {
      while (asked_ < end) {
        const std::uint64_t at = words_.segment + asked_, past = at % per_block;
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
    const std::uint64_t at = words_.segment + from;
    std::uint64_t whole = std::min(count, (words_.letters - from) / step);
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
      read_to(std::min(from + (i + 1) * step, words_.letters));
    }
    return before;
  }

  /// Layer after layer; then the answers are compared.
  void read_layers(LayerWord<D> segment, const AutomatonStates& states) {
    const std::uint64_t letters = words_.words * words_.letters, parts = (words_.letters - 1) / kLettersAnItem + 1;
    Buffer<std::uint32_t> contexts(place_, letters), labels(place_, letters), nodes(place_, letters);
    segment.contexts = contexts.data();
    segment.labels = labels.data();
    segment.nodes = nodes.data();
    launch(place_, WriteLetters{words_, {0, parts}, network_.letters, contexts.data()}, words_.words * parts);
    for (std::uint32_t k = 0; k < layers_.size(); ++k) {
      segment.layer = k;
      layers_[k]->read(segment, states, outcomes_.data());
      if (k + 1 == layers_.size()) break;
      launch(place_,
             MakeContexts<Number>{network_, words_, k, labels_before_.data(), labels.data(), contexts.data(),
                                  outcomes_.data()},
             letters);
      launch(place_,
             CopyRows<std::uint32_t>{labels.data() + words_.letters - 1, words_.letters, labels_before_.data() + k,
                                     layers_.size()},
             words_.words);
    }
    for (std::uint64_t first = 0; first < parts; first += kMaxItems) {
      const std::uint64_t each = std::min(kMaxItems, parts - first);
      const Buffer<std::uint32_t> before = states(first * kLettersAnItem, kLettersAnItem, each);
      launch(place_,
             CompareNodes<Number>{network_, words_, {first, each}, nodes.data(), before.data(), outcomes_.data()},
             words_.words * each);
      outcomes_.values();  // before the automaton's states go
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
  WordSegments words_{.seed = options_.seed};  ///< those in work
  Buffer<OrderedOutcome> outcomes_;
  std::vector<std::unique_ptr<LayerReader<D>>> layers_;
  Buffer<std::uint32_t> labels_before_;            ///< by word and layer: before the segment
  std::uint64_t segment_ = UINT64_MAX, done_ = 0;  ///< letters
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
