#include "krohn/simulate/evaluate/evaluate.h"

#include "krohn/groups/base/float_environment.h"
#include "krohn/simulate/arithmetic/rounded_operations.h"
#include "krohn/simulate/evaluate/exact_network.h"
#include "krohn/simulate/evaluate/layer_run.h"
#include "krohn/simulate/evaluate/rounded_network.h"

namespace krohn {
namespace {

/// Two copies of the state, one read and one written, that change places at every letter.
template <class Arithmetic>
class RoundedEvaluator final : public Evaluator {
 public:
  using Number = typename Arithmetic::Number;

  explicit RoundedEvaluator(std::shared_ptr<const RoundedNetwork<Arithmetic>> network)
      : network_(std::move(network)),
        scratch_(network_->make_scratch()),
        now_(network_->size()),
        then_(network_->size()),
        labels_(network_->layers().size()),
        then_labels_(network_->layers().size()) {
    start();
  }

  void reset() override { start(); }
  void run(std::span<const Letter> letters, std::span<State> states) override {
    const FloatEnvironment environment;
    for (std::size_t t = 0; t < letters.size(); ++t) states[t] = advance(letters[t]);
  }

  std::optional<State> current() const override {
    const State state = network_->read(labels_.data());
    return state == kNoState ? std::nullopt : std::optional(state);
  }

  std::vector<double> numbers() const override {
    const FloatEnvironment environment;
    std::vector<double> exact;
    for (const Number number : now_) exact.push_back(to_double(number));
    return exact;
  }

  std::unique_ptr<Evaluator> fresh() const override { return std::make_unique<RoundedEvaluator>(network_); }

 private:
  void start() {
    network_->start(now_.data(), labels_.data());
    since_snap_ = 0;
  }

  State advance(Letter letter) {
    const State state =
        network_->step(now_.data(), labels_.data(), letter, then_.data(), then_labels_.data(), scratch_);
    now_.swap(then_);
    labels_.swap(then_labels_);
    if (network_->snap_every() != 0 && ++since_snap_ == network_->snap_every()) {
      network_->snap(now_.data(), labels_.data(), scratch_);
      since_snap_ = 0;
    }
    return state;
  }

  std::shared_ptr<const RoundedNetwork<Arithmetic>> network_;
  typename RoundedNetwork<Arithmetic>::Scratch scratch_;
  std::vector<Number> now_, then_;
  std::vector<Label> labels_, then_labels_;
  std::uint64_t since_snap_ = 0;  ///< letters
};

}  // namespace

std::unique_ptr<Evaluator> make_evaluator(const Network& network, ArithmeticName arithmetic, Form form, Order order) {
  const FloatEnvironment environment;
  if (arithmetic.is_exact()) {
    require_linear(network, "exact arithmetic");
    return exact_evaluator(network);
  }
  const auto letter_by_letter = [&]<class Arithmetic>(const Arithmetic& in) -> std::unique_ptr<Evaluator> {
    return std::make_unique<RoundedEvaluator<Arithmetic>>(
        std::make_shared<const RoundedNetwork<Arithmetic>>(network, form, in));
  };
  if (arithmetic.is_integer() && order.is_sequential()) return letter_by_letter(RoundedOperations(arithmetic));
  return with_arithmetic(arithmetic, [&](auto type) -> std::unique_ptr<Evaluator> {
    if (!order.is_sequential()) return ordered_evaluator<decltype(type)>(network, form, order);
    return letter_by_letter(type);
  });
}

}  // namespace krohn
