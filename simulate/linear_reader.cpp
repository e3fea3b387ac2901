#include "simulate/linear_reader.h"

#include <cmath>

namespace krohn {
namespace {

/// Letters after which the norm of a state is kept: about as many as models are trained on.
constexpr std::uint64_t kSettled = 8;

/// One state read letter by letter.
class LinearState {
 public:
  LinearState(const LinearView& view, bool normalise) : normalise_(normalise), state_(view.initial), next_(state_) {}

  void read(const LinearView& view, Letter letter) {
    const std::size_t hidden = view.hidden, block = view.block;
    const float* a = view.matrices.data() + letter * hidden * block;
    for (std::size_t first = 0; first < hidden; first += block)
      for (std::size_t row = 0; row < block; ++row, a += block) {
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::size_t column = 0; column < block; ++column) sum += a[column] * state_[first + column];
        next_[first + row] = sum;
      }
    if (!view.additions.empty())
      for (std::size_t i = 0; i < hidden; ++i) next_[i] += view.additions[letter * hidden + i];
    state_.swap(next_);
    if (normalise_) normalise();
  }

  TaskLabel answer(const LinearView& view) const {
    const std::size_t hidden = state_.size();
    TaskLabel best = 0;
    float greatest = -INFINITY;
    for (TaskLabel l = 0; l < view.labels; ++l) {
      float logit = view.readout_bias[l];
      for (std::size_t i = 0; i < hidden; ++i) logit += view.readout[l * hidden + i] * state_[i];
      if (!std::isfinite(logit)) return ModelReader::kNoAnswer;
      if (logit > greatest) greatest = logit, best = l;
    }
    return best;
  }

 private:
  void normalise() {
    double sum = 0;
    for (const float x : state_) sum += double{x} * x;
    if (++read_ <= kSettled) norm_ = std::sqrt(sum);
    const auto scale = static_cast<float>(norm_ / std::sqrt(sum));
    for (float& x : state_) x *= scale;
  }

  bool normalise_;
  std::uint64_t read_ = 0;
  double norm_ = 1;
  std::vector<float> state_, next_;
};

class LinearReader : public ModelReader {
 public:
  LinearReader(std::shared_ptr<const LinearView> view, bool normalise, std::uint32_t words)
      : view_(std::move(view)), states_(words, LinearState(*view_, normalise)) {}

  void read(const TrainingBatch& batch, std::span<TaskLabel> answers) override {
    std::size_t target = 0;
    for (std::uint32_t t = 0; t < batch.positions; ++t) {
      for (std::uint32_t word = 0; word < batch.words; ++word)
        if (t < batch.lengths[word]) states_[word].read(*view_, batch.letters[std::size_t{t} * batch.words + word]);
      for (; target < batch.targets.size() && batch.targets[target].position == t; ++target)
        answers[target] = states_[batch.targets[target].word].answer(*view_);
    }
  }

 private:
  std::shared_ptr<const LinearView> view_;
  std::vector<LinearState> states_;
};

}  // namespace

std::function<std::unique_ptr<ModelReader>(std::uint32_t words)> linear_readers(LinearView view, bool normalise) {
  const bool scaled = normalise && view.additions.empty();
  const auto shared = std::make_shared<const LinearView>(std::move(view));
  return [shared, scaled](std::uint32_t words) { return std::make_unique<LinearReader>(shared, scaled, words); };
}

}  // namespace krohn
