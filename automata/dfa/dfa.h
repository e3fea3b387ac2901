// automata/dfa/dfa.h — deterministic automata with outputs, and nondeterministic ones.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/groups/transformations/transformation.h"

namespace krohn {

using State = std::uint32_t;
/// The index of an output in `Dfa::output_names()`.
using Output = std::uint32_t;

/// A complete deterministic automaton: a dense table state × letter ↦ state, one initial state, an output per state.
/// Accept/reject is the two-valued case: output 0 is "reject", 1 is "accept". A value that cannot be invalid: at least
/// one state, every target in range, every output named. It models Boost.Graph's VertexListGraph and IncidenceGraph
/// (automata/dfa/dfa_graph.h).
class Dfa {
 public:
  /// `table[q * alphabet.size() + letter]` is the target. Takes the table over without copying.
  /// Throws InputError naming the first entry that is out of range. O(states · letters).
  static Dfa moore(Alphabet alphabet, std::vector<State> table, State initial, std::vector<Output> outputs,
                   std::vector<std::string> output_names);
  /// The two-valued case, with output names {"reject", "accept"}.
  static Dfa acceptor(Alphabet alphabet, std::vector<State> table, State initial, const std::vector<bool>& accepting);

  const Alphabet& alphabet() const { return alphabet_; }
  State states() const { return static_cast<State>(outputs_.size()); }
  Letter letters() const { return alphabet_.size(); }
  State initial() const { return initial_; }
  /// False for a transformation semigroup, which may begin in any state: all of its states are reached, and whoever
  /// needs one to begin in asks for it, or takes `initial`.
  bool has_start() const { return has_start_; }
  Dfa without_start() &&;
  State next(State state, Letter letter) const { return table_[std::size_t{state} * letters() + letter]; }
  /// The targets of one state, one per letter.
  std::span<const State> row(State state) const { return {table_.data() + std::size_t{state} * letters(), letters()}; }
  std::span<const State> table() const { return table_; }

  Output output(State state) const { return outputs_[state]; }
  std::span<const Output> outputs() const { return outputs_; }
  std::span<const std::string> output_names() const { return output_names_; }
  /// True when the output names are exactly {"reject", "accept"}.
  bool is_acceptor() const;
  /// Output 1 of an acceptor; assert(is_acceptor()).
  bool accepts(State state) const { return outputs_[state] == 1; }

  /// Names for pictures and messages: empty, or one per state. Not part of what the automaton computes.
  std::span<const std::string> state_names() const { return state_names_; }
  /// Throws InputError unless empty or one name per state.
  Dfa with_state_names(std::vector<std::string> names) &&;
  /// The name when there is one, otherwise the number.
  std::string state_name(State state) const;

  /// The state after reading `word` from `from`. O(|word|).
  State run(std::span<const Letter> word, State from) const;
  State run(std::span<const Letter> word) const { return run(word, initial_); }

  /// The letter's map of all states.
  Transformation letter_map(Letter letter) const;
  /// True when every letter permutes the states.
  bool is_permutation_automaton() const;

  /// Identical representation: alphabet, table, initial state or none, outputs and their names. State names do not
  /// count.
  friend bool operator==(const Dfa& a, const Dfa& b) {
    return a.initial_ == b.initial_ && a.has_start_ == b.has_start_ && a.table_ == b.table_ &&
           a.outputs_ == b.outputs_ && a.output_names_ == b.output_names_ && a.alphabet_ == b.alphabet_;
  }

 private:
  Dfa() = default;
  Alphabet alphabet_;
  std::vector<State> table_;
  State initial_ = 0;
  bool has_start_ = true;
  std::vector<Output> outputs_;
  std::vector<std::string> output_names_;
  std::vector<std::string> state_names_;
};

/// The largest tables that automata by formula may have.
struct TableLimit {
  std::uint64_t max_states = 10'000'000;
  std::uint64_t max_entries = std::uint64_t{1} << 28;  ///< states · letters; 4 bytes each
};

/// Throws LimitError, naming `what` and the limit that it meets. Call it with exact sizes before anything is allocated.
void check_table_size(std::string_view what, std::uint64_t states, std::uint64_t letters, const TableLimit& limit);

/// base^exponent, or UINT64_MAX when it does not fit: for sizes that are then checked.
std::uint64_t saturating_power(std::uint64_t base, std::uint64_t exponent);
std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b);

/// "0", "1", …, "count − 1".
std::vector<std::string> numerals(std::uint64_t count);

/// The Moore machine with δ(q, letter) = next(q, letter) and output(q), an index of `output_names`.
template <class Next, class OutputOf>
Dfa tabulate(Alphabet alphabet, std::uint64_t states, State initial, Next next, OutputOf output,
             std::vector<std::string> output_names) {
  const Letter letters = alphabet.size();
  std::vector<State> table;
  std::vector<Output> outputs;
  table.reserve(states * letters);
  outputs.reserve(states);
  for (State q = 0; q < states; ++q) {
    for (Letter letter = 0; letter < letters; ++letter) table.push_back(static_cast<State>(next(q, letter)));
    outputs.push_back(static_cast<Output>(output(q)));
  }
  return Dfa::moore(std::move(alphabet), std::move(table), initial, std::move(outputs), std::move(output_names));
}

/// The acceptor with δ(q, letter) = next(q, letter) that accepts the states where `accepts(q)`.
template <class Next, class Accepts>
Dfa tabulate_acceptor(Alphabet alphabet, std::uint64_t states, State initial, Next next, Accepts accepts) {
  return tabulate(std::move(alphabet), states, initial, next, [&](State q) { return accepts(q) ? 1 : 0; },
                  {"reject", "accept"});
}

// Nondeterministic automata with ε-moves, as regular expressions and foreign files give them.

/// Labels an arc that reads nothing.
inline constexpr Letter kEpsilon = std::numeric_limits<Letter>::max();

/// An acceptor with any number of initial states, partial and nondeterministic moves, and ε-moves. Built by adding;
/// every function that takes one may rely on every arc being in range.
class Nfa {
 public:
  struct Arc {
    Letter letter = kEpsilon;
    State target = 0;
    friend auto operator<=>(const Arc&, const Arc&) = default;
  };

  explicit Nfa(Alphabet alphabet) : alphabet_(std::move(alphabet)) {}

  State add_state(bool accepting = false);
  /// Throws InputError when a state or the letter does not exist.
  void add_arc(State source, Letter letter, State target);
  void add_epsilon(State source, State target) { add_arc(source, kEpsilon, target); }
  /// Adding an initial state twice is the same as once.
  void add_initial(State state);
  void set_accepting(State state, bool accepting = true);

  const Alphabet& alphabet() const { return alphabet_; }
  State states() const { return static_cast<State>(arcs_.size()); }
  std::span<const State> initial() const { return initial_; }
  bool accepts(State state) const { return accepting_[state]; }
  std::span<const Arc> arcs(State state) const { return arcs_[state]; }
  /// All arcs together.
  std::size_t size() const { return size_; }

  /// Membership by simulating the set of states: the obvious reference for everything that determinises. O(|w|·arcs).
  bool accepts_word(std::span<const Letter> word) const;

 private:
  Alphabet alphabet_;
  std::vector<std::vector<Arc>> arcs_;
  std::vector<State> initial_;
  std::vector<bool> accepting_;
  std::size_t size_ = 0;
};

/// The same language, arc for arc. The Dfa must be an acceptor.
Nfa to_nfa(const Dfa& dfa);

}  // namespace krohn
