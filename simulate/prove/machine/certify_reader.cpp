#include "krohn/simulate/prove/machine/certify_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "krohn/groups/counted.h"
#include "krohn/groups/float_environment.h"
#include "krohn/groups/time_limit.h"
#include "krohn/simulate/prove/claims/claim_text.h"
#include "krohn/simulate/prove/claims/contradiction.h"
#include "krohn/simulate/prove/machine/failing_word.h"
#include "krohn/simulate/prove/pairs/pair_search.h"

namespace krohn {
namespace {

class ReaderMachine {
 public:
  static constexpr bool kEndsLevels = false;
  static constexpr Letter kStepsAtOnce = 32;  ///< machines may read so many words together faster than one by one
  const std::uint32_t pairs_at_once;

  explicit ReaderMachine(const LetterReader& reader)
      : pairs_at_once(std::max<Letter>(1, kStepsAtOnce / std::max<Letter>(1, reader.letters()))),
        reader_(reader),
        from_(reader.start()),
        to_(from_.size()) {}

  std::size_t words() const { return from_.size(); }
  Letter letters() const { return reader_.letters(); }
  Output start(std::uint32_t* memory) {
    std::ranges::copy(reader_.start(), memory);
    return reader_.answer_at_start().output;
  }
  void load(const std::uint32_t* memory) { std::copy_n(memory, from_.size(), from_.begin()); }
  /// Steps that are asked for next, in this order: with the last one's `foresee` they are made, and others forgotten.
  void ask(const std::uint32_t* memory, Letter letter, bool asked) {
    asked_.push_back(asked);
    letters_.push_back(letter);
    memories_.emplace_back(memory, memory + from_.size());
  }
  void foresee() {
    answers_.resize(letters_.size());
    reader_.step_many(letters_, memories_, std::ranges::find(asked_, true) != asked_.end(), answers_);
    for (std::size_t i = 0; i < answers_.size(); ++i)
      if (!asked_[i]) answers_[i] = {};
    foreseen_ = std::exchange(memories_, {});
    letters_.clear();
    asked_.clear();
    next_ = 0;
  }
  Output step(Letter letter, bool asked, std::uint32_t* memory) {
    if (next_ < foreseen_.size()) {
      std::ranges::copy(foreseen_[next_], memory);
      return answers_[next_++].output;
    }
    to_ = from_;
    const Output answer = reader_.step(letter, to_, asked).output;
    std::ranges::copy(to_, memory);
    return answer;
  }

 private:
  const LetterReader& reader_;
  LetterReader::Memory from_, to_;
  std::vector<bool> asked_;
  std::vector<Letter> letters_;
  std::vector<LetterReader::Memory> memories_, foreseen_;
  std::vector<LetterReader::Answer> answers_;  ///< of foreseen_
  std::size_t next_ = 0;
};

struct WhatIsAsked {
  const TrackedAutomaton& tracked;

  State initial(Output) const { return tracked.automaton.initial(); }
  bool is_right_at_start(Output answer) const { return is_right(tracked.automaton.initial(), answer); }
  bool may_follow(State state, Letter letter) const {
    return tracked.wanted[tracked.automaton.next(state, letter)] != TrackedAutomaton::kNoSuchWord;
  }
  bool is_asked(State state, Letter letter) const { return tracked.is_asked(tracked.automaton.next(state, letter)); }
  State next(State state, Letter letter, Output) const { return tracked.automaton.next(state, letter); }
  bool is_right(State after, Output answer) const {
    return !tracked.is_asked(after) || answer == tracked.wanted[after];
  }
};

/// Of the time, where long words are read too.
constexpr double kShareBeforeLongWords = 0.7;

Certificate search(const LetterReader& reader, const TrackedAutomaton& tracked, const ReaderLimits& options) {
  ReaderMachine machine(reader);
  PairLimits limits;
  limits.max_pairs = options.max_pairs;
  limits.max_bytes = options.max_bytes;
  limits.max_steps = options.max_steps;
  limits.progress = options.progress;
  const PairSearchEnd end = ReachablePairs(machine, WhatIsAsked{tracked}, limits).run();
  Certificate certificate;
  certificate.method = "closed reachable set";
  certificate.pairs = end.pairs;
  switch (end.kind) {
    case PairSearchEnd::Kind::kClosed:
      certificate.claim = Proved{};
      certificate.evidence = fmt::format(
          "breadth-first search ended after {} of automaton state and memory, all answered correctly; no word "
          "needed more than {} to reach one",
          counted(end.pairs, "pair"), counted(end.length, "letter"));
      break;
    case PairSearchEnd::Kind::kWrong:
      certificate.claim = Refuted{end.word, /*shortest=*/true};
      certificate.evidence = fmt::format("breadth-first search met a wrong answer after {} and {}",
                                         counted(end.word.size(), "letter"), counted(end.pairs, "pair"));
      break;
    case PairSearchEnd::Kind::kLimit:
      certificate.claim = ProvedUpTo{end.length};
      certificate.limit = end.limit;
      certificate.evidence = fmt::format("all {} that words of up to {} letters reach were answered correctly",
                                         counted(end.pairs, "pair"), end.length);
  }
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
      "all words of up to {} letters are right; this is the shortest wrong one found in {} of narrow search, "
      "powers of short words and random words",
      with_thousands(certificate.length()), counted(letters, "letter"));
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
