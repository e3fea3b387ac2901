#include "krohn/simulate/prove/pairs/network_machine.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "krohn/groups/base/float_environment.h"
#include "krohn/simulate/evaluate/rounded_network.h"

namespace krohn {
namespace {

/// Its last step can be asked for more.
class NetworkMachine : public PairMachine {
 public:
  /// After a step: whether all numbers of the state are finite.
  virtual bool is_finite() const = 0;
  /// After a step: how much farther the second nearest codeword is than the nearest, squared, least over the layers
  /// that have one code book. 0 when more than `most` entries of codewords would have to be looked at.
  virtual double margin(std::size_t most) = 0;
};

template <class Arithmetic>
class MachineIn final : public NetworkMachine {
 public:
  using Number = typename Arithmetic::Number;
  using Bits = typename Arithmetic::Bits;

  MachineIn(const Network& network, Form form)
      : network_(network, form),
        scratch_(network_.make_scratch()),
        from_(network_.size()),
        to_(network_.size()),
        pre_(network_.layers().size()),
        post_(network_.layers().size()),
        has_phase_(network_.snap_every() > 0),
        stored_labels_(labels_to_store()) {}

  std::size_t words() const override { return (has_phase_ ? 1 : 0) + stored_labels_.size() + number_words(); }
  Letter letters() const override { return network_.letters(); }

  State start(std::uint32_t* memory) override {
    network_.start(from_.data(), pre_.data());
    pack(0, from_.data(), pre_.data(), memory);
    return network_.read(pre_.data());
  }

  void load(const std::uint32_t* memory) override {
    if (has_phase_) phase_ = *memory++;
    std::memcpy(static_cast<void*>(from_.data()), memory + stored_labels_.size(), network_.size() * sizeof(Number));
    std::size_t stored = 0;
    const Number* numbers = from_.data();
    for (std::size_t k = 0; k + 1 < pre_.size(); ++k) {  // the last layer's label is not needed
      const bool is_stored = stored < stored_labels_.size() && stored_labels_[stored] == k;
      pre_[k] = is_stored ? memory[stored++] : network_.label_of(k, 0, numbers, scratch_);
      numbers += network_.layers()[k].size();
    }
  }

  State step(Letter letter, bool, std::uint32_t* memory) override {
    const State answer = network_.step(from_.data(), pre_.data(), letter, to_.data(), post_.data(), scratch_);
    const std::uint32_t phase = next_phase();
    if (has_phase_ && phase == 0) network_.snap(to_.data(), post_.data(), scratch_);
    pack(phase, to_.data(), post_.data(), memory);
    return answer;
  }

  bool is_finite() const override {
    return std::ranges::all_of(to_, [](Number number) { return std::isfinite(to_double(number)); });
  }

  double margin(std::size_t most) override {
    double least = std::numeric_limits<double>::infinity();
    const Number* numbers = to_.data();
    for (const auto& layer : network_.layers()) {
      const NearestCodeword& book = layer.books()[0];
      if (layer.books().size() == 1) {
        if (book.size() * layer.size() > most) return 0;
        least = std::min(least, margin(book, numbers, layer.size()));
      }
      numbers += layer.size();
    }
    return least;
  }

 private:
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

  std::size_t number_words() const {
    return (network_.size() * sizeof(Bits) + sizeof(std::uint32_t) - 1) / sizeof(std::uint32_t);
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
  std::uint32_t next_phase() const {
    return has_phase_ && phase_ + std::uint64_t{1} == network_.snap_every() ? 0 : phase_ + 1;
  }

  void pack(std::uint32_t phase, const Number* numbers, const Label* labels, std::uint32_t* memory) const {
    memory[words() - 1] = 0;  // the end of the last word may hold no number
    if (has_phase_) *memory++ = phase;
    for (const std::size_t k : stored_labels_) *memory++ = labels[k];
    auto* bytes = reinterpret_cast<unsigned char*>(memory);
    for (std::size_t i = 0; i < network_.size(); ++i) {
      const Bits bits = state_bits<Arithmetic>(numbers[i]);
      std::memcpy(bytes + i * sizeof(Bits), &bits, sizeof(Bits));
    }
  }

  RoundedNetwork<Arithmetic> network_;
  typename RoundedNetwork<Arithmetic>::Scratch scratch_;
  std::vector<Number> from_, to_;
  std::vector<Label> pre_, post_;
  bool has_phase_;
  std::uint32_t phase_ = 0;
  std::vector<std::size_t> stored_labels_;
};

std::unique_ptr<NetworkMachine> machine_in(ArithmeticName arithmetic, const Network& network, Form form) {
  return with_arithmetic(arithmetic, [&](auto type) -> std::unique_ptr<NetworkMachine> {
    return std::make_unique<MachineIn<decltype(type)>>(network, form);
  });
}

}  // namespace

std::unique_ptr<PairMachine> make_pair_machine(const Network& network, ArithmeticName arithmetic, Form form) {
  return machine_in(arithmetic, network, form);
}

std::optional<Dfa> network_automaton(const Network& network, ArithmeticName arithmetic, Form form,
                                     const NetworkAutomatonOptions& options) {
  const FloatEnvironment environment;
  PairLimits limits;
  limits.max_pairs = options.max_states;
  limits.max_steps = options.max_transitions;
  limits.progress = options.progress;
  TableOfSteps found;
  if (reach_pairs(*make_pair_machine(network, arithmetic, form), found, limits).kind != PairSearchEnd::Kind::kClosed)
    return std::nullopt;
  const State none = network.automaton.states();
  for (State& answer : found.answers)
    if (answer == kNoState) answer = none;
  return Dfa::moore(network.automaton.alphabet(), std::move(found.table), 0, std::move(found.answers),
                    numerals(std::uint64_t{none} + 1));
}

namespace {

/// Entries of all codewords that are compared for a margin.
constexpr std::size_t kComparedEntries = 4096;

class NetworkReader final : public LetterReader {
 public:
  NetworkReader(std::unique_ptr<NetworkMachine> machine, std::vector<Output> outputs)
      : machine_(std::move(machine)), outputs_(std::move(outputs)), start_(machine_->words()) {
    at_start_ = answer(machine_->start(start_.data()));
  }

  Letter letters() const override { return machine_->letters(); }
  Memory start() const override { return start_; }
  Answer answer_at_start() const override { return at_start_; }
  Answer step(Letter letter, Memory& memory, bool asked) const override {
    machine_->load(memory.data());
    const Answer given = answer(machine_->step(letter, asked, memory.data()));
    if (!asked || given.output == kNoAnswer) return given;
    return {given.output, machine_->margin(kComparedEntries)};
  }

 private:
  Answer answer(State state) const {
    if (state == kNoState && !machine_->is_finite()) return {.missing = Missing::kState};
    if (state == kNoState) return {};
    return {outputs_.empty() ? state : outputs_[state], 0};
  }

  const std::unique_ptr<NetworkMachine> machine_;  // its buffers; a step changes nothing that a step depends on
  std::vector<Output> outputs_;
  Memory start_;
  Answer at_start_;
};

}  // namespace

std::unique_ptr<LetterReader> network_reader(const Network& network, ArithmeticName arithmetic, Form form,
                                             std::vector<Output> outputs) {
  return std::make_unique<NetworkReader>(machine_in(arithmetic, network, form), std::move(outputs));
}

TrackedAutomaton every_state(const Dfa& automaton) {
  std::vector<Output> wanted(automaton.states());
  std::iota(wanted.begin(), wanted.end(), Output{0});
  return {automaton, std::move(wanted)};
}

}  // namespace krohn
