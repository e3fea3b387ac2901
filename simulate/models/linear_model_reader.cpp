#include "krohn/simulate/models/linear_model_reader.h"

#include <algorithm>

namespace krohn {
namespace {

static_assert(ModelReader::kNoAnswer == UINT32_MAX && ModelReader::kNotFinite == UINT32_MAX - 1);  // of answer_of

typedef float Four __attribute__((vector_size(16), aligned(4), may_alias));
Four load(const float* from) { return *reinterpret_cast<const Four*>(from); }
void store(float* to, const Four& four) { *reinterpret_cast<Four*>(to) = four; }

/// A model, and its read-out with the labels of a column side by side, a multiple of eight.
struct View : LinearModel {
  explicit View(LinearModel model)
      : LinearModel(std::move(model)), padded((labels + 7) / 8 * 8), columns(hidden * padded), biases(padded) {
    for (TaskLabel l = 0; l < labels; ++l) {
      biases[l] = readout_bias[l];
      for (std::size_t i = 0; i < hidden; ++i) columns[i * padded + l] = readout[l * hidden + i];
    }
  }
  std::size_t padded;
  std::vector<float> columns, biases;
};

/// row_sum of four rows of a multiple of four columns, one row behind the other.
Four four_row_sums(const float* a, const float* x, std::size_t columns) {
  Four sums[4]{};
  for (std::size_t column = 0; column < columns; column += 4)
    for (std::size_t row = 0; row < 4; ++row) sums[row] += load(a + row * columns + column) * load(x + column);
  const auto of = [&](std::size_t j) { return Four{sums[0][j], sums[1][j], sums[2][j], sums[3][j]}; };
  return of(0) + of(1) + of(2) + of(3);
}

/// One state read letter by letter.
class LinearState {
 public:
  LinearState(const View& view, bool rescaled)
      : rescaled_(rescaled), state_(view.initial), next_(state_), logits_(view.padded) {}

  void read(const View& view, Letter letter) {
    const std::size_t hidden = view.hidden, block = view.block;
    const float* a = view.matrices.data() + letter * hidden * block;
    for (std::size_t first = 0; first < hidden; first += block)
      if (block % 4 == 0)
        for (std::size_t row = 0; row < block; row += 4, a += 4 * block)
          store(next_.data() + first + row, four_row_sums(a, state_.data() + first, block));
      else
        for (std::size_t row = 0; row < block; ++row, a += block)
          next_[first + row] = row_sum(a, state_.data() + first, block);
    if (!view.additions.empty())
      for (std::size_t i = 0; i < hidden; ++i) next_[i] += view.additions[letter * hidden + i];
    state_.swap(next_);
    if (rescaled_) rescale();
  }

  /// By logit_of, eight labels at a time.
  TaskLabel answer(const View& view) {
    for (std::size_t l = 0; l < view.padded; l += 8) {
      Four first = load(view.biases.data() + l), second = load(view.biases.data() + l + 4);
      const float* column = view.columns.data() + l;
      for (const float x : state_) {
        first += load(column) * x;
        second += load(column + 4) * x;
        column += view.padded;
      }
      store(logits_.data() + l, first);
      store(logits_.data() + l + 4, second);
    }
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
  LinearModelReader(std::shared_ptr<const View> view, bool rescaled, std::uint32_t words)
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
  std::shared_ptr<const View> view_;
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
  const auto shared = std::make_shared<const View>(std::move(view));
  return [shared, scaled](std::uint32_t words) { return std::make_unique<LinearModelReader>(shared, scaled, words); };
}

}  // namespace krohn
