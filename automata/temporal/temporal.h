// automata/temporal/temporal.h — linear temporal logic over finite words: formulas as automata.
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
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/temporal/valued_automaton.h"

namespace krohn {

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
