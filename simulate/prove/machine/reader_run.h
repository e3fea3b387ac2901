// simulate/prove/machine/reader_run.h — a machine that reads letters along one word, beside what it is held against.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

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

}  // namespace krohn
