// automata/dfa/nfa.h — nondeterministic automata with ε-moves, as regular expressions and foreign files give them.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/automata/dfa/dfa.h"

namespace krohn {

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
