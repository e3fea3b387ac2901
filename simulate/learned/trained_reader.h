// simulate/learned/trained_reader.h — a trained model as a machine that reads its task's input letters and answers with
// the task's labels: what `krohn verify`, `extract` and `snap` ask.
//
// The special tokens of the task stand around every word: those before it are read into the memory at the start, those
// after it into every answer and then forgotten. The model is read by its list of operations
// (simulate/learned/model_operations.h) in fp32, fp64 or for cells bf16: with the same bits on every processor, which
// are not those of the training kernels, by which `krohn eval` reads linear models.
#pragma once

#include <memory>

#include "krohn/simulate/learned/extract_automaton.h"
#include "krohn/simulate/learned/letter_maps.h"
#include "krohn/simulate/learned/spectrum.h"
#include "krohn/simulate/learned/state_centres.h"
#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/run/letter_reader.h"
#include "krohn/simulate/tasks/task.h"
#include "krohn/simulate/tasks/task_automaton.h"

namespace krohn {

class TrainedReader : public LetterReader {
 public:
  /// The recurrent states of the memory, without the tokens that convolutions keep: one list for each layer and head.
  virtual std::vector<std::vector<double>> states(const Memory& memory) const = 0;
  virtual bool is_homogeneous() const = 0;
  /// The blocks of the first layer's recurrent state that letters multiply by matrices, and the matrices for a letter
  /// of the task's inputs that stands behind copies of itself, as far back as a convolution looks.
  virtual std::vector<StateBlock> blocks() const = 0;
  virtual LetterMaps letter_maps(Letter letter) const = 0;
};

/// The model needs its task, of which it keeps nothing, and is copied. Throws InputError when the letters or labels of
/// model and task differ, for a task without an automaton, and for another precision than fp32 and fp64.
std::unique_ptr<TrainedReader> trained_machine(const SequenceModel<float>& model, const Task& task,
                                               Precision precision);

/// The automaton that the model follows. What the task never asks about, the empty word in most tasks and inputs that
/// are no expressions, has the outputs of the task's automaton; so have words below `least_length` (tracked_automaton).
Extraction extract_trained(const TrainedReader& machine, const Task& task, const ExtractOptions& options,
                           std::uint64_t least_length = 0);

/// One letter of a word of the task: the automaton's states before and after it, whether the task asks there, and the
/// recurrent states after it, a list for each layer and head.
struct StateVisit {
  State from;
  Letter letter;
  State state;
  bool is_asked;
  std::vector<std::vector<double>> parts;
};

/// Along random words of the task, read by a machine and by an automaton over the task's input letters.
std::vector<StateVisit> state_visits(const TrainedReader& machine, const Task& task, const Dfa& automaton,
                                     const CentreOptions& options = {});

/// Where the recurrent states lie while the model is in each state of an automaton over the task's input letters: the
/// mean over the visits, after words of the task. Every layer's and head's numbers are divided by their root mean
/// square over all visits, so that each counts alike; of a homogeneous recurrence, whose states may grow with every
/// letter, each visit by its own Euclidean norm. States that no word visited are what the model remembers after a
/// shortest word. Throws InputError when a number is not finite.
StateCentres trained_centres(const TrainedReader& machine, const Task& task, const Dfa& automaton,
                             const CentreOptions& options = {});

/// What the letters do to the first layer's recurrent state. A mode weighs by how far the mean states of the task's
/// automaton move along it.
Spectrum trained_spectrum(const TrainedReader& machine, const Task& task);

}  // namespace krohn
