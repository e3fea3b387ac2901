// simulate/run/long_comparison.h — two automata over the same very long random words, as fast as the machine runs them,
// in pieces that can be stopped and gone on with.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/simulate/run/run_dfa.h"

namespace krohn {

/// Where the comparison stands: all that is needed to go on. Plain numbers, so that a file can hold it.
struct LongComparisonState {
  std::uint64_t word = 0;      ///< the word that is read
  std::uint64_t position = 0;  ///< letters of it that were read, up to the first disagreement
  State machine = 0, automaton = 0;
  std::uint64_t comparisons = 0;
  std::optional<std::uint64_t> failing_at;  ///< the first letter after which the two disagree, in word `word`
  friend bool operator==(const LongComparisonState&, const LongComparisonState&) = default;
};

/// Letters [first, first + length) of a random word.
struct WordSlice {
  std::uint64_t seed = 0, stream = 0, first = 0, length = 0;
};

/// Runs an automaton over a slice, from a state.
using RunSlice = std::function<State(const WordSlice& slice, State from)>;

/// The machine, whose outputs are states of the automaton, with one state more, from which nothing leads away: there
/// goes every letter after which machine and automaton disagree. While they agree, the automaton is in the state that
/// the machine's output names, so that their product has no more states than this. The machine itself where no
/// transition disagrees.
Dfa with_lasting_disagreement(const Dfa& machine, const Dfa& automaton);

/// Runs a machine whose outputs are the states of an automaton (simulate/prove/pairs/network_machine.h) and that
/// automaton, each by itself, over the random words (seed, 0), (seed, 1), … of one length, made on the way. They are
/// compared after every `piece()` letters and at the end of every word, and since a disagreement lasts
/// (with_lasting_disagreement), that compares them after every letter; where there was one, halves of the piece are
/// read for the first, which costs about one more piece. Memory does not grow with the length.
class LongComparison {
 public:
  LongComparison(const Dfa& machine, const Dfa& automaton, std::uint64_t words, std::uint64_t length,
                 std::uint64_t seed, unsigned threads);
  /// The same with pieces of up to `longest_piece` letters that somebody else runs: a device.
  LongComparison(const Dfa& machine, const Dfa& automaton, std::uint64_t words, std::uint64_t length,
                 std::uint64_t seed, const std::function<RunSlice(const Dfa&)>& runner_of, std::uint64_t longest_piece);

  LongComparisonState start() const;
  /// True if it stands at states that machine and automaton have, and that agree where nothing has failed.
  bool has_states_of(const LongComparisonState& state) const {
    return state.machine < machine_.states() && state.automaton < automaton_.states() &&
           (state.failing_at || agree(state.machine, state.automaton));
  }
  bool is_done(const LongComparisonState& state) const { return state.failing_at || state.word >= words_; }
  /// Letters of all words that were read.
  std::uint64_t letters_read(const LongComparisonState& state) const { return state.word * length_ + state.position; }
  std::uint64_t letters() const { return words_ * length_; }
  /// At most 2^28, or what was asked for, and at most a 64th of a word.
  std::uint64_t piece() const { return piece_; }

  /// Reads the next piece. Precondition: !is_done(state).
  void read_piece(LongComparisonState& state) const;

 private:
  bool agree(State machine, State automaton) const { return machine_.output(machine) == automaton; }
  void read_to_disagreement(LongComparisonState& state) const;

  Dfa machine_;
  const Dfa& automaton_;
  RunSlice run_machine_, run_automaton_;
  std::uint64_t words_, length_, seed_, piece_;
};

}  // namespace krohn
