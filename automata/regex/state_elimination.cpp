#include "krohn/automata/regex/state_elimination.h"

#include <limits>

#include "krohn/automata/operations/emptiness.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/time_limit.h"

namespace krohn {

using Id = RegexTerms::Id;

GeneralisedAutomaton::GeneralisedAutomaton(const Dfa& dfa, RegexTerms& terms) : terms_(terms) {
  constexpr std::size_t kUseless = std::numeric_limits<std::size_t>::max();
  const Dfa reachable = canonical(dfa);
  const std::vector<bool> useful = coaccessible_states(reachable);
  std::vector<std::size_t> number(reachable.states(), kUseless);
  for (State state = 0; state < reachable.states(); ++state)
    if (useful[state]) number[state] = states_++;
  arcs_.assign(states_ + 2, std::vector<Id>(states_ + 2, RegexTerms::kNothing));
  if (states_ == 0) return;
  const std::size_t start = states_, end = states_ + 1;
  arcs_[start][number[reachable.initial()]] = RegexTerms::kEmptyWord;
  for (State state = 0; state < reachable.states(); ++state) {
    if (!useful[state]) continue;
    if (reachable.accepts(state)) arcs_[number[state]][end] = RegexTerms::kEmptyWord;
    std::vector<std::vector<Letter>> letters(states_);
    for (Letter letter = 0; letter < reachable.letters(); ++letter)
      if (const std::size_t target = number[reachable.next(state, letter)]; target != kUseless)
        letters[target].push_back(letter);
    for (std::size_t target = 0; target < states_; ++target)
      arcs_[number[state]][target] = terms_.letters(std::move(letters[target]));
  }
}

bool GeneralisedAutomaton::take_out(Arcs& arcs, std::vector<bool>& gone, std::size_t state,
                                    std::uint64_t max_length) const {
  TimeLimit::check();
  gone[state] = true;
  const Id loop = terms_.star(arcs[state][state]);
  for (std::size_t source = 0; source < arcs.size(); ++source) {
    if (gone[source] || arcs[source][state] == RegexTerms::kNothing) continue;
    for (std::size_t target = 0; target < arcs.size(); ++target) {
      if (gone[target] || arcs[state][target] == RegexTerms::kNothing) continue;
      const Id detour = terms_.concatenation(std::vector<Id>{arcs[source][state], loop, arcs[state][target]});
      arcs[source][target] = terms_.union_of(arcs[source][target], detour);
      if (terms_.length(arcs[source][target]) > max_length) return false;
    }
  }
  return true;
}

double GeneralisedAutomaton::weight(const Arcs& arcs, const std::vector<bool>& gone, std::size_t state) const {
  double in = 0, out = 0, length_in = 0, length_out = 0;
  for (std::size_t other = 0; other < arcs.size(); ++other) {
    if (gone[other] || other == state) continue;
    const Id to = arcs[other][state], from = arcs[state][other];
    if (to != RegexTerms::kNothing) ++in, length_in += static_cast<double>(terms_.length(to));
    if (from != RegexTerms::kNothing) ++out, length_out += static_cast<double>(terms_.length(from));
  }
  const Id loop = arcs[state][state];
  const double length_loop = loop == RegexTerms::kNothing ? 0 : static_cast<double>(terms_.length(loop));
  return length_in * (out - 1) + length_out * (in - 1) + length_loop * (in * out - 1);
}

std::optional<Id> GeneralisedAutomaton::eliminate(const std::vector<std::size_t>& order,
                                                  std::uint64_t max_length) const {
  Arcs arcs = arcs_;
  std::vector<bool> gone(arcs.size(), false);
  for (const std::size_t state : order)
    if (!take_out(arcs, gone, state, max_length)) return std::nullopt;
  return arcs[states_][states_ + 1];
}

std::optional<Id> GeneralisedAutomaton::eliminate_lightest(std::mt19937& random, double blur,
                                                           std::uint64_t max_length) const {
  Arcs arcs = arcs_;
  std::vector<bool> gone(arcs.size(), false);
  for (std::size_t left = states_; left > 0; --left) {
    std::size_t lightest = states_;
    double least = 0;
    for (std::size_t state = 0; state < states_; ++state) {
      if (gone[state]) continue;
      const double share = static_cast<double>(random()) / 4294967296.0;
      const double own = (weight(arcs, gone, state) + 1e-3) * (1 + (blur - 1) * share);
      if (lightest == states_ || own < least) lightest = state, least = own;
    }
    if (!take_out(arcs, gone, lightest, max_length)) return std::nullopt;
  }
  return arcs[states_][states_ + 1];
}

}  // namespace krohn
