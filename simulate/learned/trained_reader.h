// simulate/learned/trained_reader.h — a trained model as a machine that reads its task's input letters and answers with
// the task's labels: what `krohn verify`, `extract` and `snap` ask.
//
// The special tokens of the task stand around every word: those before it are read into the memory at the start, those
// after it into every answer and then forgotten. The model is read by its list of operations
// (simulate/learned/model_operations.h) in fp32, fp64 or for cells bf16: with the same bits on every processor and
// device.
#pragma once

#include <Eigen/Core>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/constructions/network/network.h"
#include "krohn/simulate/arithmetic/arithmetic_name.h"
#include "krohn/simulate/learned/extract_automaton.h"
#include "krohn/simulate/learned/spectrum.h"
#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/prove/verify.h"
#include "krohn/simulate/run/letter_reader.h"
#include "krohn/simulate/tasks/task.h"
#include "krohn/simulate/tasks/tasks.h"

namespace krohn {

// The recurrent states among the numbers that a model remembers, and what its letters
// do to them.

/// A recurrent state among the numbers that are remembered: of one layer, and of one head where there are several.
struct StatePart {
  std::size_t first = 0, count = 0;
};

/// `size` × `columns` numbers of the memory, row by row.
struct StateBlock {
  std::size_t first = 0, size = 0, columns = 0;
};

/// The matrix by which a letter multiplies each block. For reflections, also their β, head by head.
struct LetterMaps {
  std::vector<Eigen::MatrixXd> matrices;
  std::vector<double> betas;
};

// Where a network's numbers lie while it is in each state of an automaton: the code
// that it has learned.

struct StateCentres {
  Eigen::MatrixXd centres;  ///< numbers of all layers × states: the mean over the visits
  double spread = 0;        ///< greatest distance of a visit from the centre of its state
  /// Every visit was scaled first. Of a network of one layer without additions: to Euclidean norm 1, because a scale
  /// tells nothing.
  bool is_scaled = false;
};

struct CentreOptions {
  std::uint64_t words = 400, length = 24, seed = 1;
};

/// The network's numbers after a shortest word to each state, numbers × states. The automaton's letters have the
/// network's names in the network's order, as below. Throws InputError when they do not.
Eigen::MatrixXd reached_numbers(const Network& network, const Dfa& automaton, ArithmeticName arithmetic);

/// Runs network and automaton side by side over random words; the automaton's letters have the network's names in the
/// network's order. States that no word visited are the network's numbers after a shortest word to them. Throws
/// InputError when the alphabets differ, or a number is not finite.
StateCentres state_centres(const Network& network, const Dfa& automaton, ArithmeticName arithmetic,
                           const CentreOptions& options = {});

/// A shortest word to every state that one leads to; the empty word to others.
std::vector<Word> access_words(const Dfa& automaton);

/// For two columns; 0 when there are fewer. Of n columns up to n²/2 are compared: those that the row of the greatest
/// variance does not tell apart by more.
double least_distance(const Eigen::MatrixXd& points);

/// A letter as the network does it, and as the automaton says: A C + B beside scale · C E with E the one-hot matrix of
/// the letter. The scale is 1 unless the centres are scaled.
struct LetterError {
  double scale = 1;
  double distance = 0;  ///< Frobenius distance by the norm of scale · C E
};

/// One per letter. Throws InputError unless the network has one layer.
std::vector<LetterError> letter_errors(const Network& network, const Dfa& automaton, const StateCentres& centres);

/// The share of the centres' variance that a linear image of another code explains: 1 − min_T ‖C − T K‖² / ‖C‖², both
/// less their means. Columns are states. 1 when the centres are all one point.
double explained_share(const Eigen::MatrixXd& centres, const Eigen::MatrixXd& code);

class TrainedReader : public LetterReader {
 public:
  /// The recurrent states of the memory, without the tokens that convolutions keep: one list for each layer and head.
  virtual std::vector<std::vector<double>> states(const Memory& memory) const = 0;
  virtual bool is_homogeneous() const = 0;
  /// The blocks of the first layer's recurrent state that letters multiply by matrices, and the matrices for a letter
  /// of the task's inputs that stands behind copies of itself, as far back as a convolution looks.
  virtual std::vector<StateBlock> blocks() const = 0;
  virtual LetterMaps letter_maps(Letter letter) const = 0;
  /// The operations, for certificates and devices, and the tensors of the model's file; null where its answers are not
  /// the numbers of the list's logits.
  virtual const Operations* operations() const { return nullptr; }
  virtual const TensorFile* tensors() const { return nullptr; }
  /// The model that reads words for it, wherever that is done, and the meaning here of an answer there.
  virtual ReadModel reading(const TrackedAutomaton& tracked) const {
    return {.reader = *this,
            .tracked = tracked,
            .operations = {std::shared_ptr<void>(), operations()},
            .tensors = tensors()};
  }
  virtual Output meaning(Output answer) const { return answer; }
};

/// The model needs its task, of which it keeps nothing, and is copied. Throws InputError when the letters or labels of
/// model and task differ, for a task without an automaton, and for another precision than fp32 and fp64.
std::unique_ptr<TrainedReader> trained_machine(const SequenceModel<float>& model, const Task& task,
                                               Precision precision);

/// The machine held against the automaton of its task, or against `language`, where the task asks and the word has at
/// least `least_length` letters: what every verdict about it is asked of. Answers have the names of the task's outputs.
ReadModel subject_of(std::shared_ptr<const TrainedReader> machine, const Task& task, const Dfa* language = nullptr,
                     std::uint64_t least_length = 0);

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

/// The letters' effect on the first layer's recurrent state. A mode weighs by how far the mean states of the task's
/// automaton move along it.
Spectrum trained_spectrum(const TrainedReader& machine, const Task& task);

/// The logits after every letter of a word, a row of one number for each label: by the model's own letters, special
/// tokens of its task included, in the arithmetic of `trained_machine`.
using TrainedLogits = std::function<void(std::span<const Letter> word, std::span<double> logits)>;
TrainedLogits trained_logits(const SequenceModel<float>& model, Precision precision);

/// The factor by which a small disturbance of a model's memory has grown or shrunk after 8 and 24 more letters: the
/// greatest of those tried, in up to 32 directions, behind 12 letters of random, periodic and stuttering words, and of
/// random ones that go on with one letter, each in turn. Measured by central differences in fp64; below 10⁻¹¹ it is
/// noise.
struct Contraction {
  double after_8 = 0, after_24 = 0;
  std::uint64_t words = 0;
};
Contraction measured_contraction(const SequenceModel<float>& model, const Task& task);

// A checkpoint of another library as a machine like the trained models of
// simulate/learned/trained_reader.h: what `krohn extract`, `snap` and `compare` ask.

/// Words of the checkpoint's automaton, with the automaton's output due at every letter. Throws InputError when there
/// is none.
std::unique_ptr<Task> checkpoint_task(const Checkpoint& checkpoint);

/// It answers with the outputs of its automaton: that of the state whose token is the arg max of the logits, or none.
/// It has read the token that begins words. Arithmetic and order are those of simulate/checkpoints/checkpoint_model.h;
/// precision is fp32 or bf16. Its blocks are the heads of the first layer; `letter_maps` throws InputError where the
/// keys of that layer look at tokens before, so that a letter is no one matrix. Throws InputError when there is no
/// automaton.
std::unique_ptr<TrainedReader> checkpoint_machine(Checkpoint checkpoint, Precision precision);

/// As extract_trained. Where the memories that words lead to are finitely many, up to `max_network_states`, the machine
/// is tabulated first, and the automaton compared with it for words of every length.
Extraction extract_checkpoint(const TrainedReader& machine, const Task& task, const ExtractOptions& options);

}  // namespace krohn
