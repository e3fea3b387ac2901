#include "krohn/simulate/prove/pairs/network_machine.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "krohn/groups/base/float_environment.h"
#include "krohn/simulate/arithmetic/rounded_operations.h"
#include "krohn/simulate/evaluate/rounded_network.h"

namespace krohn {
namespace {

/// Entries of all codewords that are compared for a margin.
constexpr std::size_t kComparedEntries = 4096;

template <class Arithmetic>
class ReaderIn final : public NetworkReader {
 public:
  using Number = typename Arithmetic::Number;
  using Bits = typename Arithmetic::Bits;

  ReaderIn(const Network& network, Form form, NetworkReading reading, std::vector<Output> outputs, const Arithmetic& in)
      : network_(network, form, in),
        outputs_(std::move(outputs)),
        has_margins_(reading == NetworkReading::kMargins),
        has_phase_(network_.snap_every() > 0),
        scratch_(network_.make_scratch()),
        from_(network_.size()),
        to_(network_.size()),
        pre_(network_.layers().size()),
        post_(network_.layers().size()) {
    if (reading == NetworkReading::kLabels) {
      stored_labels_.resize(pre_.size());
      std::iota(stored_labels_.begin(), stored_labels_.end(), 0);
    } else {
      stored_labels_ = labels_to_store();
      decodes_ = stored_labels_.size() + 1 < pre_.size();
    }
    start_.resize((has_phase_ ? 1 : 0) + stored_labels_.size() +
                  (network_.size() * sizeof(Bits) + sizeof(std::uint32_t) - 1) / sizeof(std::uint32_t));
    network_.start(to_.data(), post_.data());
    pack(0, start_);
  }

  Letter letters() const override { return network_.letters(); }
  Memory start() const override { return start_; }
  Answer answer_at_start() const override {
    network_.start(to_.data(), post_.data());
    return answer(network_.read(post_.data()));
  }

  Answer step(Letter letter, Memory& memory, bool asked) const override {
    load(memory);
    const Answer given = answer(network_.step(from_.data(), pre_.data(), letter, to_.data(), post_.data(), scratch_));
    const std::uint32_t phase = next_phase(memory);
    if (has_phase_ && phase == 0) network_.snap(to_.data(), post_.data(), scratch_);
    pack(phase, memory);
    if (!has_margins_ || !asked || given.output == kNoAnswer) return given;
    return {given.output, margin()};
  }

  void describe(const Memory& memory, ReachedPair& pair) const override {
    load(memory);
    pair.labels.assign(pre_.begin(), pre_.end());
    pair.phase = has_phase_ ? memory[0] : 0;
    auto number = from_.begin();
    for (const auto& layer : network_.layers()) {
      auto& list = pair.numbers.emplace_back();
      for (std::size_t i = 0; i < layer.size(); ++i) list.push_back(to_double(*number++));
    }
  }

  void move(std::size_t k, Action action, const std::vector<double>& from, std::vector<double>& to) const override {
    std::ranges::transform(from, from_.begin(), from_double<Number>);
    network_.layers()[k].move(action, from_.data(), to_.data());
    std::transform(to_.begin(), to_.begin() + static_cast<std::ptrdiff_t>(to.size()), to.begin(), to_double<Number>);
    if (decodes_) loaded_.clear();
  }

  std::span<const NearestCodeword> books(std::size_t k) const override { return network_.layers()[k].books(); }

 private:
  /// Into `from_` and `pre_`.
  void load(const Memory& memory) const {
    if (decodes_ && memory == loaded_) return;  // the same for every letter
    if (decodes_) loaded_ = memory;
    const std::uint32_t* words = memory.data() + (has_phase_ ? 1 : 0);
    std::memcpy(static_cast<void*>(from_.data()), words + stored_labels_.size(), network_.size() * sizeof(Number));
    std::size_t stored = 0;
    const Number* numbers = from_.data();
    for (std::size_t k = 0; k < pre_.size(); ++k) {
      const bool is_stored = stored < stored_labels_.size() && stored_labels_[stored] == k;
      if (is_stored)
        pre_[k] = words[stored++];
      else if (k + 1 < pre_.size())  // the last layer's label is not needed
        pre_[k] = network_.label_of(k, 0, numbers, scratch_);
      numbers += network_.layers()[k].size();
    }
  }

  Answer answer(State state) const {
    if (state != kNoState) return {outputs_.empty() ? state : outputs_[state], 0};
    const bool is_finite = std::ranges::all_of(to_, [](Number number) { return std::isfinite(to_double(number)); });
    return {.missing = is_finite ? Missing::kTie : Missing::kState};
  }

  /// The margin of the last step.
  double margin() const {
    double least = std::numeric_limits<double>::infinity();
    const Number* numbers = to_.data();
    for (const auto& layer : network_.layers()) {
      const NearestCodeword& book = layer.books()[0];
      if (layer.books().size() == 1) {
        if (book.size() * layer.size() > kComparedEntries) return 0;
        least = std::min(least, margin(book, numbers, layer.size()));
      }
      numbers += layer.size();
    }
    return least;
  }

  static double margin(const NearestCodeword& book, const Number* numbers, std::size_t size) {
    double nearest = std::numeric_limits<double>::infinity(), second = nearest;
    for (std::uint32_t codeword = 0; codeword < book.size(); ++codeword) {
      double distance = 0;
      for (std::size_t i = 0; i < size; ++i) {
        const double d = to_double(numbers[i]) - book.entry(codeword, i);
        distance += d * d;
      }
      second = std::min(second, std::max(nearest, distance));
      nearest = std::min(nearest, distance);
    }
    return second - nearest;
  }

  std::vector<std::size_t> labels_to_store() {
    std::vector<std::size_t> layers;
    network_.start(from_.data(), pre_.data());
    const Number* numbers = from_.data();
    for (std::size_t k = 0; k + 1 < pre_.size(); ++k) {
      // In three layers and more, a layer above one that did not decode stays at its numbers without a label.
      if (network_.layers()[k].books().size() > 1 || has_phase_ || pre_.size() > 2 ||
          network_.label_of(k, 0, numbers, scratch_) != pre_[k])
        layers.push_back(k);
      numbers += network_.layers()[k].size();
    }
    return layers;
  }

  /// Letters since the last snap, one letter later. No search is deeper than 2^32 letters.
  std::uint32_t next_phase(const Memory& memory) const {
    return !has_phase_ || memory[0] + std::uint64_t{1} == network_.snap_every() ? 0 : memory[0] + 1;
  }

  /// `to_` and `post_`.
  void pack(std::uint32_t phase, Memory& memory) const {
    memory.back() = 0;  // the end of the last word may hold no number
    std::uint32_t* words = memory.data();
    if (has_phase_) *words++ = phase;
    for (const std::size_t k : stored_labels_) *words++ = post_[k];
    auto* bytes = reinterpret_cast<unsigned char*>(words);
    for (std::size_t i = 0; i < network_.size(); ++i) {
      const Bits bits = state_bits<Arithmetic>(to_[i]);
      std::memcpy(bytes + i * sizeof(Bits), &bits, sizeof(Bits));
    }
  }

  const RoundedNetwork<Arithmetic> network_;
  const std::vector<Output> outputs_;
  const bool has_margins_, has_phase_;
  bool decodes_ = false;  ///< a loaded memory, for labels that it does not store
  std::vector<std::size_t> stored_labels_;
  Memory start_;
  mutable Memory loaded_;
  // Buffers; a step changes nothing that a step depends on.
  mutable typename RoundedNetwork<Arithmetic>::Scratch scratch_;
  mutable std::vector<Number> from_, to_;
  mutable std::vector<Label> pre_, post_;
};

}  // namespace

std::unique_ptr<NetworkReader> network_reader(const Network& network, ArithmeticName arithmetic, Form form,
                                              NetworkReading reading, std::vector<Output> outputs) {
  const auto reader = [&]<class Arithmetic>(const Arithmetic& in) -> std::unique_ptr<NetworkReader> {
    return std::make_unique<ReaderIn<Arithmetic>>(network, form, reading, std::move(outputs), in);
  };
  return arithmetic.is_integer() ? reader(RoundedOperations(arithmetic)) : with_arithmetic(arithmetic, reader);
}

LetterReader::Memory LabelReader::start() const {
  Memory tuple;
  for (const LabelLayer& layer : machine_.layers) tuple.push_back(layer.initial);
  return tuple;
}

LetterReader::Answer LabelReader::step(Letter letter, Memory& memory, bool) const {
  from_ = memory;
  if (!step_tuple(machine_, letter, from_, memory)) return {};
  return {decoded(machine_, memory).value_or(kNoAnswer)};
}

std::optional<Dfa> network_automaton(const Network& network, ArithmeticName arithmetic, Form form,
                                     const NetworkAutomatonOptions& options) {
  const FloatEnvironment environment;
  PairLimits limits;
  limits.max_pairs = options.max_states;
  limits.max_steps = options.max_transitions;
  limits.progress = options.progress;
  TableOfSteps found;
  if (reach_pairs(*network_reader(network, arithmetic, form, NetworkReading::kPairs), found, limits).kind !=
      PairSearchEnd::Kind::kClosed)
    return std::nullopt;
  const State none = network.automaton.states();
  for (State& answer : found.answers)
    if (answer == kNoState) answer = none;
  return Dfa::moore(network.automaton.alphabet(), std::move(found.table), 0, std::move(found.answers),
                    numerals(std::uint64_t{none} + 1));
}

TrackedAutomaton every_state(const Dfa& automaton) {
  std::vector<Output> wanted(automaton.states());
  std::iota(wanted.begin(), wanted.end(), Output{0});
  return {automaton, std::move(wanted)};
}

}  // namespace krohn
