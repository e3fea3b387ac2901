#include "krohn/simulate/models/linear_model_reader.h"

#include <algorithm>

namespace krohn {
namespace {

static_assert(ModelReader::kNoAnswer == UINT32_MAX && ModelReader::kNotFinite == UINT32_MAX - 1);  // of answer_of

/// One state read letter by letter.
class LinearState {
 public:
  LinearState(const LinearModel& view, bool rescaled) : rescaled_(rescaled), state_(view.initial), next_(state_) {}

  void read(const LinearModel& view, Letter letter) {
    const std::size_t hidden = view.hidden, block = view.block;
    const float* a = view.matrices.data() + letter * hidden * block;
    for (std::size_t first = 0; first < hidden; first += block)
      for (std::size_t row = 0; row < block; ++row, a += block)
        next_[first + row] = row_sum(a, state_.data() + first, block);
    if (!view.additions.empty())
      for (std::size_t i = 0; i < hidden; ++i) next_[i] += view.additions[letter * hidden + i];
    state_.swap(next_);
    if (rescaled_) rescale();
  }

  TaskLabel answer(const LinearModel& view) {
    logits_.resize(view.labels);
    for (TaskLabel l = 0; l < view.labels; ++l)
      logits_[l] =
          logit_of(view.readout.data() + l * state_.size(), state_.data(), state_.size(), view.readout_bias[l]);
    return answer_of(logits_.data(), view.labels);
  }

 private:
  void rescale() {
    const float scale = norm_scale(state_.data(), state_.size(), ++read_, norm_);
    for (float& x : state_) x *= scale;
  }

  bool rescaled_;
  std::uint64_t read_ = 0;
  double norm_ = 1;
  std::vector<float> state_, next_, logits_;
};

class LinearModelReader : public ModelReader {
 public:
  LinearModelReader(std::shared_ptr<const LinearModel> view, bool rescaled, std::uint32_t words)
      : view_(std::move(view)), states_(words, LinearState(*view_, rescaled)) {}

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
  std::shared_ptr<const LinearModel> view_;
  std::vector<LinearState> states_;
};

}  // namespace

Rescaling rescaling_of(const LinearModel& view) {
  if (!view.additions.empty()) return Rescaling::kNone;
  const bool is_neutral = std::ranges::all_of(view.readout_bias, [&](float c) { return c == view.readout_bias[0]; });
  return is_neutral ? Rescaling::kNeutral : Rescaling::kAnotherFunction;
}

std::function<std::unique_ptr<ModelReader>(std::uint32_t words)> linear_readers(LinearModel view, bool rescaled) {
  const bool scaled = rescaled && rescaling_of(view) != Rescaling::kNone;
  const auto shared = std::make_shared<const LinearModel>(std::move(view));
  return [shared, scaled](std::uint32_t words) { return std::make_unique<LinearModelReader>(shared, scaled, words); };
}

}  // namespace krohn
