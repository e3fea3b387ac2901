// automata/regex/state_elimination.h — an expression for an automaton, state by state (Brzozowski, McCluskey 1963).
#pragma once

#include <cstdint>
#include <optional>
#include <random>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/regex/regex_terms.h"

namespace krohn {

/// The automaton with expressions for letters, one more state to start at and one to end at.
class GeneralisedAutomaton {
 public:
  /// Only states that are reachable and coaccessible stay. The alphabet of `terms` is that of the acceptor.
  GeneralisedAutomaton(const Dfa& dfa, RegexTerms& terms);

  /// States that can be eliminated.
  std::size_t states() const { return states_; }

  /// Takes the states out in the order given, each once; nothing when a term passes `max_length` bytes.
  std::optional<RegexTerms::Id> eliminate(const std::vector<std::size_t>& order, std::uint64_t max_length) const;

  /// Always takes out the state whose going lengthens the arcs least (Delgado, Morais, CIAA 2004), its weight blurred
  /// by a factor from 1 to `blur`.
  std::optional<RegexTerms::Id> eliminate_lightest(std::mt19937& random, double blur, std::uint64_t max_length) const;

 private:
  using Arcs = std::vector<std::vector<RegexTerms::Id>>;
  /// False when an arc passes `max_length`.
  bool take_out(Arcs& arcs, std::vector<bool>& gone, std::size_t state, std::uint64_t max_length) const;
  double weight(const Arcs& arcs, const std::vector<bool>& gone, std::size_t state) const;

  RegexTerms& terms_;
  std::size_t states_ = 0;
  Arcs arcs_;  ///< start is number states_, end states_ + 1
};

}  // namespace krohn
