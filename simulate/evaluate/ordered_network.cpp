#include "krohn/simulate/evaluate/ordered_network.h"

#include <utility>

#include "krohn/groups/float_environment.h"

namespace krohn {
namespace {

template <class A>
class OrderedEvaluator final : public Evaluator {
 public:
  explicit OrderedEvaluator(std::shared_ptr<const OrderedNetwork<A>> network)
      : network_(std::move(network)), scratch_(network_->rounded().make_scratch()), labels_(network_->layers().size()) {
    for (const OrderedLayer<A>& layer : network_->layers()) runs_.push_back(layer.make_run());
    start();
  }

  void reset() override {
    const FloatEnvironment environment;
    for (const auto& run : runs_) run->reset();
    start();
  }

  std::optional<State> step(Letter letter) override {
    const FloatEnvironment environment;
    advance(letter);
    return current();
  }

  void run(std::span<const Letter> letters, std::span<State> states) override {
    const FloatEnvironment environment;
    for (std::size_t t = 0; t < letters.size(); ++t) {
      advance(letters[t]);
      states[t] = network_->rounded().read(labels_.data());
    }
  }

  std::optional<State> current() const override {
    const State state = network_->rounded().read(labels_.data());
    return state == kNoState ? std::nullopt : std::optional(state);
  }

  std::vector<double> numbers() const override {
    const FloatEnvironment environment;
    std::vector<double> exact;
    for (const auto& run : runs_)
      for (const auto number : run->state()) exact.push_back(to_double(number));
    return exact;
  }

  std::unique_ptr<Evaluator> fresh() const override { return std::make_unique<OrderedEvaluator>(network_); }

 private:
  void start() {
    for (std::size_t k = 0; k < labels_.size(); ++k) labels_[k] = network_->layers()[k].rounded().initial_label();
    known_ = labels_.size();
  }

  /// Layers [0, known_) have known every context so far.
  void advance(Letter letter) {
    Context context = letter;
    const std::size_t known = known_;
    for (std::size_t k = 0; k < known; ++k) {
      const RoundedLayer<A>& layer = network_->layers()[k].rounded();
      const Label pre = std::exchange(labels_[k], kNoLabel);
      if (context == kNoContext) {
        known_ = std::min(known_, k);
        continue;
      }
      const auto& numbers = runs_[k]->read(layer.action_of(context));
      labels_[k] = network_->rounded().label_of(k, layer.book_of(context), numbers.data(), scratch_);
      if (k + 1 < labels_.size()) context = pre == kNoLabel ? kNoContext : layer.next(context, pre);
    }
  }

  std::shared_ptr<const OrderedNetwork<A>> network_;
  typename RoundedNetwork<A>::Scratch scratch_;
  std::vector<std::unique_ptr<LayerRun<A>>> runs_;
  std::vector<Label> labels_;
  std::size_t known_ = 0;
};

}  // namespace

std::unique_ptr<Evaluator> make_ordered_evaluator(const Network& network, ArithmeticName arithmetic, Form form,
                                                  Order order) {
  return with_arithmetic(arithmetic, [&](auto type) -> std::unique_ptr<Evaluator> {
    using A = decltype(type);
    return std::make_unique<OrderedEvaluator<A>>(std::make_shared<const OrderedNetwork<A>>(network, form, order));
  });
}

}  // namespace krohn
