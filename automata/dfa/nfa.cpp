#include "krohn/automata/dfa/nfa.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"

namespace krohn {

State Nfa::add_state(bool accepting) {
  if (arcs_.size() % 4096 == 4095) TimeLimit::check();
  arcs_.emplace_back();
  accepting_.push_back(accepting);
  return states() - 1;
}

void Nfa::add_arc(State source, Letter letter, State target) {
  if (source >= states() || target >= states())
    throw InputError(fmt::format("arc {} → {} names a state outside 0…{}", source, target, states() - 1));
  if (letter != kEpsilon && letter >= alphabet_.size())
    throw InputError(
        fmt::format("arc {} → {} reads letter {} of an alphabet of {}", source, target, letter, alphabet_.size()));
  arcs_[source].push_back({letter, target});
  ++size_;
}

void Nfa::add_initial(State state) {
  if (state >= states()) throw InputError(fmt::format("initial state {} does not exist", state));
  if (std::find(initial_.begin(), initial_.end(), state) == initial_.end()) initial_.push_back(state);
}

void Nfa::set_accepting(State state, bool accepting) {
  if (state >= states()) throw InputError(fmt::format("accepting state {} does not exist", state));
  accepting_[state] = accepting;
}

namespace {

/// Adds everything that ε-moves reach from the states in `set`, which is both the queue and the result.
void close_under_epsilon(const Nfa& nfa, std::vector<State>& set, std::vector<bool>& member) {
  for (std::size_t i = 0; i < set.size(); ++i)
    for (const Nfa::Arc& arc : nfa.arcs(set[i]))
      if (arc.letter == kEpsilon && !member[arc.target]) {
        member[arc.target] = true;
        set.push_back(arc.target);
      }
}

}  // namespace

bool Nfa::accepts_word(std::span<const Letter> word) const {
  std::vector<State> current(initial_);
  std::vector<bool> member(states(), false);
  for (const State state : current) member[state] = true;
  close_under_epsilon(*this, current, member);
  for (const Letter letter : word) {
    std::vector<State> next;
    std::fill(member.begin(), member.end(), false);
    for (const State state : current)
      for (const Arc& arc : arcs_[state])
        if (arc.letter == letter && !member[arc.target]) {
          member[arc.target] = true;
          next.push_back(arc.target);
        }
    close_under_epsilon(*this, next, member);
    current = std::move(next);
  }
  return std::any_of(current.begin(), current.end(), [&](State state) { return accepting_[state]; });
}

Nfa to_nfa(const Dfa& dfa) {
  assert(dfa.is_acceptor());
  Nfa nfa(dfa.alphabet());
  for (State state = 0; state < dfa.states(); ++state) nfa.add_state(dfa.accepts(state));
  nfa.add_initial(dfa.initial());
  for (State state = 0; state < dfa.states(); ++state)
    for (Letter letter = 0; letter < dfa.letters(); ++letter) nfa.add_arc(state, letter, dfa.next(state, letter));
  return nfa;
}

}  // namespace krohn
