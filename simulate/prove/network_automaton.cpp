#include "krohn/simulate/prove/network_automaton.h"

#include <cstring>
#include <utility>

#include "krohn/automata/dfa/tabulate.h"
#include "krohn/groups/float_environment.h"
#include "krohn/groups/record_set.h"
#include "krohn/simulate/evaluate/rounded_network.h"

namespace krohn {
namespace {

/// Breadth-first search over (labels, numbers). A record holds the labels and then the bit patterns.
template <class Arithmetic>
class Search {
 public:
  using Number = typename Arithmetic::Number;
  using Bits = typename Arithmetic::Bits;

  Search(const Network& network, Form form)
      : automaton_(network.automaton),
        network_(network, form),
        scratch_(network_.make_scratch()),
        from_(network_.size()),
        to_(network_.size()),
        pre_(network_.layers().size()),
        post_(network_.layers().size()),
        record_(pre_.size() + (network_.size() * sizeof(Bits) + sizeof(std::uint32_t) - 1) / sizeof(std::uint32_t) + 1),
        states_(record_.size()) {}

  std::optional<Dfa> run(const ReachableMachineOptions& options) {
    network_.start(from_.data(), pre_.data());
    add(network_.read(pre_.data()), from_, pre_);
    for (RecordSet::Index state = 0; state < states_.size(); ++state) {
      load(states_[state]);
      if (table_.size() + network_.letters() > options.max_transitions) return std::nullopt;
      for (Letter letter = 0; letter < network_.letters(); ++letter) {
        const State answer = network_.step(from_.data(), pre_.data(), letter, to_.data(), post_.data(), scratch_);
        table_.push_back(add(answer, to_, post_));
      }
      if (states_.size() > options.max_states) return std::nullopt;
      if (options.progress) options.progress(table_.size());
    }
    return Dfa::moore(automaton_.alphabet(), std::move(table_), 0, std::move(outputs_),
                      numerals(std::uint64_t{automaton_.states()} + 1));
  }

 private:
  /// The number of the state, new or known.
  State add(State answer, const std::vector<Number>& numbers, const std::vector<Label>& labels) {
    std::fill(record_.begin(), record_.end(), 0);  // the last word may hold no number
    std::copy(labels.begin(), labels.end(), record_.begin());
    auto* bytes = reinterpret_cast<unsigned char*>(record_.data() + labels.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const Bits bits = state_bits<Arithmetic>(numbers[i]);
      std::memcpy(bytes + i * sizeof(Bits), &bits, sizeof(Bits));
    }
    const RecordSet::Insertion insertion = states_.insert(record_);
    if (insertion.fresh) outputs_.push_back(answer == kNoState ? automaton_.states() : answer);
    return insertion.index;
  }

  void load(RecordSet::Record record) {
    std::copy_n(record.begin(), pre_.size(), pre_.begin());
    std::memcpy(static_cast<void*>(from_.data()), record.data() + pre_.size(), from_.size() * sizeof(Number));
  }

  const Dfa& automaton_;
  RoundedNetwork<Arithmetic> network_;
  typename RoundedNetwork<Arithmetic>::Scratch scratch_;
  std::vector<Number> from_, to_;
  std::vector<Label> pre_, post_;
  std::vector<std::uint32_t> record_;
  RecordSet states_;
  std::vector<State> table_;
  std::vector<Output> outputs_;
};

}  // namespace

std::optional<Dfa> reachable_machine(const Network& network, ArithmeticName arithmetic, Form form,
                                     const ReachableMachineOptions& options) {
  const FloatEnvironment environment;
  return with_arithmetic(arithmetic, [&](auto type) { return Search<decltype(type)>(network, form).run(options); });
}

}  // namespace krohn
