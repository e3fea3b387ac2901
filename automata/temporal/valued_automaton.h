// automata/temporal/valued_automaton.h — deterministic automata whose letters are valuations, without listing these.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "krohn/automata/dfa/decision_diagrams.h"
#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// A complete acceptor with the initial state 0. The row of a state is a decision diagram over the propositions; its
/// leaf at a valuation is the next state. Diagrams are those of the DecisionDiagrams given to every function.
struct ValuedAutomaton {
  std::vector<DecisionDiagrams::Ref> rows;
  std::vector<bool> accepting;

  State states() const { return static_cast<State>(rows.size()); }
};

/// The words of both, or of either. Throws LimitError past `max_states`.
ValuedAutomaton combined(DecisionDiagrams& diagrams, const ValuedAutomaton& a, const ValuedAutomaton& b, bool is_union,
                         std::uint64_t max_states);
ValuedAutomaton complement(ValuedAutomaton automaton);

/// The minimal automaton of a reachable one, by rounds of signatures (Moore 1956): two diagrams with the classes for
/// leaves are compared as references. O(rounds · nodes).
ValuedAutomaton minimised(DecisionDiagrams& diagrams, const ValuedAutomaton& automaton);

/// A valued automaton without its letters, which may be too many.
struct ValuedGraph {
  /// Letter i leads to the i-th of the states to which some valuation leads, and letters beyond to the last.
  Dfa graph;
  std::shared_ptr<const DecisionDiagrams> diagrams;
  ValuedAutomaton automaton;
  std::vector<std::string> propositions;  ///< by variable

  /// A valuation that leads from one state to another: "{a,b}". Nothing if none does.
  std::optional<std::string> valuation(State from, State to) const;
};

/// Throws LimitError past 2^26 states times successors.
ValuedGraph graph_of(std::shared_ptr<const DecisionDiagrams> diagrams, ValuedAutomaton automaton,
                     std::vector<std::string> propositions);

/// The same with a letter for each class of valuations that some state tells apart, in the order of their least
/// valuations by the names of the propositions, named as by ValuationClasses; `propositions` are those of the
/// variables. Canonical where the automaton is minimal. Nothing if they are more than `most` letters. Throws LimitError
/// past 2^26 entries of its table and of those on the way.
std::optional<Dfa> with_letters(const std::shared_ptr<DecisionDiagrams>& diagrams, const ValuedAutomaton& automaton,
                                const std::vector<std::string>& propositions, std::size_t most);

}  // namespace krohn
