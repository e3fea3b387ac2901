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
  return [runner = std::make_shared<const Runner>(dfa, RunnerOptions{.threads = threads}), letters = dfa.letters()](
             const WordSlice& slice, State from) {
    return runner->run(RandomWord(letters, slice.seed, slice.stream), slice.first, slice.length, from);
  };
}

}  // namespace

Dfa with_lasting_disagreement(const Dfa& machine, const Dfa& automaton) {
  const State away = machine.states();
  const Output none = automaton.states();
  std::vector<State> table(machine.table().begin(), machine.table().end());
  bool disagree = false;
  for (State state = 0; state < machine.states(); ++state)
    for (Letter letter = 0; letter < machine.letters(); ++letter) {
      State& next = table[std::size_t{state} * machine.letters() + letter];
      const Output now = machine.output(state);
      if (now < none && machine.output(next) == automaton.next(now, letter)) continue;
      next = away;
      disagree = true;
    }
  if (!disagree) return machine;
  table.insert(table.end(), machine.letters(), away);
  std::vector<Output> outputs(machine.outputs().begin(), machine.outputs().end());
  outputs.push_back(none);
  return Dfa::moore(machine.alphabet(), std::move(table), machine.initial(), std::move(outputs),
                    numerals(std::uint64_t{none} + 1));
}

LongComparison::LongComparison(const Dfa& machine, const Dfa& automaton, std::uint64_t words, std::uint64_t length,
                               std::uint64_t seed, unsigned threads)
    : LongComparison(
          machine, automaton, words, length, seed, [threads](const Dfa& dfa) { return run_on_processor(dfa, threads); },
          kLongestPiece) {}

LongComparison::LongComparison(const Dfa& machine, const Dfa& automaton, std::uint64_t words, std::uint64_t length,
                               std::uint64_t seed, const std::function<RunSlice(const Dfa&)>& runner_of,
                               std::uint64_t longest_piece)
    : machine_(with_lasting_disagreement(machine, automaton)),
      automaton_(automaton),
      run_machine_(runner_of(machine_)),
      run_automaton_(runner_of(automaton)),
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
  const WordSlice slice{seed_, state.word, state.position, std::min(piece_, length_ - state.position)};
  LongComparisonState next = state;
  next.machine = run_machine_(slice, state.machine);
  next.automaton = run_automaton_(slice, state.automaton);
  next.position += slice.length;
  ++next.comparisons;
  if (!agree(next.machine, next.automaton)) {
    ++state.comparisons;
    return read_to_disagreement(state);
  }
  if (next.position == length_) {
    ++next.word;
    next.position = 0;
    next.machine = machine_.initial();
    next.automaton = automaton_.initial();
  }
  state = next;
}

void LongComparison::read_to_disagreement(LongComparisonState& state) const {
  constexpr std::uint64_t kBlock = 4096;
  const RandomWord word(automaton_.letters(), seed_, state.word);
  // A disagreement lasts, so that the half that it is in shows it.
  for (std::uint64_t left = std::min(piece_, length_ - state.position); left > kBlock;) {
    const std::uint64_t half = left / 2;
    const WordSlice slice{seed_, state.word, state.position, half};
    const State machine = run_machine_(slice, state.machine), automaton = run_automaton_(slice, state.automaton);
    if (!agree(machine, automaton)) {
      left = half;
      continue;
    }
    state.machine = machine;
    state.automaton = automaton;
    state.position += half;
    left -= half;
  }
  for (;;)
    for (const Letter letter : word.slice(state.position, kBlock)) {
      state.machine = machine_.next(state.machine, letter);
      state.automaton = automaton_.next(state.automaton, letter);
      ++state.position;
      if (agree(state.machine, state.automaton)) continue;
      state.failing_at = state.position;
      return;
    }
}

}  // namespace krohn
