#include "krohn/simulate/prove/place.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "krohn/simulate/arithmetic/parallel_for.h"
#include "krohn/simulate/prove/pairs/certify_reader.h"
#include "krohn/simulate/prove/pairs/pair_search.h"

namespace krohn {

std::optional<Letter> DrawnWord::next(State state) {
  for (int tries = 0; tries < kTries; ++tries, ++drawn_) {
    if (drawn_ % kSlice == 0) word_.fill(drawn_, slice_);
    const Letter letter = slice_[drawn_ % kSlice];
    if (tracked_->wanted[tracked_->automaton.next(state, letter)] == TrackedAutomaton::kNoSuchWord) continue;
    ++drawn_;
    return letter;
  }
  return std::nullopt;
}

Word drawn_word(const TrackedAutomaton& tracked, std::uint64_t seed, std::uint64_t number, std::uint64_t length) {
  DrawnWord drawn(tracked, seed, number);
  Word word;
  for (State state = tracked.automaton.initial(); word.size() < length;) {
    const std::optional<Letter> letter = drawn.next(state);
    if (!letter) break;
    word.push_back(*letter);
    state = tracked.automaton.next(state, *letter);
  }
  return word;
}

std::optional<RandomFailure> first_failure(const LetterReader& reader, const TrackedAutomaton& tracked,
                                           const RandomTest& asked, const std::function<void(std::uint64_t)>& told) {
  constexpr std::uint64_t kSideBySide = 64;
  std::mutex mutex;
  std::optional<RandomFailure> failure;
  std::atomic<std::uint64_t> least = UINT64_MAX, done = 0;
  parallel_for((asked.words + kSideBySide - 1) / kSideBySide, asked.threads, [&](std::size_t group) {
    const std::uint64_t first = group * kSideBySide, words = std::min(kSideBySide, asked.words - first);
    std::vector<DrawnWord> drawn;
    std::vector<ReaderRun> runs;
    for (std::uint64_t i = 0; i < words; ++i) {
      drawn.emplace_back(tracked, asked.seed, first + i);
      runs.emplace_back(reader, tracked);
    }
    std::vector<std::size_t> going(words);
    for (std::size_t i = 0; i < words; ++i) going[i] = i;
    std::vector<ReaderRun*> read;
    std::vector<Letter> letters;
    // Not beyond the least failure so far: a later one would not count.
    for (std::uint64_t at = 1; at <= asked.length && at <= least; ++at) {
      read.clear();
      letters.clear();
      std::erase_if(going, [&](std::size_t i) {
        const std::optional<Letter> letter = drawn[i].next(runs[i].state());
        if (!letter) return true;
        read.push_back(&runs[i]);
        letters.push_back(*letter);
        return false;
      });
      ReaderRun::read_all(read, letters);
      done += read.size();
      if (told && omp_get_thread_num() == 0) told(done);
      const auto wrong = std::ranges::find_if(going, [&](std::size_t i) { return runs[i].is_wrong(); });
      if (wrong == going.end()) continue;
      const std::lock_guard lock(mutex);
      const RandomFailure found{at, first + *wrong};
      if (!failure || found.at < failure->at || (found.at == failure->at && found.word < failure->word)) {
        failure = found;
        least = at;
      }
      return;
    }
  });
  return failure;
}

namespace {

/// Words that follow each other in a dictionary, side by side, each prefix that they share once. `order`: their
/// numbers.
void read_group(const ReadModel& model, std::span<const Word> words, std::span<const std::size_t> order,
                const HeardAnswer& heard) {
  struct Going {
    std::size_t word, run;
  };
  std::vector<ReaderRun> runs{ReaderRun(model.reader, model.tracked)}, next;
  std::vector<Going> going;
  for (const std::size_t word : order) going.push_back({word, 0});
  std::vector<bool> is_read{true};
  std::vector<Letter> letters;
  std::vector<ReaderRun*> read;
  for (std::size_t t = 0;; ++t) {
    std::erase_if(going, [&](const Going& one) {
      const ReaderRun& run = runs[one.run];
      return !is_read[one.run] || !heard(one.word, t, run.state(), run.answer().output) || words[one.word].size() == t;
    });
    if (going.empty()) return;
    next.clear();
    letters.clear();
    for (std::size_t i = 0, before = SIZE_MAX; i < going.size(); ++i) {
      const std::size_t run = going[i].run;
      const Letter letter = words[going[i].word][t];
      const bool is_last = i + 1 == going.size() || going[i + 1].run != run;
      if (run != before || letter != letters.back()) {
        next.push_back(is_last ? std::move(runs[run]) : runs[run]);
        letters.push_back(letter);
      }
      before = run;
      going[i].run = next.size() - 1;
    }
    runs.swap(next);
    read.clear();
    for (ReaderRun& run : runs) read.push_back(&run);
    is_read = ReaderRun::read_all(read, letters);
  }
}

}  // namespace

WordReading word_reading(const ReadModel& model, unsigned threads) {
  return [model, threads](std::span<const Word> words, const HeardAnswer& heard) {
    constexpr std::size_t kLeast = 32, kMost = 256;  // side by side
    std::vector<std::size_t> order(words.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::size_t i) -> const Word& { return words[i]; });
    const std::size_t used = threads == 0 ? static_cast<std::size_t>(omp_get_max_threads()) : threads;
    const std::size_t of_group = std::clamp((words.size() + used - 1) / used, kLeast, kMost);
    parallel_for((words.size() + of_group - 1) / of_group, threads, [&](std::size_t group) {
      const std::size_t first = group * of_group;
      read_group(model, words, std::span(order).subspan(first, std::min(of_group, order.size() - first)), heard);
    });
  };
}

Certificate ProvingPlace::search_pairs(const Network& network, const CertifyOptions& options) const {
  return certify_reachable_set(network, options);
}

SampleReport ProvingPlace::sample(const Network& network, ArithmeticName arithmetic,
                                  const SampleOptions& options) const {
  return krohn::sample(network, arithmetic, options);
}

std::optional<RandomFailure> ProvingPlace::first_failure(
    const ReadModel& model, const RandomTest& asked,
    const std::function<void(std::uint64_t, std::uint64_t)>& told) const {
  const std::uint64_t all = asked.words * asked.length;
  return krohn::first_failure(model.reader, model.tracked, asked, [&](std::uint64_t letters) {
    if (told) told(letters, all);
  });
}

WordReading ProvingPlace::word_reading(const ReadModel& model, unsigned threads) const {
  return krohn::word_reading(model, threads);
}

}  // namespace krohn
