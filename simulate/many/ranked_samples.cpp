#include "krohn/simulate/many/ranked_samples.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "krohn/groups/error.h"
#include "krohn/simulate/evaluate/lanes/sample.h"

namespace krohn {
namespace {

using Counts = std::vector<std::uint64_t>;

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// ---- Reports as numbers

Counts to_numbers(const SampleReport& report) {
  Counts numbers{report.letters, report.failing_at.has_value(), report.failing_at.value_or(0),
                 report.failing_word_index.value_or(0)};
  for (const LengthReport& row : report.lengths)
    numbers.insert(numbers.end(),
                   {row.length, row.words, row.right_state, row.right_output, row.letters, row.right_letters});
  return numbers;
}

SampleReport report_of(std::span<const std::uint64_t> numbers) {
  SampleReport report;
  report.letters = numbers[0];
  if (numbers[1] != 0) report.failing_at = numbers[2], report.failing_word_index = numbers[3];
  for (std::size_t i = 4; i < numbers.size(); i += 6)
    report.lengths.push_back(
        {numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3], numbers[i + 4], numbers[i + 5]});
  return report;
}

SampleReport nothing_read(std::vector<std::uint64_t> lengths) {
  std::ranges::sort(lengths);
  const auto repeated = std::ranges::unique(lengths);
  lengths.erase(repeated.begin(), repeated.end());
  SampleReport report;
  for (const std::uint64_t length : lengths) report.lengths.emplace_back().length = length;
  return report;
}

}  // namespace

void RoundLength::adapt(Ranks& ranks, double seconds) {
  constexpr std::uint64_t kEnough = 1000, kMost = std::uint64_t{1} << 32;  // milliseconds; words
  const std::uint64_t mine[] = {static_cast<std::uint64_t>(seconds * 1000)};
  const Counts all = ranks.gather(mine);
  if (*std::ranges::max_element(all) < kEnough / 2) words_ = std::min(2 * words_, kMost);
}

SampleReport sample_on_ranks(Ranks& ranks, const Network& network, ArithmeticName arithmetic,
                             const SampleOptions& options, const SampleWords& here) {
  if (options.lengths.empty() || options.words == 0)
    throw InputError("sampling needs at least one length and one word");
  SampleReport sum = nothing_read(options.lengths);
  const std::uint64_t letters = sum.lengths.back().length * options.words;
  RoundLength round;
  for (std::uint64_t done = 0; done < options.words;) {
    const Stopwatch watch;
    const std::uint64_t end = done + std::min(options.words - done, round.words() * ranks.size());
    const Share mine = share_of(done, end, ranks.rank(), ranks.size());
    SampleReport part = nothing_read(options.lengths);
    together(ranks, [&] {
      SampleOptions own = options;
      own.words = mine.end - mine.begin;
      if (options.progress)
        own.progress = [&](std::uint64_t read, std::uint64_t) {
          options.progress(std::min(sum.letters + read * ranks.size(), letters), letters);
        };
      if (own.words > 0) part = here(mine.begin, network, arithmetic, own);
    });
    const Counts numbers = to_numbers(part), all = ranks.gather(numbers);
    for (unsigned rank = 0; rank < ranks.size(); ++rank)
      add_report(sum, report_of(std::span(all).subspan(rank * numbers.size(), numbers.size())));
    done = end;
    round.adapt(ranks, watch.seconds());
  }
  if (sum.failing_at && *sum.failing_at <= kPrintableLength)
    sum.failing_word =
        RandomWord(network.automaton.letters(), options.seed, *sum.failing_word_index).slice(0, *sum.failing_at);
  return sum;
}

void compare_words_on_ranks(Ranks& ranks, const LongComparison& here, std::uint64_t words, LongComparisonState& state,
                            RoundLength& round, const std::function<void()>& check) {
  const Stopwatch watch;
  const std::uint64_t end = state.word + std::min(words - state.word, round.words() * ranks.size());
  const Share mine = share_of(state.word, end, ranks.rank(), ranks.size());
  LongComparisonState own = here.start();
  own.word = mine.begin;
  together(ranks, [&] {
    while (!own.failing_at && own.word < mine.end) {
      here.read_piece(own);
      check();
    }
  });
  const Counts numbers{own.word,
                       own.position,
                       own.machine,
                       own.automaton,
                       own.comparisons,
                       own.failing_at.has_value(),
                       own.failing_at.value_or(0)};
  const Counts all = ranks.gather(numbers);
  // One process ends at the first word that fails, and compares nothing behind it.
  for (unsigned rank = 0; rank < ranks.size() && !state.failing_at; ++rank) {
    const auto of = std::span(all).subspan(rank * numbers.size(), numbers.size());
    state.word = of[0];
    state.position = of[1];
    state.machine = static_cast<State>(of[2]);
    state.automaton = static_cast<State>(of[3]);
    state.comparisons += of[4];
    if (of[5] != 0) state.failing_at = of[6];
  }
  round.adapt(ranks, watch.seconds());
}

}  // namespace krohn
