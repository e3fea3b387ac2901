#include "krohn/simulate/prove/self_check.h"

#include <algorithm>
#include <chrono>

#include "krohn/groups/time_limit.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/claims/unit_run.h"
#include "krohn/simulate/prove/machine/reader_run.h"
#include "krohn/simulate/words/word.h"

namespace krohn {
namespace {

constexpr std::uint64_t kSeed = 20'261'122;
constexpr std::uint64_t kRandomLength = 5'000, kPowerLength = 1'000;
constexpr std::size_t kLongestPeriod = 3, kMostPowers = 24;

std::uint64_t longest_of(const Certificate& certificate) {
  return certificate.is<Proved>() ? UINT64_MAX : certificate.length();
}

/// Words of one letter, of two, of three.
std::vector<Word> periods(Letter letters) {
  std::vector<Word> words;
  for (std::size_t length = 1; length <= kLongestPeriod; ++length) {
    Word word(length, 0);
    for (bool more = true; more && words.size() < kMostPowers;) {
      words.push_back(word);
      std::size_t at = length;
      while (at > 0 && ++word[at - 1] == letters) word[--at] = 0;
      more = at > 0;
    }
  }
  return words;
}

}  // namespace

void for_replayed_words(const Dfa& automaton, std::uint64_t letters, std::uint64_t longest,
                        const std::function<bool(const Word&)>& read) {
  if (automaton.letters() == 0 || longest == 0) {
    read({});
    return;
  }
  std::uint64_t left = letters;
  const auto give = [&](Word word) {
    if (word.size() > std::min(longest, left)) word.resize(static_cast<std::size_t>(std::min(longest, left)));
    left -= word.size();
    return read(word);
  };
  // Aimed: half of the letters go to transitions, in the order in which a breadth-first search meets them.
  struct Step {
    State from;
    Letter letter;
  };
  std::vector<Step> came(automaton.states(), {automaton.initial(), 0});
  std::vector<bool> known(automaton.states(), false);
  std::vector<State> met{automaton.initial()};
  known[automaton.initial()] = true;
  for (std::size_t i = 0; i < met.size() && left > letters / 2; ++i)
    for (Letter letter = 0; letter < automaton.letters() && left > letters / 2; ++letter) {
      const State next = automaton.next(met[i], letter);
      if (!known[next]) {
        known[next] = true;
        came[next] = {met[i], letter};
        met.push_back(next);
      }
      Word word{letter};
      for (State state = met[i]; state != automaton.initial(); state = came[state].from)
        word.push_back(came[state].letter);
      std::reverse(word.begin(), word.end());
      if (!give(std::move(word))) return;
    }
  for (const Word& period : periods(automaton.letters())) {
    if (left <= letters / 4) break;
    Word word(kPowerLength);
    for (std::size_t t = 0; t < word.size(); ++t) word[t] = period[t % period.size()];
    if (!give(std::move(word))) return;
  }
  for (std::uint64_t stream = 0; left > 0; ++stream)
    if (!give(RandomWord(automaton.letters(), kSeed, stream).slice(0, std::min({kRandomLength, longest, left}))))
      return;
}

namespace {

/// Seconds that reading may take: orders that compose letters, and exact arithmetic, may need milliseconds a letter. Of
/// a network whose states are one-hot, half of them: what is left is read as fast as the ones move. Half of the time
/// that is left, where that is less.
constexpr double kSeconds = 2;

double seconds_for_replay() { return std::min(kSeconds, TimeLimit::left() / 2); }

/// A network along the words of a replay.
class NetworkReplay {
 public:
  NetworkReplay(const Network& network, const Certificate& certificate, std::uint64_t& letters_read)
      : network_(network), certificate_(certificate), letters_read_(letters_read) {
    evaluator_ = make_evaluator(network, certificate.arithmetic, certificate.form, certificate.order);
  }

  /// False when the word is read wrongly, or the time is over.
  bool read(const Word& word) {
    if (unit_run_) return follow(word);
    const std::uint64_t before = letters_read_;
    if (evaluate(word)) return true;
    if (wrong_ || !may_be_unit_) return false;
    letters_read_ = before;
    unit_run_ = make_unit_run(network_, certificate_.arithmetic, certificate_.form);
    may_be_unit_ = unit_run_ != nullptr;
    return read(word);
  }

  std::optional<Word> wrong() const { return wrong_; }

 private:
  bool is_late(double seconds) const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() > seconds;
  }

  bool note(const Word& word, std::size_t letters) {
    wrong_.emplace(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(letters));
    return false;
  }

  bool evaluate(const Word& word) {
    constexpr std::size_t kPiece = 32;
    evaluator_->reset();
    State state = network_.automaton.initial();
    if (evaluator_->current() != state) return note(word, 0);
    for (std::size_t first = 0; first < word.size(); first += kPiece) {
      const std::span<const Letter> piece = std::span(word).subspan(first, std::min(kPiece, word.size() - first));
      answers_.resize(piece.size());
      evaluator_->run(piece, answers_);
      for (std::size_t t = 0; t < piece.size(); ++t) {
        ++letters_read_;
        state = network_.automaton.next(state, piece[t]);
        if (answers_[t] != state) return note(word, first + t + 1);
      }
      if (is_late(may_be_unit_ ? seconds_ / 2 : seconds_)) return false;
    }
    return true;
  }

  bool follow(const Word& word) {
    unit_run_->reset();
    State state = network_.automaton.initial();
    for (std::size_t t = 0; t < word.size(); ++t) {
      const std::optional<State> answer = unit_run_->step(word[t]);
      if (!answer) return false;
      ++letters_read_;
      state = network_.automaton.next(state, word[t]);
      if (*answer != state) return note(word, t + 1);
    }
    return !is_late(seconds_);
  }

  const Network& network_;
  const Certificate& certificate_;
  std::uint64_t& letters_read_;
  std::unique_ptr<Evaluator> evaluator_;
  std::unique_ptr<UnitRun> unit_run_;
  bool may_be_unit_ = certificate_.order.is_sequential() && !certificate_.arithmetic.is_exact();
  std::vector<State> answers_;
  std::optional<Word> wrong_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double seconds_ = seconds_for_replay();
};

}  // namespace

std::optional<Word> replay(const Network& network, const Certificate& certificate, std::uint64_t letters,
                           std::uint64_t& letters_read) {
  NetworkReplay run(network, certificate, letters_read);
  for_replayed_words(network.automaton, letters, longest_of(certificate),
                     [&](const Word& word) { return run.read(word); });
  return run.wrong();
}

std::optional<Word> replay(const LetterReader& reader, const TrackedAutomaton& tracked, const Certificate& certificate,
                           std::uint64_t letters, std::uint64_t& letters_read) {
  std::optional<Word> wrong;
  const TimeLimit time(seconds_for_replay(), "");
  const auto read = [&](const Word& word) {
    ReaderRun run(reader, tracked);
    Word was_read;
    for (std::size_t t = 0; t < word.size(); ++t) {
      if (!run.read(word[t])) continue;  // that letter cannot stand here
      was_read.push_back(word[t]);
      ++letters_read;
      if (run.is_wrong()) return wrong.emplace(std::move(was_read)), false;
      if (t % 64 == 0 && time.is_over()) return false;
    }
    return true;
  };
  for_replayed_words(tracked.automaton, letters, longest_of(certificate), read);
  return wrong;
}

}  // namespace krohn
