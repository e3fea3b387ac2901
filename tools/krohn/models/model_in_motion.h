// tools/krohn/models/model_in_motion.h — a trained or imported model, or a checkpoint of another library, where a
// network is expected to run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/constructions/network/network.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/run/letter_reader.h"
#include "tools/krohn/models/run_folder.h"

namespace krohn {

/// Reads letters and answers with states of the automaton, or with nothing.
class ModelInMotion {
 public:
  virtual ~ModelInMotion() = default;
  virtual void reset() = 0;
  /// Reads a letter; the answer after it.
  virtual std::optional<State> step(Letter letter) = 0;
  /// Many steps at once: states[t] is the answer after letters[t], or kNoState. The two spans have one length.
  virtual void run(std::span<const Letter> letters, std::span<State> states) {
    for (std::size_t t = 0; t < letters.size(); ++t) states[t] = step(letters[t]).value_or(kNoState);
  }
  /// The answer after the letters so far; where there is none, the reason.
  virtual std::optional<State> current() const = 0;
  virtual LetterReader::Missing missing() const = 0;
};

std::unique_ptr<ModelInMotion> network_in_motion(std::unique_ptr<Evaluator> network);

/// A reader of letters beside an automaton over them.
struct ReadBeside {
  std::unique_ptr<const LetterReader> reader;
  TrackedAutomaton tracked;
  Dfa automaton;
  std::vector<Output> outputs;  ///< of the reader, by state of the automaton
  /// Throws InputError for a letter of the automaton that cannot stand there.
  std::function<void(Letter)> refuse = {};
};

/// The model answers with an output, not with a state: where that is the output of the state that the automaton is in,
/// or nothing is asked there, the answer is that state; else it is the first state with that output, or none.
std::unique_ptr<ModelInMotion> reader_in_motion(ReadBeside beside);

/// Its answers are tokens, which states may share. Throws InputError when the checkpoint has no automaton, and for
/// another precision than fp32 and bf16.
std::unique_ptr<ModelInMotion> checkpoint_in_motion(Checkpoint checkpoint, Precision precision);

/// Over the letters of the task's automaton. Reading throws InputError at a letter that no word of the task has there.
std::unique_ptr<ModelInMotion> trained_in_motion(TrainedSubject subject, Precision precision);

}  // namespace krohn
