// simulate/train/evaluate_model.h — how often a trained model is right, by length, and the network that it is.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/prove/claims/operations.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

/// Wilson's score interval (1927) with 95 % confidence, for a share of `all` trials.
struct ProportionInterval {
  double low = 0, high = 1;
};
ProportionInterval confidence(double share, std::uint64_t all);

/// Answers at one length.
struct ModelAccuracy {
  std::uint64_t length = 0, words = 0;
  std::uint64_t right = 0, targets = 0;  ///< answers due, over all words
  std::uint64_t right_words = 0;         ///< words whose answers are all right
  std::uint64_t not_finite = 0;          ///< answers that a logit which is not finite prevents; not counted on devices

  double accuracy() const { return static_cast<double>(right) / static_cast<double>(targets); }

  /// The interval of the accuracy, in which words count: several answers of one are not independent.
  ProportionInterval interval() const { return confidence(accuracy(), words); }
};

/// (accuracy − chance) / (1 − chance) (MATH.md §1); where there is one label alone, and chance is 1, the accuracy.
double scaled(double accuracy, double chance);

struct EvaluateModelOptions {
  std::uint64_t words = 1000;
  std::uint64_t seed = 1'000'003;  ///< of the samples; not that of training
  bool rescaled = false;           ///< as listed_model; the trained model is what it is without
  unsigned threads = 0;
  std::function<void(std::uint64_t, std::uint64_t)> progress;  ///< letters done, letters in all; may throw Interrupted
};

/// Which function the figures are of: "as trained", or "rescaled" and what that changes. Rescaling leaves models alone
/// that are no linear recurrence, or that have additions.
std::string reading_of(const SequenceModel<float>& model, bool rescaled);

/// The model's operations with its letters for tokens, in fp32, `rescaled` or not.
Operations operations_by_letters(const SequenceModel<float>& model, bool rescaled);

/// Makes readers of any number of words, each at its beginning, by the model's operations, in the arithmetic in which
/// proofs speak of it.
std::function<std::unique_ptr<ModelReader>(std::uint32_t words)> model_readers(const SequenceModel<float>& model,
                                                                               bool rescaled);

/// Samples of one length, read some tokens at a time; memory does not grow with the length. Deterministic whatever the
/// number of threads. Throws InputError when the task does not have the length.
ModelAccuracy evaluate_model(const SequenceModel<float>& model, const Task& task, std::uint64_t length,
                             const EvaluateModelOptions& options);

/// The model's recurrence with nearest codewords in place of its read-out, as a network over the task's input letters,
/// without special tokens: the token before the input is read into H_0, the one after it into the codewords. Over the
/// reals the arg max of W h + c over labels is the nearest codeword (w_l, e_l) in one more dimension, in which h is 0
/// and e_l² = K − 2c_l − ‖w_l‖²; in fp64 distances tie once ‖h‖² passes 2^53 times their differences, where the model
/// still answers. So claims about the network are none about the model: those are of simulate/learned/trained_reader.h.
/// Weights are the floats of the model, except H_0 and the codewords, which are double. The automaton is the task's;
/// its states have to be told apart by their outputs, but for an initial state that nothing leads back to. Throws
/// InputError when they are not, or the task has no automaton, or the model no linear view.
Network network_of(const SequenceModel<float>& model, const Task& task);

}  // namespace krohn
