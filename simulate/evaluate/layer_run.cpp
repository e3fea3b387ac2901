#include "krohn/simulate/evaluate/layer_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/simulate/evaluate/reflection_chunk.h"

namespace krohn {
namespace {

/// The common part of the runs: the state, and the blocks that it is cut into.
template <class A>
class BlockRun : public LayerRun<A> {
 public:
  using Number = typename A::Number;

  explicit BlockRun(const OrderedLayer<A>& layer) : layer_(layer), h_(layer.rounded().initial()), next_(h_.size()) {}

  void reset() final {
    h_ = layer_.rounded().initial();
    count_ = 0;
  }
  const std::vector<Number>& read(Action letter) final {
    if (count_ == 0) start_block();
    ++count_;
    step(letter, next_);
    h_.swap(next_);
    if (count_ == layer_.order().block) count_ = 0;
    return h_;
  }
  const std::vector<Number>& state() const final { return h_; }

 protected:
  /// The block begins from the present state.
  virtual void start_block() {}
  /// The state after the letter, which is number count() of the block, from 1.
  virtual void step(Action letter, std::vector<Number>& to) = 0;

  const OrderedLayer<A>& layer() const { return layer_; }
  const std::vector<Number>& now() const { return h_; }
  std::uint64_t count() const { return count_; }

 private:
  const OrderedLayer<A>& layer_;
  std::vector<Number> h_, next_;
  std::uint64_t count_ = 0;
};

template <class A>
class ReflectionChunkRun final : public BlockRun<A> {
 public:
  ReflectionChunkRun(const OrderedLayer<A>& layer, std::size_t factors)
      : BlockRun<A>(layer), chunk_(layer.dimension(), layer.columns(), factors) {}

 protected:
  void start_block() override { chunk_.start(this->now().data()); }
  void step(Action letter, std::vector<typename A::Number>& to) override {
    for (const auto& factor : this->layer().reflections()[letter].factors) chunk_.append(factor);
    chunk_.state(to.data());
  }

 private:
  ReflectionChunk<A> chunk_;
};

/// The common part of the runs over maps.
template <class A>
class MapRun : public BlockRun<A> {
 public:
  using Number = typename A::Number;
  using Map = typename AffineLayer<A>::Map;

  explicit MapRun(const OrderedLayer<A>& layer)
      : BlockRun<A>(layer),
        affine_(*layer.affine()),
        map_(affine_.make_map()),
        spare_(map_),
        sums_(affine_.make_sums()) {}

 protected:
  /// map ← map after first.
  void compose_after(const Map& first) {
    affine_.compose(map_, first, spare_, sums_);
    std::swap(map_, spare_);
  }
  void apply(const Map& map, const std::vector<Number>& from, std::vector<Number>& to) {
    affine_.apply(map, from.data(), to.data(), sums_);
  }

  const AffineLayer<A>& affine_;
  Map map_, spare_;
  std::vector<typename A::Sum> sums_;
};

/// P_i is kept; the state before the chunk too.
template <class A>
class MapChunkRun final : public MapRun<A> {
 public:
  using MapRun<A>::MapRun;

 protected:
  void start_block() override { start_ = this->now(); }
  void step(Action letter, std::vector<typename A::Number>& to) override {
    if (this->count() == 1) {
      this->map_ = this->affine_.letter(letter);
    } else {
      this->affine_.compose(this->affine_.letter(letter), this->map_, this->spare_, this->sums_);
      std::swap(this->map_, this->spare_);
    }
    this->apply(this->map_, start_, to);
  }

 private:
  std::vector<typename A::Number> start_;
};

/// One level of the binary counter that both scans keep: the total of the 2^k letters of this bit, and the state after
/// them.
template <class A>
struct Level {
  typename AffineLayer<A>::Map total;
  std::vector<typename A::Number> state;
};

/// The tree of Blelloch's scan, walked with a binary counter: after t letters there is a total for every bit of t, the
/// highest bit's the oldest, and H_t is the lowest bit's total applied to the state before its letters.
template <class A>
class ScanRun final : public MapRun<A> {
 public:
  using MapRun<A>::MapRun;

 protected:
  void start_block() override { start_ = this->now(); }

  void step(Action letter, std::vector<typename A::Number>& to) override {
    const auto bit = static_cast<std::size_t>(std::countr_zero(this->count()));
    this->map_ = this->affine_.letter(letter);
    for (std::size_t k = 0; k < bit; ++k) this->compose_after(levels_[k].total);
    const std::uint64_t earlier = this->count() & (this->count() - 1);
    const auto earlier_bit = static_cast<std::size_t>(std::countr_zero(earlier));
    this->apply(this->map_, earlier == 0 ? start_ : levels_[earlier_bit].state, to);
    if (bit == levels_.size()) levels_.push_back({this->affine_.make_map(), {}});
    std::swap(levels_[bit].total, this->map_);
    levels_[bit].state = to;
  }

 private:
  std::vector<typename A::Number> start_;
  std::vector<Level<A>> levels_;
};

/// The same totals by positions: before position t there is a total for every bit of t but the highest, whose block
/// holds position 0 and is the state at its end.
template <class A>
class DoublingRun final : public MapRun<A> {
 public:
  using MapRun<A>::MapRun;

 protected:
  void start_block() override { end_of_first_ = this->now(); }

  void step(Action letter, std::vector<typename A::Number>& to) override {
    const std::uint64_t t = this->count();
    const auto highest = static_cast<std::size_t>(std::bit_width(t)) - 1;
    const auto trailing = static_cast<std::size_t>(std::countr_one(t));
    this->map_ = this->affine_.letter(letter);
    if (trailing == 0) keep_total(0);
    for (std::size_t k = 0; k < highest; ++k) {
      if ((t >> k & 1U) == 0) continue;
      this->compose_after(totals_[k]);
      if (k + 1 == trailing) keep_total(trailing);
    }
    this->apply(this->map_, end_of_first_, to);
    if (std::has_single_bit(t + 1)) end_of_first_ = to;
  }

 private:
  /// The block that position t ends is a right half from level `k` on: it waits there.
  void keep_total(std::size_t k) {
    if (totals_.size() <= k) totals_.resize(k + 1);
    totals_[k] = this->map_;
  }

  std::vector<typename A::Number> end_of_first_;
  std::vector<typename AffineLayer<A>::Map> totals_;
};

std::size_t most_factors(const Layer& layer) {
  std::size_t most = 0;
  for (const Transition& transition : layer.transitions)
    most = std::max(most, std::get<ReflectionProduct>(transition.a).factors.size());
  return most;
}

}  // namespace

bool takes_ut_form(const Layer& layer, Form form) {
  return form == Form::kStructured &&
         std::all_of(layer.transitions.begin(), layer.transitions.end(), [](const Transition& transition) {
           return transition.b.size() == 0 && std::holds_alternative<ReflectionProduct>(transition.a);
         });
}

template <class A>
OrderedLayer<A>::OrderedLayer(const Layer& layer, const RoundedLayer<A>& rounded, Form form, Order order)
    : rounded_(&rounded), order_(order), dimension_(layer.dimension), columns_(layer.columns) {
  if (order.is_sequential()) throw InputError("an ordered layer", "the sequential order has an evaluator of its own");
  if (order.kind != Order::Kind::kChunked || !takes_ut_form(layer, form)) {
    affine_.emplace(layer, form);
    return;
  }
  factors_per_letter_ = most_factors(layer);
  for (const Transition& transition : layer.transitions)
    reflections_.push_back(std::get<Reflections>(round_matrix<typename A::Format>(transition.a, form)));
}

template <class A>
std::size_t OrderedLayer<A>::factors_per_chunk() const {
  const std::uint64_t factors = std::uint64_t{factors_per_letter_} * order_.block;
  if (factors > kMaxChunk / (factors + 2 * dimension_))
    throw LimitError(
        fmt::format("a chunk of {} may hold {}, more than the UT transform takes in "
                    "{}; take a smaller chunk",
                    counted(order_.block, "letter"), counted(factors, "reflection"), counted(kMaxChunk, "number")));
  return factors;
}

template <class A>
std::unique_ptr<LayerRun<A>> OrderedLayer<A>::make_run() const {
  if (!affine_) return std::make_unique<ReflectionChunkRun<A>>(*this, factors_per_chunk());
  switch (order_.kind) {
    case Order::Kind::kChunked:
      return std::make_unique<MapChunkRun<A>>(*this);
    case Order::Kind::kScan:
      return std::make_unique<ScanRun<A>>(*this);
    default:
      return std::make_unique<DoublingRun<A>>(*this);
  }
}

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

template <class A>
std::unique_ptr<Evaluator> ordered_evaluator(const Network& network, Form form, Order order) {
  return std::make_unique<OrderedEvaluator<A>>(std::make_shared<const OrderedNetwork<A>>(network, form, order));
}

#define KROHN_ORDERED(A)          \
  template class OrderedLayer<A>; \
  template std::unique_ptr<Evaluator> ordered_evaluator<A>(const Network&, Form, Order);
KROHN_FORMATS(KROHN_ORDERED) KROHN_OTHER_ARITHMETICS(KROHN_ORDERED)

}  // namespace krohn
