#include "krohn/simulate/prove/pairs/certify_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/groups/base/random.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/prove/pairs/pair_search.h"

namespace krohn {
namespace {

constexpr std::uint64_t kFirstLength = 32;   ///< of the words that are read side by side, then doubled
constexpr std::uint64_t kLengthOfAll = 512;  ///< from which on half of the words are left at every doubling
constexpr std::size_t kFewestWords = 4;
constexpr std::uint64_t kLongestWord = std::uint64_t{1} << 22;
constexpr std::size_t kPowers = 64, kRandomWords = 16;
constexpr std::size_t kBeginnings = 4;  ///< words that powers are put behind
constexpr std::size_t kLongestPeriod = 6;
constexpr std::size_t kWidth = 64;  ///< pairs that the narrow search follows
constexpr int kTries = 64;          ///< of random letters that may stand at a place

/// Letters that may be read.
class Budget {
 public:
  Budget(const ReaderLimits& options, std::uint64_t& read) : options_(options), read_(read) {}
  bool spend() {
    if (read_ % 64 == 0) over_ = over_ || !TimeLimit::met().empty();
    if (left() == 0) return false;
    if (++read_ % 1024 == 0 && options_.long_progress) options_.long_progress(read_, options_.long_letters);
    return true;
  }
  std::uint64_t left() const { return over_ ? 0 : options_.long_letters - std::min(options_.long_letters, read_); }

 private:
  const ReaderLimits& options_;
  std::uint64_t& read_;
  bool over_ = false;
};

constexpr double kNoMargin = std::numeric_limits<double>::infinity();

/// An endless word that is read on and on: a beginning and then a power; without a period, random letters.
struct Reading {
  ReaderRun run;
  Word beginning, period;
  Word word{};                ///< the letters read so far
  double margin = kNoMargin;  ///< the least since the length was doubled
  bool has_runs = false;      ///< of random letters
  bool ended = false;
};

/// Not a power of a shorter word.
bool is_primitive(const Word& word) {
  for (std::size_t part = 1; part < word.size(); ++part)
    if (word.size() % part == 0 &&
        std::equal(word.begin() + static_cast<std::ptrdiff_t>(part), word.end(), word.begin()))
      return false;
  return true;
}

class LongSearch {
 public:
  LongSearch(const LetterReader& machine, const TrackedAutomaton& tracked, const ReaderLimits& options,
             std::uint64_t& letters_read)
      : machine_(machine), tracked_(tracked), budget_(options, letters_read), random_(options.seed) {}

  std::optional<Word> run() {
    if (machine_.letters() == 0) return std::nullopt;
    const std::uint64_t all = budget_.left();
    follow_least_margins(all - all / 3);
    read_side_by_side(all / 3);
    if (!found_) return std::nullopt;
    read_shorter_words(all / 5);
    shorten();
    return found_;
  }

 private:
  void note(Word word) {
    if (!found_ || word.size() < found_->size()) found_ = std::move(word);
  }

  /// A pair that is followed, the pair that it came from, and the letter between them.
  struct Followed {
    ReaderRun run;
    std::uint32_t from;
    Letter letter;
    double margin;
  };

  /// Keeps the pairs with the least margins, at most so many.
  static void keep_narrowest(std::vector<Followed>& pairs, std::size_t most) {
    std::ranges::stable_sort(pairs, {}, &Followed::margin);
    if (pairs.size() > most) pairs.erase(pairs.begin() + static_cast<std::ptrdiff_t>(most), pairs.end());
  }

  static std::vector<bool> read_all(std::vector<Followed>& pairs) {
    std::vector<ReaderRun*> runs;
    std::vector<Letter> letters;
    for (Followed& pair : pairs) {
      runs.push_back(&pair.run);
      letters.push_back(pair.letter);
    }
    return ReaderRun::read_all(runs, letters);
  }

  void follow_least_margins(std::uint64_t kept_back) {
    std::vector<std::pair<std::uint32_t, Letter>> steps;  // all that was followed: where from, and by which letter
    const auto word_of = [&](std::uint32_t from, Letter letter) {
      Word word{letter};
      for (; from > 0; from = steps[from - 1].first) word.push_back(steps[from - 1].second);
      std::ranges::reverse(word);
      return word;
    };
    const std::size_t of_state = std::max<std::size_t>(1, kWidth / std::max<State>(1, tracked_.automaton.states()));
    std::vector<std::pair<Followed, std::uint32_t>> now{{{ReaderRun(machine_, tracked_), 0, 0, 0}, 0}};
    while (!now.empty()) {
      std::map<State, std::vector<Followed>> reached;
      std::vector<Followed> all;
      for (const auto& [pair, number] : now)
        for (Letter letter = 0; letter < machine_.letters(); ++letter)
          all.push_back({pair.run, number, letter, pair.margin});
      const std::vector<bool> may_follow = read_all(all);
      for (std::size_t i = 0; i < all.size(); ++i) {
        Followed& next = all[i];
        if (budget_.left() <= kept_back) return;
        if (!may_follow[i]) continue;
        budget_.spend();
        if (next.run.is_wrong()) return note(word_of(next.from, next.letter));
        if (next.run.is_asked()) next.margin = next.run.answer().margin;
        std::vector<Followed>& same = reached[next.run.state()];
        same.push_back(std::move(next));
        if (same.size() > 4 * of_state) keep_narrowest(same, of_state);
      }
      std::vector<Followed> kept;
      for (auto& [state, same] : reached) {
        keep_narrowest(same, of_state);
        std::ranges::move(same, std::back_inserter(kept));
      }
      keep_narrowest(kept, kWidth);
      now.clear();
      for (Followed& pair : kept) {
        steps.emplace_back(pair.from, pair.letter);
        now.emplace_back(std::move(pair), static_cast<std::uint32_t>(steps.size()));
      }
    }
  }

  /// Words that lead to different states, shortest first.
  std::vector<Word> beginnings() const {
    std::vector<Word> words{{}};
    std::vector<State> states{tracked_.automaton.initial()};
    for (std::size_t i = 0; i < words.size() && words.size() < kBeginnings; ++i)
      for (Letter letter = 0; letter < machine_.letters() && words.size() < kBeginnings; ++letter) {
        const State next = tracked_.automaton.next(states[i], letter);
        if (tracked_.wanted[next] == TrackedAutomaton::kNoSuchWord || std::ranges::count(states, next) > 0) continue;
        states.push_back(next);
        words.push_back(words[i]);
        words.back().push_back(letter);
      }
    return words;
  }

  bool may_repeat(const Word& beginning, const Word& period) const {
    State state = tracked_.automaton.initial();
    for (const Letter letter : beginning) state = tracked_.automaton.next(state, letter);
    for (int i = 0; i < 2; ++i)
      for (const Letter letter : period) state = tracked_.automaton.next(state, letter);
    return tracked_.wanted[state] != TrackedAutomaton::kNoSuchWord;
  }

  Reading random_word(bool has_runs) const {
    Reading reading{ReaderRun(machine_, tracked_), {}, {}};
    reading.has_runs = has_runs;
    return reading;
  }

  std::vector<Reading> readings() {
    std::vector<Reading> all;
    const std::vector<Word> first = beginnings();
    const auto add = [&](const Word& period) {
      for (const Word& beginning : first)
        if (all.size() < kPowers && is_primitive(period) && may_repeat(beginning, period))
          all.push_back({ReaderRun(machine_, tracked_), beginning, period});
    };
    const Letter letters = machine_.letters();
    if (letters * first.size() > kPowers / 2) {  // of many letters, some
      for (int i = 0; i < 256 && all.size() < kPowers; ++i) {
        Word period(1 + random_.below(2));
        for (Letter& letter : period) letter = static_cast<Letter>(random_.below(letters));
        add(period);
      }
    } else {
      for (std::size_t length = 1; length <= kLongestPeriod && all.size() < kPowers; ++length) {
        Word period(length, 0);
        for (bool more = true; more && all.size() < kPowers;) {
          add(period);
          std::size_t at = length;
          while (at > 0 && ++period[at - 1] == letters) period[--at] = 0;
          more = at > 0;
        }
      }
    }
    for (std::size_t i = 0; i < kRandomWords; ++i) all.push_back(random_word(i % 2 == 1));
    return all;
  }

  /// For the same letters again and again, or drawn anew.
  Letter random_letter(const Reading& reading) {
    if (reading.has_runs && !reading.word.empty() && random_.below(4) > 0) return reading.word.back();
    return static_cast<Letter>(random_.below(machine_.letters()));
  }

  /// False when no letter may follow.
  bool read_next(Reading& reading) {
    const std::size_t at = reading.word.size(), begun = reading.beginning.size();
    for (int tries = 0; tries < kTries; ++tries) {
      const Letter letter = at < begun               ? reading.beginning[at]
                            : reading.period.empty() ? random_letter(reading)
                                                     : reading.period[(at - begun) % reading.period.size()];
      if (!reading.run.read(letter)) continue;
      reading.word.push_back(letter);
      return true;
    }
    return false;
  }

  void read_side_by_side(std::uint64_t kept_back) {
    std::vector<Reading> all = readings();
    for (std::uint64_t length = kFirstLength; length <= kLongestWord; length *= 2) {
      for (Reading& reading : all) {
        const std::uint64_t end = std::min<std::uint64_t>(length, found_ ? found_->size() - 1 : length);
        while (!reading.ended && reading.word.size() < end) {
          if (budget_.left() <= kept_back) return;
          reading.ended = !read_next(reading);
          budget_.spend();
          if (reading.ended || !reading.run.is_asked()) continue;
          reading.margin = std::min(reading.margin, reading.run.answer().margin);
          if (!reading.run.is_wrong()) continue;
          note(reading.word);
          reading.ended = true;
        }
      }
      if (found_) return;
      if (length >= kLengthOfAll) keep_half(all);
      for (Reading& reading : all) reading.margin = kNoMargin;
    }
  }

  /// Random words below the length of the one that was found.
  void read_shorter_words(std::uint64_t kept_back) {
    for (bool has_runs = false; found_->size() > 1 && budget_.left() > kept_back && budget_.spend();
         has_runs = !has_runs)
      for (Reading reading = random_word(has_runs); reading.word.size() + 1 < found_->size();) {
        if (budget_.left() <= kept_back || !read_next(reading)) break;
        budget_.spend();
        if (reading.run.is_wrong()) note(reading.word);
      }
  }

  /// The half with the least margins.
  static void keep_half(std::vector<Reading>& all) {
    std::erase_if(all, [](const Reading& reading) { return reading.ended; });
    std::ranges::stable_sort(all, {}, &Reading::margin);
    const std::size_t kept = std::max(kFewestWords, all.size() / 2);
    if (all.size() > kept) all.erase(all.begin() + static_cast<std::ptrdiff_t>(kept), all.end());
  }

  /// The word up to its first wrong answer; nothing when all are right, or the letters are spent.
  std::optional<Word> wrong_part(const Word& word) {
    ReaderRun run(machine_, tracked_);
    for (std::size_t t = 0; t < word.size(); ++t) {
      if (!budget_.spend() || !run.read(word[t])) return std::nullopt;
      if (run.is_wrong()) return Word(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(t + 1));
    }
    return std::nullopt;
  }

  /// Leaves out halves, quarters, … as long as something stays wrong.
  void shorten() {
    for (std::size_t part = found_->size() / 2; part > 0; part /= 2)
      for (std::size_t first = 0; first + part <= found_->size();) {
        Word word = *found_;
        word.erase(word.begin() + static_cast<std::ptrdiff_t>(first),
                   word.begin() + static_cast<std::ptrdiff_t>(first + part));
        if (auto wrong = wrong_part(word))
          found_ = std::move(wrong);
        else
          first += part;
        if (budget_.left() == 0) return;
      }
  }

  const LetterReader& machine_;
  const TrackedAutomaton& tracked_;
  Budget budget_;
  Random random_;
  std::optional<Word> found_;
};

}  // namespace

std::optional<Word> find_failing_word(const LetterReader& machine, const TrackedAutomaton& tracked,
                                      const ReaderLimits& options, std::uint64_t& letters_read) {
  const FloatEnvironment environment;
  letters_read = 0;
  return LongSearch(machine, tracked, options, letters_read).run();
}

namespace {

/// Steps that a machine is asked for together; small, for a level is not read to its end.
constexpr Letter kStepsAtOnce = 32;

/// The share of the time where long words are read too.
constexpr double kShareBeforeLongWords = 0.7;

Certificate search(const LetterReader& reader, const TrackedAutomaton& tracked, const ReaderLimits& options) {
  PairLimits limits;
  limits.max_pairs = options.max_pairs;
  limits.max_bytes = options.max_bytes;
  limits.max_steps = options.max_steps;
  limits.progress = options.progress;
  limits.pairs_at_once = std::max<Letter>(1, kStepsAtOnce / std::max<Letter>(1, reader.letters()));
  limits.ends_levels = false;
  Certificate certificate = certificate_of(reach_pairs(reader, tracked, limits), {});
  certificate.proof = {};
  return certificate;
}

}  // namespace

void try_long_words(Certificate& certificate, const LetterReader& reader, const TrackedAutomaton& tracked,
                    const ReaderLimits& limits) {
  if (!certificate.is<ProvedUpTo>() || limits.long_letters == 0) return;
  std::uint64_t letters = 0;
  std::optional<Word> word = find_failing_word(reader, tracked, limits, letters);
  if (!word) {
    certificate.evidence += fmt::format("; so were {} of longer words", counted(letters, "letter"));
    return;
  }
  if (word->size() <= certificate.length())
    throw Contradiction(
        fmt::format("a word of {} is read wrongly, against the proof for words of up to {}. This is "
                    "a mistake in krohn, not in the model: please report it, with the model",
                    counted(word->size(), "letter"), certificate.length()));
  certificate.method = "long words";
  certificate.evidence = fmt::format(
      "all words of up to {} are right; this is the shortest wrong one found in {} of narrow search, "
      "powers of short words and random words",
      counted(certificate.length(), "letter"), counted(letters, "letter"));
  certificate.claim = Refuted{*std::move(word)};
  certificate.limit.clear();
  certificate.proof = {};
}

Certificate certify_reader(const LetterReader& reader, const TrackedAutomaton& tracked, const ReaderLimits& limits) {
  const FloatEnvironment environment;
  Certificate certificate = [&] {
    const TimeLimit most = TimeLimit::part(limits.long_letters > 0 ? kShareBeforeLongWords : 1);
    return search(reader, tracked, limits);
  }();
  try_long_words(certificate, reader, tracked, limits);
  return certificate;
}

}  // namespace krohn
