#include "simulate/long_comparison.h"

#include <algorithm>
#include <vector>

namespace krohn {
namespace {

/// Pieces are long enough to be cut into parts and short enough for a line of progress.
constexpr std::uint64_t kShortestPiece = std::uint64_t{1} << 16, kLongestPiece = std::uint64_t{1} << 28;

}  // namespace

LongComparison::LongComparison(const Dfa& machine, const Dfa& automaton, std::uint64_t words, std::uint64_t length,
                               std::uint64_t seed, unsigned threads)
    : machine_(machine),
      automaton_(automaton),
      run_machine_(machine, {.threads = threads}),
      run_automaton_(automaton, {.threads = threads}),
      words_(length == 0 ? 0 : words),
      length_(length),
      seed_(seed),
      piece_(std::clamp(length / 64, kShortestPiece, kLongestPiece)) {}

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
  next.machine = run_machine_.run(word, state.position, count, state.machine);
  next.automaton = run_automaton_.run(word, state.position, count, state.automaton);
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
