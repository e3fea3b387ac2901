// simulate/models/sequence_model.h — a model that reads words letter by letter and answers: what the trainer, the
// evaluator and files need of one, whatever its recurrence.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

// A trained model of one linear layer and a linear read-out: h_t = A(x_t) h_{t−1} +
// b(x_t), and the answer is the arg max of W h_t + c.

/// Every number as the model holds it. A is block-diagonal with blocks of s×s, s = `block`: block k of letter σ is at
/// ((σ · blocks + k) · s + row) · s + column of `matrices`.
struct LinearModel {
  std::uint32_t hidden = 0, block = 0, letters = 0, labels = 0;
  std::vector<float> matrices;
  std::vector<float> additions;  ///< b(σ): `hidden` numbers a letter; or empty: none
  std::vector<float> initial;    ///< h_0
  std::vector<float> readout;    ///< W, labels × hidden
  std::vector<float> readout_bias;
  std::string source;  ///< paper and place
};

/// How one batch went.
struct BatchLoss {
  double loss = 0;  ///< mean cross-entropy over the targets, in nats
  std::uint64_t right = 0, targets = 0;
};

/// One named tensor among a model's parameters. Empty (an extent of 0): in no file.
struct ParameterPart {
  std::string name;
  std::vector<std::uint64_t> shape;
};

/// The loss that teaches a model to forget disturbances: every word is read twice, with independent noise on all that is
/// passed from letter to letter, and a distance between the two memories costs. Proofs for words of every length need
/// such contraction: memories behind words that mean the same then come together, bit for bit.
struct TwinReading {
  double weight = 0;  ///< λ of the term λ · mean |m − m'|², m and m' what the readings remember after a letter
  double noise = 0;   ///< its standard deviation; a GRU's gates z cost 3 · noise · mean Σ −log(1 − z) in either reading
  std::uint64_t seed = 0;  ///< of the noise
};

/// Words read side by side, some positions at a time.
class ModelReader {
 public:
  /// Answers that the model does not give: two are equally good; one of its logits is not finite.
  static constexpr TaskLabel kNoAnswer = UINT32_MAX, kNotFinite = UINT32_MAX - 1;

  virtual ~ModelReader() = default;
  /// Reads the batch's positions after all those read before; answers[i] is what the model says at batch.targets[i].
  /// Every batch has the number of words with which the reader was made.
  virtual void read(const TrainingBatch& batch, std::span<TaskLabel> answers) = 0;
};

/// Real is float for training, double for checking the adjoint by finite differences.
template <class Real>
class SequenceModel {
 public:
  virtual ~SequenceModel() = default;

  /// The argument of make_model that makes a model of this shape.
  virtual std::string name() const = 0;
  Letter letters() const { return letters_; }
  std::uint32_t labels() const { return labels_; }

  /// All parameters one after another, and where those begin that are trained.
  std::span<Real> parameters() { return parameters_; }
  std::span<const Real> parameters() const { return parameters_; }
  virtual std::size_t first_trained() const { return 0; }
  /// Numbers that training leaves as they are, because the module that was imported does not have them: the biases of a
  /// layer without any, say.
  struct FixedNumbers {
    std::size_t first = 0;
    std::vector<Real> numbers;
  };
  void fix(std::size_t first, std::size_t count) {
    const auto begin = parameters_.begin() + static_cast<std::ptrdiff_t>(first);
    fixed_.push_back({first, {begin, begin + static_cast<std::ptrdiff_t>(count)}});
  }
  void fix_as(const SequenceModel& other) { fixed_ = other.fixed_; }
  std::span<const FixedNumbers> fixed() const { return fixed_; }
  /// After a step.
  void restore_fixed() {
    for (const FixedNumbers& fixed : fixed_)
      std::ranges::copy(fixed.numbers, parameters_.begin() + static_cast<std::ptrdiff_t>(fixed.first));
  }
  /// How many threads `loss` may take, 0: as many as OpenMP gives. They change no bit of what it gives.
  void use_threads(unsigned threads) { threads_ = threads; }

  /// The tensors among them, in the order of `parameters`.
  const std::vector<ParameterPart>& tensor_parts() const { return parts_; }
  /// Where a tensor begins. Throws InputError where there is none of that name.
  std::size_t begin_of(std::string_view name) const { return begin_of(index_of(name)); }
  /// Its numbers; throws likewise.
  std::span<const Real> tensor(std::string_view name) const { return part(index_of(name)); }
  std::span<Real> tensor(std::string_view name) { return part(index_of(name)); }

  /// The loss of a batch, and its gradient by every parameter added to `gradient` (as long as `parameters`, or empty:
  /// no gradient). Targets of the batch are ordered as draw_batch orders them.
  BatchLoss loss(const TrainingBatch& batch, std::span<Real> gradient) const {
    return loss_of(batch, nullptr, gradient);
  }
  /// The same for a model that `reads_twice`: the mean of both readings' losses, and the term, over the letters of all
  /// words and all that the layers remember; the answers are those of both. Throws InputError for another one.
  BatchLoss twin_loss(const TrainingBatch& batch, const TwinReading& twin, std::span<Real> gradient) const;
  virtual bool reads_twice() const { return false; }

  /// Where the scale of a state tells nothing, `settle` changes the parameters to others, over the reals of the same
  /// answers, whose states neither grow nor shrink on such words. For a model that is trained no further.
  virtual bool settles() const { return false; }
  virtual void settle(const TrainingBatch& words) { static_cast<void>(words); }

  /// The model as h_t = A(x_t) h_{t−1} + b(x_t) with a linear read-out, where it is that.
  virtual std::optional<LinearModel> linear_view() const { return std::nullopt; }

  /// Parameters by name and shape, and back. Throws InputError naming what is missing or of another shape.
  TensorFile tensors() const;
  void load(const TensorFile& tensors);

 protected:
  /// All parameters 0. Throws LimitError when there are more than 2^28.
  SequenceModel(Letter letters, std::uint32_t labels, std::vector<ParameterPart> parts);

  /// `loss`, or with `twin` twin_loss, for which only a model that reads twice is asked.
  virtual BatchLoss loss_of(const TrainingBatch& batch, const TwinReading* twin, std::span<Real> gradient) const = 0;

  unsigned threads() const { return threads_; }
  /// Not 0.
  unsigned used_threads() const;
  std::size_t begin_of(std::size_t part) const { return begin_[part]; }
  std::span<const Real> part(std::size_t index) const { return part_of(parameters(), index); }
  std::span<Real> part(std::size_t index) { return part_of(parameters(), index); }
  /// The part of a list as long as `parameters`: of the gradient.
  template <class Number>
  std::span<Number> part_of(std::span<Number> all, std::size_t index) const {
    return all.subspan(begin_[index], begin_[index + 1] - begin_[index]);
  }

 private:
  std::size_t index_of(std::string_view name) const;

  Letter letters_;
  std::uint32_t labels_;
  unsigned threads_ = 1;
  std::vector<ParameterPart> parts_;
  std::vector<std::size_t> begin_;
  std::vector<Real> parameters_;
  std::vector<FixedNumbers> fixed_;
};

extern template class SequenceModel<float>;
extern template class SequenceModel<double>;

}  // namespace krohn
