#include "krohn/simulate/evaluate/lanes/batch.h"

#include <algorithm>
#include <utility>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/simulate/arithmetic/parallel_for.h"
#include "krohn/simulate/evaluate/lanes/lane_layer.h"

namespace krohn {
namespace {

constexpr std::size_t kPiece = 64;  ///< letters of every word that one layer reads before the next one does

/// Runs one program of this arithmetic.
template <class A>
using LaneKernelOf = void (*)(const LaneProgram<LaneNumber<A>>&, const LaneRun<LaneNumber<A>>&);

template <class A>
LaneKernelOf<A> kernel_of(const LaneKernels& kernels) {
  if constexpr (std::is_same_v<A, Fp64>)
    return kernels.fp64;
  else if constexpr (std::is_same_v<A, Fp32>)
    return kernels.fp32;
  else if constexpr (std::is_same_v<A, Fp16>)
    return kernels.fp16;
  else
    return kernels.bf16;
}

template <class A>
class VectorLanes final : public LaneEvaluator {
 public:
  using Number = LaneNumber<A>;

  VectorLanes(std::shared_ptr<const LaneNetwork<A>> network, LaneKernelOf<A> kernel)
      : network_(std::move(network)),
        kernel_(kernel),
        exact_(network_->rounded.make_scratch()),
        letters_(kPiece * kLanes),
        contexts_(kPiece * kLanes) {
    for (const LaneLayer<A>& layer : network_->layers) {
      const std::size_t dimension = layer.program().dimension, size = dimension * layer.program().columns;
      lanes_.push_back({LaneMemory<Number>(size * kLanes), {}, {}});
      scratch_ = LaneMemory<Number>(std::max(scratch_.size(), (size + 2 * dimension) * kLanes));
    }
    reset();
  }

  void reset() override {
    for (std::size_t k = 0; k < lanes_.size(); ++k) {
      const auto& initial = network_->rounded.layers()[k].initial();
      for (std::size_t e = 0; e < initial.size(); ++e)
        std::fill_n(lanes_[k].numbers.data() + e * kLanes, kLanes, static_cast<Number>(to_double(initial[e])));
      lanes_[k].codewords.fill(network_->layers[k].initial_codeword());
      lanes_[k].labels.fill(network_->rounded.layers()[k].initial_label());
    }
  }

  void run(const LaneLetters& letters, std::size_t steps) override { run(letters, steps, nullptr); }

  void run(const LaneLetters& letters, std::size_t steps, std::span<State> states) override {
    run(letters, steps, states.data());
  }

  void current(std::span<State, kLanes> states) const override {
    std::vector<Label> labels(lanes_.size());
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      for (std::size_t k = 0; k < lanes_.size(); ++k) {
        const Label label = lanes_[k].labels[lane];
        labels[k] = label == network_->layers[k].program().labels ? kNoLabel : label;
      }
      states[lane] = network_->rounded.read(labels.data());
    }
  }

  std::vector<double> numbers(std::size_t word) const override {
    std::vector<double> exact;
    for (const LayerLanes& layer : lanes_)
      for (std::size_t at = word; at < layer.numbers.size(); at += kLanes)
        exact.push_back(static_cast<double>(layer.numbers[at]));
    return exact;
  }

  std::unique_ptr<LaneEvaluator> fresh() const override { return std::make_unique<VectorLanes>(network_, kernel_); }

 private:
  /// Where every word is in one layer.
  struct LayerLanes {
    LaneMemory<Number> numbers;                   ///< [n·d][kLanes]
    std::array<std::uint32_t, kLanes> codewords;  ///< found last; hints
    std::array<Label, kLanes> labels;             ///< after the letter read last
  };

  /// `states` may be null. There the nodes of the readout are kept, from layer to layer.
  void run(const LaneLetters& letters, std::size_t steps, State* states) {
    const FloatEnvironment environment;
    for (std::size_t first = 0; first < steps; first += kPiece) {
      LaneRun<Number> run;
      run.steps = std::min(kPiece, steps - first);
      run.scratch = scratch_.data();
      run.owner = this;
      run.resolve = [](void* owner, std::size_t lane, std::uint32_t action) {
        return static_cast<VectorLanes*>(owner)->resolve(lane, action);
      };
      if (states != nullptr) {
        run.nodes = states + first * kLanes;
        std::fill_n(run.nodes, run.steps * kLanes, Context{0});
      }
      run.contexts = piece(letters, first, run.steps);
      run.context_stride = run.contexts == letters_.data() ? kLanes : letters.stride;
      for (layer_ = 0; layer_ < lanes_.size(); ++layer_) {
        const bool is_last = layer_ + 1 == lanes_.size();
        run.decoded = !is_last || states != nullptr ? LaneLabels::kAll
                      : first + run.steps == steps  ? LaneLabels::kLast
                                                    : LaneLabels::kNone;
        run.state = lanes_[layer_].numbers.data();
        run.codewords = lanes_[layer_].codewords.data();
        run.labels = lanes_[layer_].labels.data();
        run.above = is_last ? nullptr : contexts_.data();
        kernel_(network_->layers[layer_].program(), run);
        run.contexts = contexts_.data();
        run.context_stride = kLanes;
      }
    }
  }

  /// Letters of all lanes; copied where not all lanes have a word.
  const Letter* piece(const LaneLetters& letters, std::size_t first, std::size_t count) {
    if (letters.words == kLanes) return letters.first + first * letters.stride;
    for (std::size_t t = 0; t < count; ++t)
      std::copy_n(letters.first + (first + t) * letters.stride, letters.words, letters_.data() + t * kLanes);
    return letters_.data();
  }

  std::uint32_t resolve(std::size_t lane, std::uint32_t action) {
    const LaneMemory<Number>& numbers = lanes_[layer_].numbers;
    const std::size_t size = numbers.size() / kLanes;
    for (std::size_t e = 0; e < size; ++e) exact_.state[e] = static_cast<double>(numbers[e * kLanes + lane]);
    return network_->layers[layer_].nearest({exact_.state.data(), size}, action, exact_.hints[layer_]);
  }

  std::shared_ptr<const LaneNetwork<A>> network_;
  LaneKernelOf<A> kernel_;
  typename RoundedNetwork<A>::Scratch exact_;
  std::vector<LayerLanes> lanes_;
  LaneMemory<Number> scratch_;
  std::vector<Letter> letters_;
  std::vector<Context> contexts_;
  std::size_t layer_ = 0;
};

}  // namespace

std::unique_ptr<LaneEvaluator> make_lane_evaluator(const Network& network, ArithmeticName arithmetic,
                                                   const LaneOptions& options) {
  const LaneKernels kernels = lane_kernels(options.instructions.value_or(available_instruction_sets().back()));
  if (arithmetic.kind() != ArithmeticName::Kind::kSeparate || network.snap_every > 0) return nullptr;
  return with_format(arithmetic.storage(), [&](auto format) -> std::unique_ptr<LaneEvaluator> {
    using Format = decltype(format);
    const auto made = std::make_shared<LaneNetwork<Format>>(network, options.form);
    if (!made->make(network)) return nullptr;
    return std::make_unique<VectorLanes<Format>>(made, kernel_of<Format>(kernels));
  });
}

std::vector<State> batch_final_states(const Network& network, ArithmeticName arithmetic,
                                      std::span<const Letter> letters, std::size_t words, std::size_t length,
                                      const BatchOptions& options) {
  const FloatEnvironment environment;
  if (letters.size() != words * length)
    throw InputError("a batch of words needs one letter for every word and position");
  std::vector<State> states(words);
  const auto evaluator = make_lane_evaluator(network, arithmetic, options);
  if (!evaluator) {
    parallel_workers(words, options.threads,
                     [&, one = std::shared_ptr(make_evaluator(network, arithmetic, options.form))] {
                       return [&, word = std::shared_ptr(one->fresh())](std::size_t w) {
                         word->reset();
                         for (std::size_t t = 0; t < length; ++t) word->step(letters[t * words + w]);
                         states[w] = word->current().value_or(kNoState);
                       };
                     });
    return states;
  }
  parallel_workers((words + kLanes - 1) / kLanes, options.threads, [&] {
    return [&, lanes = std::shared_ptr(evaluator->fresh())](std::size_t block) {
      const std::size_t first = block * kLanes, count = std::min(kLanes, words - first);
      std::array<State, kLanes> last;
      lanes->reset();
      lanes->run({letters.data() + first, words, count}, length);
      lanes->current(last);
      std::copy_n(last.begin(), count, states.begin() + static_cast<std::ptrdiff_t>(first));
    };
  });
  return states;
}

}  // namespace krohn
