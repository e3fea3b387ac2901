#include "krohn/automata/dfa/dfa.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"

namespace krohn {

Dfa Dfa::moore(Alphabet alphabet, std::vector<State> table, State initial, std::vector<Output> outputs,
               std::vector<std::string> output_names) {
  const std::size_t states = outputs.size(), letters = alphabet.size();
  if (states == 0) throw InputError("an automaton needs at least one state");
  if (states >= UINT32_MAX) throw LimitError(fmt::format("{}; the limit is 2^32 − 2", counted(states, "state")));
  if (table.size() != states * letters)
    throw InputError(fmt::format("the table has {} entries; {} × {} letters need {}", table.size(),
                                 counted(states, "state"), letters, states * letters));
  if (initial >= states) throw InputError(fmt::format("initial state {} is outside 0…{}", initial, states - 1));
  for (std::size_t i = 0; i < table.size(); ++i)
    if (table[i] >= states)
      throw InputError(fmt::format("state {} goes to {} on \"{}\", outside 0…{}", i / letters, table[i],
                                   alphabet.name(static_cast<Letter>(i % letters)), states - 1));
  for (std::size_t q = 0; q < states; ++q)
    if (outputs[q] >= output_names.size())
      throw InputError(
          fmt::format("state {} has output {}, but only {} outputs are named", q, outputs[q], output_names.size()));
  Dfa dfa;
  dfa.alphabet_ = std::move(alphabet);
  dfa.table_ = std::move(table);
  dfa.initial_ = initial;
  dfa.outputs_ = std::move(outputs);
  dfa.output_names_ = std::move(output_names);
  return dfa;
}

Dfa Dfa::acceptor(Alphabet alphabet, std::vector<State> table, State initial, const std::vector<bool>& accepting) {
  return moore(std::move(alphabet), std::move(table), initial, {accepting.begin(), accepting.end()},
               {"reject", "accept"});
}

bool Dfa::is_acceptor() const {
  return output_names_.size() == 2 && output_names_[0] == "reject" && output_names_[1] == "accept";
}

Dfa Dfa::with_state_names(std::vector<std::string> names) && {
  if (!names.empty() && names.size() != outputs_.size())
    throw InputError(fmt::format("{} state names for {}", names.size(), counted(outputs_.size(), "state")));
  state_names_ = std::move(names);
  return std::move(*this);
}

Dfa Dfa::without_start() && {
  has_start_ = false;
  return std::move(*this);
}

std::string Dfa::state_name(State state) const {
  return state_names_.empty() ? std::to_string(state) : state_names_[state];
}

State Dfa::run(std::span<const Letter> word, State from) const {
  State state = from;
  for (const Letter letter : word) {
    assert(letter < letters());
    state = next(state, letter);
  }
  return state;
}

Transformation Dfa::letter_map(Letter letter) const {
  std::vector<Point> images(states());
  for (State state = 0; state < states(); ++state) images[state] = next(state, letter);
  return Transformation::from_images(std::move(images));
}

bool Dfa::is_permutation_automaton() const {
  for (Letter letter = 0; letter < letters(); ++letter)
    if (!letter_map(letter).is_permutation()) return false;
  return true;
}

void check_table_size(std::string_view what, std::uint64_t states, std::uint64_t letters, const TableLimit& limit) {
  // Saturated sizes are printed as what they are at least.
  const std::string count = states == UINT64_MAX ? "more than 10^19" : std::to_string(states);
  if (states > limit.max_states)
    throw LimitError(
        fmt::format("{} has {}; the limit is {} (--max-states)", what, counted(count, "state"), limit.max_states));
  if (saturating_product(states, letters) > limit.max_entries)
    throw LimitError(fmt::format("{} has {} and {}; a table of at most {} entries is built", what,
                                 counted(states, "state"), counted(letters, "letter"), limit.max_entries));
}

std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

std::uint64_t saturating_power(std::uint64_t base, std::uint64_t exponent) {
  if (base <= 1) return exponent == 0 ? 1 : base;
  std::uint64_t power = 1;
  for (; exponent > 0 && power != UINT64_MAX; --exponent) power = saturating_product(power, base);
  return power;
}

std::vector<std::string> numerals(std::uint64_t count) {
  std::vector<std::string> names;
  names.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

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
