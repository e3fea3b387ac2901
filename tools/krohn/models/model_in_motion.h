// tools/krohn/models/model_in_motion.h — a trained or imported model, or a checkpoint of another library, where a
// network is expected to run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/simulate/prove/pairs/certify_reader.h"
#include "tools/krohn/models/run_folder.h"

namespace krohn {

/// A reader of letters beside an automaton over them.
struct ReadBeside {
  std::unique_ptr<const LetterReader> reader;
  TrackedAutomaton tracked;
  Dfa automaton;
  std::vector<Output> outputs;  ///< of the reader, by state of the automaton
  /// Throws InputError for a letter of the automaton that cannot stand there.
  std::function<void(Letter)> refuse = {};
};

/// Reads letters as an Evaluator does, and answers with states of the automaton, or with nothing. The model answers
/// with an output, not with a state: where that is the output of the state that the automaton is in, or nothing is
/// asked there, the answer is that state; else it is the first state with that output, or none.
class ModelInMotion {
 public:
  explicit ModelInMotion(ReadBeside beside);
  ModelInMotion(const ModelInMotion&) = delete;
  ModelInMotion& operator=(const ModelInMotion&) = delete;

  void reset();
  std::optional<State> step(Letter letter);
  void run(std::span<const Letter> letters, std::span<State> states);
  std::optional<State> current() const;
  LetterReader::Missing missing() const;

 private:
  ReadBeside beside_;
  ReaderRun run_;
  State state_;  ///< the automaton's
};

/// Its answers are tokens, which states may share. Throws InputError when the checkpoint has no automaton, and for
/// another precision than fp32 and bf16.
std::unique_ptr<ModelInMotion> checkpoint_in_motion(Checkpoint checkpoint, Precision precision);

/// Over the letters of the task's automaton. Reading throws InputError at a letter that no word of the task has there.
std::unique_ptr<ModelInMotion> trained_in_motion(TrainedSubject subject, Precision precision);

}  // namespace krohn
