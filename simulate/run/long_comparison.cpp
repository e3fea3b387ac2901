#include "krohn/simulate/run/long_comparison.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace krohn {
namespace {

/// Pieces are long enough to be cut into parts and short enough for a line of progress.
constexpr std::uint64_t kShortestPiece = std::uint64_t{1} << 16, kLongestPiece = std::uint64_t{1} << 28;

RunSlice run_on_processor(const Dfa& dfa, unsigned threads) {
  return [runner = std::make_shared<const Runner>(dfa, RunnerOptions{.threads = threads})](
             const RandomWord& word, std::uint64_t first, std::uint64_t length, State from) {
    return runner->run(word, first, length, from);
  };
}

}  // namespace

LongComparison::LongComparison(const Dfa& machine, const Dfa& automaton, std::uint64_t words, std::uint64_t length,
                               std::uint64_t seed, unsigned threads)
    : LongComparison(machine, automaton, words, length, seed, run_on_processor(machine, threads),
                     run_on_processor(automaton, threads), kLongestPiece) {}

LongComparison::LongComparison(const Dfa& machine, const Dfa& automaton, std::uint64_t words, std::uint64_t length,
                               std::uint64_t seed, RunSlice run_machine, RunSlice run_automaton,
                               std::uint64_t longest_piece)
    : machine_(machine),
      automaton_(automaton),
      run_machine_(std::move(run_machine)),
      run_automaton_(std::move(run_automaton)),
      words_(length == 0 ? 0 : words),
      length_(length),
      seed_(seed),
      piece_(std::clamp(length / 64, kShortestPiece, longest_piece)) {}

LongComparisonState LongComparison::start() const {
  LongComparisonState state;
  state.machine = machine_.initial();
  state.automaton = automaton_.initial();
  if (!agree(state.machine, state.automaton)) state.failing_at = 0;
  return state;
}

void LongComparison::read_piece(LongComparisonState& state) const {
  const RandomWord word(automaton_.letters(), seed_, state.word);
  const std::uint64_t count = std::min(piece_, length_ - state.position);
  LongComparisonState next = state;
  next.machine = run_machine_(word, state.position, count, state.machine);
  next.automaton = run_automaton_(word, state.position, count, state.automaton);
  next.position += count;
  ++next.comparisons;
  if (!agree(next.machine, next.automaton)) {
    next.failing_at = first_disagreement(state, count);
  } else if (next.position == length_) {
    ++next.word;
    next.position = 0;
    next.machine = machine_.initial();
    next.automaton = automaton_.initial();
  }
  state = next;
}

std::uint64_t LongComparison::first_disagreement(const LongComparisonState& from, std::uint64_t count) const {
  constexpr std::uint64_t kBlock = 4096;
  const RandomWord word(automaton_.letters(), seed_, from.word);
  State machine = from.machine, automaton = from.automaton;
  for (std::uint64_t first = from.position;; first += kBlock) {
    const Word letters = word.slice(first, std::min(kBlock, from.position + count - first));
    for (std::size_t i = 0; i < letters.size(); ++i) {
      machine = machine_.next(machine, letters[i]);
      automaton = automaton_.next(automaton, letters[i]);
      if (!agree(machine, automaton)) return first + i + 1;
    }
  }
}

}  // namespace krohn
