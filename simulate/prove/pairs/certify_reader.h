// simulate/prove/pairs/certify_reader.h — proves that a machine tracks an automaton, or shows a word on which it does
// not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/run/letter_reader.h"

namespace krohn {

/// The machine along a word from its start.
class ReaderRun {
 public:
  ReaderRun(const LetterReader& machine, const TrackedAutomaton& tracked)
      : machine_(&machine),
        tracked_(&tracked),
        state_(tracked.automaton.initial()),
        memory_(machine.start()),
        answer_(machine.answer_at_start()) {}

  /// False when the letter cannot stand here; then nothing is read.
  bool read(Letter letter) {
    const State next = tracked_->automaton.next(state_, letter);
    if (tracked_->wanted[next] == TrackedAutomaton::kNoSuchWord) return false;
    state_ = next;
    answer_ = machine_->step(letter, memory_, tracked_->is_asked(next));
    return true;
  }
  /// The same for many runs of one machine, each with its letter. By run, whether the letter can stand there.
  static std::vector<bool> read_all(std::span<ReaderRun* const> runs, std::span<const Letter> letters) {
    std::vector<bool> may_follow(runs.size());
    std::vector<ReaderRun*> going;
    std::vector<Letter> read;
    std::vector<LetterReader::Memory> memories;
    bool asked = false;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      ReaderRun& run = *runs[i];
      const State next = run.tracked_->automaton.next(run.state_, letters[i]);
      may_follow[i] = run.tracked_->wanted[next] != TrackedAutomaton::kNoSuchWord;
      if (!may_follow[i]) continue;
      run.state_ = next;
      asked = asked || run.is_asked();
      going.push_back(&run);
      read.push_back(letters[i]);
      memories.push_back(std::move(run.memory_));
    }
    std::vector<LetterReader::Answer> answers(going.size());
    if (!going.empty()) going[0]->machine_->step_many(read, memories, asked, answers);
    for (std::size_t i = 0; i < going.size(); ++i) {
      going[i]->memory_ = std::move(memories[i]);
      going[i]->answer_ = going[i]->is_asked() ? answers[i] : LetterReader::Answer{};
    }
    return may_follow;
  }
  State state() const { return state_; }
  const LetterReader::Memory& memory() const { return memory_; }
  bool is_asked() const { return tracked_->is_asked(state_); }
  /// Before the first letter, and after every one where it is asked.
  const LetterReader::Answer& answer() const { return answer_; }
  bool is_wrong() const { return is_asked() && answer_.output != tracked_->wanted[state_]; }

 private:
  const LetterReader* machine_;
  const TrackedAutomaton* tracked_;
  State state_;
  LetterReader::Memory memory_;
  LetterReader::Answer answer_;
};

// How hard a machine that reads letters is questioned. The time is that of
// groups/base/time_limit.h.

struct ReaderLimits {
  std::uint64_t max_pairs = 1'000'000;
  std::uint64_t max_steps = UINT64_MAX;              ///< letters read by the search of pairs
  std::uint64_t max_bytes = std::uint64_t{4} << 30;  ///< of the memories
  std::uint64_t long_letters = 0;                    ///< read in search of long failing words; 0: none are searched
  std::uint64_t seed = 1;                            ///< of random words among them
  std::function<void(std::uint64_t)> progress;       ///< pairs so far; may throw Interrupted
  /// Letters so far, and of how many, in search of long failing words; may throw Interrupted.
  std::function<void(std::uint64_t, std::uint64_t)> long_progress = {};
};

// The search for long words on which a machine fails, where no search of pairs
// gets so far: errors add up, and some words let them.

/// Long words, until `long_letters` are read:
///   narrow      from the start, of all pairs that the letters lead to, those with the least margins are followed, some
///               for every state of the automaton
///   powers      words u v v v … for short v and u that lead to different states, and random words, all read side by
///               side, to twice the length again and again; past 512 letters, the half with the least margins goes on
/// The word that is found ends at its first wrong answer, and is then shortened: parts are left out as long as it stays
/// wrong somewhere. Nothing when none was found, which says nothing; `letters_read` counts.
std::optional<Word> find_failing_word(const LetterReader& machine, const TrackedAutomaton& tracked,
                                      const ReaderLimits& options, std::uint64_t& letters_read);

/// The *closed reachable set* of MATH.md §5: breadth-first search over pairs (automaton state, all that the machine
/// remembers). Proved for words of every length when the search ends, refuted by a shortest word, or proved up to the
/// last completed length when a limit is met; then try_long_words. The certificate's arithmetic is the caller's to
/// state.
Certificate certify_reader(const LetterReader& reader, const TrackedAutomaton& tracked, const ReaderLimits& limits);

/// Where no more than a length is proved: what find_failing_word finds refutes, without being shortest.
void try_long_words(Certificate& certificate, const LetterReader& reader, const TrackedAutomaton& tracked,
                    const ReaderLimits& limits);

}  // namespace krohn
