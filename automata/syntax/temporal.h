// automata/syntax/temporal.h — linear temporal logic over finite words: formulas as automata.
//
//   true false   a name: the proposition holds at this position   "any text": a proposition of that name
//   ! & | -> <->                                                   as usual, from the strongest to the weakest
//   X f   there is a next position, and f there         N f   f at the next position, if there is one
//   F f   f now or later        G f   f now and always       f U g   g now or later, and f until then
//   f R g   g up to and with the first f, or always      f W g   f U g, or G f      f M g   g U (f & g)
//   Y f   there is a position before, and f there       Z f   f at the position before, if there is one
//   O f   f now or before       H f   f now and always before     f S g   g now or before, and f since then
//
// X, Y and their like bind stronger than U, R, W, M, S, which group to the right and bind stronger than &. Past
// operators stand over formulas without X, N, F, G, U, R, W, M. Of the empty word, which has no position, no
// proposition holds, nor X, F, U, M, Y, O, S; N, G, R, W, Z, H do: so the words of !f are those that f does not have
// (De Giacomo & Vardi 2013, but for the empty word).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
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

/// `--alphabet valuations`: any propositions hold at a position.
inline constexpr std::string_view kValuationsAlphabet = "valuations";

/// The letters of a word.
enum class Propositions : std::uint8_t {
  kLetters,    ///< exactly one proposition holds at each position: it is the letter
  kValuations  ///< any propositions hold: letters are the classes of valuations that the automaton tells apart
};

struct TemporalOptions {
  Propositions propositions = Propositions::kLetters;
  /// For kLetters; nothing: the propositions that the formula names, in their order.
  std::optional<Alphabet> alphabet;
  std::uint64_t max_states = 10'000'000;
};

/// The minimal acceptor of the words at whose first position the formula holds. States are Boolean functions of what is
/// asked of the rest of the word: at most doubly exponential in the formula. Classes of valuations are named as in
/// automata/dfa/decision_diagrams.h, in the order of their least valuations. Polls TimeLimit. Throws InputError with
/// the column, LimitError.
Dfa ltlf_automaton(std::string_view formula, const TemporalOptions& options = {});

/// The same for a formula without future operators, at the *last* position: states are what it remembers, at most
/// exponential in the formula.
Dfa past_ltl_automaton(std::string_view formula, const TemporalOptions& options = {});

/// The minimal automaton of a formula over valuations; without its letters, if they are more than `max_letters`.
std::variant<Dfa, ValuedGraph> automaton_over_valuations(std::string_view formula, bool is_past,
                                                         std::size_t max_letters, const TemporalOptions& options);

}  // namespace krohn
