// simulate/prove/machine/certify_reader.h — proves that a machine tracks an automaton, or shows a word on which it does
// not.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/run/letter_reader.h"

namespace krohn {

struct CertifyMachineOptions {
  std::uint64_t max_pairs = 1'000'000;
  std::uint64_t max_steps = UINT64_MAX;              ///< letters read by the search of pairs
  std::uint64_t max_bytes = std::uint64_t{4} << 30;  ///< of the memories
  std::uint64_t long_letters = 0;                    ///< read in search of long failing words; 0: none are searched
  std::uint64_t seed = 1;                            ///< of random words among them
  double max_seconds = 0;                            ///< of each of the two searches; 0: no limit
  std::function<void(std::uint64_t)> progress;       ///< letters read so far; may throw Interrupted
};

/// The *closed reachable set* of MATH.md §5: breadth-first search over pairs (automaton state, all that the machine
/// remembers). Proved for words of every length when the search ends, refuted by a shortest word, or proved up to the
/// last completed length when a limit is met. Then find_failing_word goes on, and what it finds refutes, without being
/// shortest. The certificate's arithmetic is the caller's to state.
Certificate certify_machine(const LetterReader& machine, const TrackedAutomaton& tracked,
                            const CertifyMachineOptions& options);

/// Long words, until `long_letters` are read:
///   narrow      from the start, of all pairs that the letters lead to, those with the least margins are followed, some
///               for every state of the automaton
///   powers      words u v v v … for short v and u that lead to different states, and random words, all read side by
///               side, to twice the length again and again; past 512 letters, the half with the least margins goes on
/// The word that is found ends at its first wrong answer, and is then shortened: parts are left out as long as it stays
/// wrong somewhere. Nothing when none was found, which says nothing; `letters_read` counts.
std::optional<Word> find_failing_word(const LetterReader& machine, const TrackedAutomaton& tracked,
                                      const CertifyMachineOptions& options, std::uint64_t& letters_read);

/// Says after every so many letters whether the time is over.
class SearchClock {
 public:
  explicit SearchClock(double max_seconds) : max_seconds_(max_seconds) {}
  bool is_over() {
    if (max_seconds_ > 0 && ++asked_ % 64 == 0) {
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
      over_ = over_ || spent.count() > max_seconds_;
    }
    return over_;
  }

 private:
  double max_seconds_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::uint64_t asked_ = 0;
  bool over_ = false;
};

/// The machine along a word from its start.
class MachineRun {
 public:
  MachineRun(const LetterReader& machine, const TrackedAutomaton& tracked)
      : machine_(&machine), tracked_(&tracked), state_(tracked.automaton.initial()), memory_(machine.start()) {}

  /// False when the letter cannot stand here; then nothing is read.
  bool read(Letter letter) {
    const State next = tracked_->automaton.next(state_, letter);
    if (tracked_->wanted[next] == TrackedAutomaton::kNoSuchWord) return false;
    state_ = next;
    answer_ = machine_->step(letter, memory_, tracked_->is_asked(next));
    return true;
  }
  State state() const { return state_; }
  const LetterReader::Memory& memory() const { return memory_; }
  bool is_asked() const { return tracked_->is_asked(state_); }
  /// After a letter, where it is asked.
  const LetterReader::Answer& answer() const { return answer_; }
  bool is_wrong() const { return is_asked() && answer_.output != tracked_->wanted[state_]; }

 private:
  const LetterReader* machine_;
  const TrackedAutomaton* tracked_;
  State state_;
  LetterReader::Memory memory_;
  LetterReader::Answer answer_;
};

}  // namespace krohn
