#include <algorithm>
#include <bit>
#include <cstring>

#include "krohn/simulate/evaluate/reflection_chunk.h"
#include "krohn/simulate/prove/orders/ordered_search.h"

namespace krohn {
namespace {

/// A map's record: the book of its last letter; where it takes each state of the automaton; its numbers. A state's
/// record: the automaton's state; the book; the numbers.
template <class A>
class System final : public OrderSystem {
 public:
  using Number = typename A::Number;
  using Bits = typename A::Bits;
  using Map = typename AffineLayer<A>::Map;

  System(const Network& network, const OrderedNetwork<A>& ordered)
      : automaton_(network.automaton),
        network_(ordered),
        layer_(ordered.layers()[0]),
        scratch_(ordered.rounded().make_scratch()),
        from_(layer_.rounded().size()),
        to_(from_.size()) {
    if (!has_maps()) return;
    sums_ = layer_.affine()->make_sums();
    second_ = first_ = out_ = layer_.affine()->make_map();
  }

  bool has_maps() const override { return layer_.affine() != nullptr; }
  std::size_t map_words() const override {
    return 1 + automaton_.states() + second_.targets.size() +
           kWords * (second_.entries.size() + second_.addition.size());
  }
  std::size_t state_words() const override { return 2 + kWords * from_.size(); }

  void letter(Letter letter, std::uint32_t* map) override {
    const RoundedLayer<A>& rounded = layer_.rounded();
    map[0] = rounded.book_of(letter);
    for (State q = 0; q < automaton_.states(); ++q) map[1 + q] = automaton_.next(q, letter);
    pack_map(layer_.affine()->letter(rounded.action_of(letter)), map);
  }

  void compose(const std::uint32_t* second, const std::uint32_t* first, std::uint32_t* out) override {
    unpack_map(second, second_);
    unpack_map(first, first_);
    layer_.affine()->compose(second_, first_, out_, sums_);
    out[0] = second[0];
    for (State q = 0; q < automaton_.states(); ++q) out[1 + q] = second[1 + first[1 + q]];
    pack_map(out_, out);
  }

  void apply(const std::uint32_t* map, const std::uint32_t* state, std::uint32_t* out) override {
    unpack_map(map, second_);
    unpack(state + 2, from_);
    layer_.affine()->apply(second_, from_.data(), to_.data(), sums_);
    out[0] = map[1 + state[0]];
    out[1] = map[0];
    pack(to_, out + 2);
  }

  std::span<const std::uint32_t> moved_states(const std::uint32_t* map) const override {
    return {map + 1, automaton_.states()};
  }

  const std::vector<double>& map_entries(const std::uint32_t* map) override {
    unpack_map(map, second_);
    exact_.clear();
    for (const auto* numbers : {&second_.entries, &second_.addition})
      for (const Number number : *numbers) exact_.push_back(to_double(number));
    return exact_;
  }

  const std::vector<double>& state_entries(const std::uint32_t* state) override {
    unpack(state + 2, from_);
    exact_.clear();
    for (const Number number : from_) exact_.push_back(to_double(number));
    return exact_;
  }

  void read_chunk(const std::uint32_t* state, std::span<const Letter> word, std::uint32_t* out) override {
    if (!chunk_) chunk_.emplace(layer_.dimension(), layer_.columns(), layer_.factors_per_chunk());
    unpack(state + 2, from_);
    chunk_->start(from_.data());
    State q = state[0];
    for (const Letter letter : word) {
      q = automaton_.next(q, letter);
      for (const auto& factor : layer_.reflections()[layer_.rounded().action_of(letter)].factors)
        chunk_->append(factor);
    }
    chunk_->state(to_.data());
    out[0] = q;
    out[1] = word.empty() ? state[1] : layer_.rounded().book_of(word.back());
    pack(to_, out + 2);
  }

  void start(std::uint32_t* state) override {
    state[0] = automaton_.initial();
    state[1] = 0;
    pack(layer_.rounded().initial(), state + 2);
  }

  bool starts_right() override {
    const Label label = layer_.rounded().initial_label();
    return network_.rounded().read(&label) == automaton_.initial();
  }

  bool is_right(const std::uint32_t* state) override {
    unpack(state + 2, from_);
    const Label label = network_.rounded().label_of(0, state[1], from_.data(), scratch_);
    return network_.rounded().read(&label) == state[0];
  }

 private:
  static constexpr std::size_t kWords = sizeof(Bits) > sizeof(std::uint32_t) ? 2 : 1;

  static std::uint32_t* pack(const std::vector<Number>& numbers, std::uint32_t* record) {
    for (const Number number : numbers) {
      const std::uint64_t bits = state_bits<A>(number);
      *record++ = static_cast<std::uint32_t>(bits);
      if constexpr (kWords == 2) *record++ = static_cast<std::uint32_t>(bits >> 32);
    }
    return record;
  }

  static const std::uint32_t* unpack(const std::uint32_t* record, std::vector<Number>& numbers) {
    for (Number& number : numbers) {
      std::uint64_t bits = *record++;
      if constexpr (kWords == 2) bits |= std::uint64_t{*record++} << 32;
      number = std::bit_cast<Number>(static_cast<Bits>(bits));
    }
    return record;
  }

  void pack_map(const Map& map, std::uint32_t* record) const {
    record = std::copy(map.targets.begin(), map.targets.end(), record + 1 + automaton_.states());
    pack(map.addition, pack(map.entries, record));
  }

  void unpack_map(const std::uint32_t* record, Map& map) const {
    record += 1 + automaton_.states();
    std::copy_n(record, map.targets.size(), map.targets.begin());
    unpack(unpack(record + map.targets.size(), map.entries), map.addition);
  }

  const Dfa& automaton_;
  const OrderedNetwork<A>& network_;
  const OrderedLayer<A>& layer_;
  typename RoundedNetwork<A>::Scratch scratch_;
  std::vector<Number> from_, to_;
  std::vector<typename A::Sum> sums_;
  Map second_, first_, out_;
  std::vector<double> exact_;
  std::optional<ReflectionChunk<A>> chunk_;
};

}  // namespace

template <class A>
std::unique_ptr<OrderSystem> make_order_system(const Network& network, const OrderedNetwork<A>& ordered) {
  return std::make_unique<System<A>>(network, ordered);
}

template std::unique_ptr<OrderSystem> make_order_system(const Network&, const OrderedNetwork<Fp64>&);
template std::unique_ptr<OrderSystem> make_order_system(const Network&, const OrderedNetwork<Fp32>&);
template std::unique_ptr<OrderSystem> make_order_system(const Network&, const OrderedNetwork<Fp16>&);
template std::unique_ptr<OrderSystem> make_order_system(const Network&, const OrderedNetwork<Bf16>&);
template std::unique_ptr<OrderSystem> make_order_system(const Network&, const OrderedNetwork<Fused<Fp64>>&);
template std::unique_ptr<OrderSystem> make_order_system(const Network&, const OrderedNetwork<Fused<Fp32>>&);
template std::unique_ptr<OrderSystem> make_order_system(const Network&, const OrderedNetwork<Fused<Fp16>>&);
template std::unique_ptr<OrderSystem> make_order_system(const Network&, const OrderedNetwork<Fused<Bf16>>&);
template std::unique_ptr<OrderSystem> make_order_system(const Network&, const OrderedNetwork<AccumulatedInFp32<Fp16>>&);
template std::unique_ptr<OrderSystem> make_order_system(const Network&, const OrderedNetwork<AccumulatedInFp32<Bf16>>&);
template std::unique_ptr<OrderSystem> make_order_system(const Network&, const OrderedNetwork<Tf32>&);

}  // namespace krohn
