// simulate/prove/machine/reader_run.h — a machine that reads letters along one word, beside what it is held against.
#pragma once

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

}  // namespace krohn
