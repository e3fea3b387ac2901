#include "tools/krohn/models/long_test.h"

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "krohn/gpu/automata/long_word.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "tools/krohn/joined_ranks.h"
#include "tools/krohn/progress.h"

namespace krohn {
namespace {

using Clock = std::chrono::steady_clock;
constexpr Clock::duration kBetweenSaves = std::chrono::seconds(5);

/// Writes to `by`, where nothing is written yet, how the device reads.
RunSlice run_on_device(const Dfa& dfa, std::string& by) {
  const auto runner = std::make_shared<const SlicedRunner>(dfa, cuda_slice_reader);
  if (by.empty()) by = runner->tables().description();
  return [runner, letters = dfa.letters()](const WordSlice& slice, State from) {
    return runner->run(RandomWord(letters, slice.seed, slice.stream), slice.first, slice.length, from);
  };
}

/// A comparison and what reads some more of it. `check` may throw Interrupted.
struct Comparison {
  std::shared_ptr<const LongComparison> here;
  std::function<void(LongComparisonState& state, const std::function<void()>& check)> read;
  std::string by;
};

Comparison by_pieces(std::shared_ptr<const LongComparison> here, std::string by = "") {
  const auto read = [here](LongComparisonState& state, const std::function<void()>&) { here->read_piece(state); };
  return {here, read, std::move(by)};
}

Comparison compare(const Dfa& machine, const Dfa& automaton, const TestedWords& tested,
                   const LongTestOptions& options) {
  constexpr std::uint64_t kDevicePiece = std::uint64_t{1} << 34;  // tens of milliseconds
  // For any number of ranks the same, so that they compare equally often; seconds for two, far above a message for
  // 1,000.
  constexpr std::uint64_t kRanksPiece = std::uint64_t{1} << 34;
  // Several words of up to so many letters, a second of a rank, are read whole, each by one rank; others are cut.
  constexpr std::uint64_t kWholeWord = std::uint64_t{1} << 32;
  if (options.on_ranks && tested.words > 1 && tested.length <= kWholeWord) {
    RankedWords ranked = words_on_ranks(machine, automaton, tested.words, tested.length, tested.seed, options.threads);
    return {std::move(ranked.here), std::move(ranked.read), {}};
  }
  if (options.on_ranks)
    return by_pieces(std::make_shared<LongComparison>(
        machine, automaton, tested.words, tested.length, tested.seed,
        [&](const Dfa& dfa) { return slices_on_ranks(dfa, options.threads); }, kRanksPiece));
  if (!options.on_cuda)
    return by_pieces(std::make_shared<LongComparison>(machine, automaton, tested.words, tested.length, tested.seed,
                                                      options.threads));
  std::string by;
  auto by_device = std::make_shared<LongComparison>(
      machine, automaton, tested.words, tested.length, tested.seed,
      [&by](const Dfa& dfa) { return run_on_device(dfa, by); }, kDevicePiece);
  return by_pieces(std::move(by_device), std::move(by));
}

}  // namespace

LongTestReport run_long_test(const Dfa& machine, const Dfa& automaton, const TestedWords& tested,
                             const LongTestOptions& options) {
  const std::string& path = options.save.empty() ? options.resume : options.save;
  const Comparison compared = compare(machine, automaton, tested, options);
  const LongComparison& comparison = *compared.here;
  LongComparisonState state = comparison.start();
  if (!options.resume.empty()) {
    state = load_run(options.resume, tested);
    if (!comparison.has_states_of(state))
      throw InputError(options.resume,
                       "the saved run has states that the model does not have, or that disagree; the file is damaged, "
                       "start again without --resume");
  }
  const TimeLimit most = TimeLimit::part(0.8);  // a piece may take long, and the rest is for telling
  Progress progress("testing letters");
  Clock::time_point saved = Clock::now();
  try {
    while (!comparison.is_done(state)) {
      const auto tell = [&, letters = comparison.letters_read(state)] {
        TimeLimit::check();
        progress.update(letters, comparison.letters());
      };
      tell();
      compared.read(state, tell);
      if (path.empty() || Clock::now() - saved < kBetweenSaves) continue;
      save_run(path, tested, state);
      saved = Clock::now();
    }
  } catch (const std::exception& error) {
    const bool is_late = dynamic_cast<const LimitError*>(&error) != nullptr;
    if (!is_late && (path.empty() || dynamic_cast<const Interrupted*>(&error) == nullptr)) throw;
    if (!path.empty()) save_run(path, tested, state);
    Interruption::requested = false;  // what is left is to tell it
    throw LimitError(fmt::format("{} after {} of {}, all right so far; {}", is_late ? error.what() : "interrupted",
                                 with_thousands(comparison.letters_read(state)),
                                 counted(comparison.letters(), "letter"),
                                 path.empty() ? "with --save FILE it can go on later"
                                              : fmt::format("the same command with --resume {} goes on", path)));
  }
  if (!path.empty()) save_run(path, tested, state);
  return {machine.states(), comparison.letters_read(state), state, compared.by};
}

}  // namespace krohn
