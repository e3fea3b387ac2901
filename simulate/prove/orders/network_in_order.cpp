#include "krohn/simulate/prove/orders/network_in_order.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "krohn/simulate/arithmetic/rounded_operations.h"
#include "krohn/simulate/evaluate/layer_run.h"
#include "krohn/simulate/evaluate/reflection_chunk.h"

namespace krohn {
namespace {

template <class Number>
void append_doubles(const std::vector<Number>& numbers, std::vector<double>& list) {
  std::ranges::transform(numbers, std::back_inserter(list), to_double<Number>);
}

template <class A>
class LayerIn final : public LayerInOrder {
 public:
  using Number = typename A::Number;

  explicit LayerIn(const OrderedLayer<A>& layer) : layer_(layer), from_(layer.rounded().size()), to_(from_.size()) {
    if (!has_maps()) {
      chunk_.emplace(layer.dimension(), layer.columns(), layer.factors_per_letter());
      return;
    }
    const AffineLayer<A>& affine = *layer.affine();
    sums_ = affine.make_sums();
    map_ = next_ = affine.make_map();
    maps_ = {affine.letters(), affine.blocks(), map_.entries.size(), map_.addition.size()};
  }

  FormatLimits format() const override { return format_limits<A>(); }
  std::uint32_t dimension() const override { return layer_.dimension(); }
  std::span<const NearestCodeword> books() const override { return layer_.rounded().books(); }
  bool has_maps() const override { return layer_.affine() != nullptr; }

  const MapShape& maps() const override { return maps_; }

  void read_map(Action letter, std::vector<double>& numbers) const override {
    read(layer_.affine()->letter(letter), numbers);
  }

  void extend_map(const std::vector<double>& map, Action letter, std::vector<double>& numbers) override {
    const AffineLayer<A>& affine = *layer_.affine();
    const auto additions = map.begin() + static_cast<std::ptrdiff_t>(maps_.entries);
    std::transform(map.begin(), additions, map_.entries.begin(), from_double<Number>);
    std::transform(additions, map.end(), map_.addition.begin(), from_double<Number>);
    if (maps_.only_moves())
      affine.apply(affine.letter(letter), map_.addition.data(), next_.addition.data(), sums_);
    else
      affine.compose(affine.letter(letter), map_, next_, sums_);
    read(next_, numbers);
  }

  std::vector<OrderFactor> factors() const override {
    std::vector<OrderFactor> factors;
    for (const auto& letter : layer_.reflections())
      for (const auto& rounded : letter.factors) {
        factors.push_back({std::vector<double>(dimension(), 0), to_double(rounded.beta)});
        for (const auto& entry : rounded.entries) factors.back().key[entry.position] = to_double(entry.key);
      }
    return factors;
  }

  std::vector<double> initial() const override {
    std::vector<double> numbers;
    append_doubles(layer_.rounded().initial(), numbers);
    return numbers;
  }

  void move(Action letter, const std::vector<double>& from, std::vector<double>& to) override {
    std::ranges::transform(from, from_.begin(), from_double<Number>);
    if (chunk_) {
      chunk_->start(from_.data());
      for (const auto& factor : layer_.reflections()[letter].factors) chunk_->append(factor);
      chunk_->state(to_.data());
    } else {
      layer_.affine()->apply(layer_.affine()->letter(letter), from_.data(), to_.data(), sums_);
    }
    std::ranges::transform(to_, to.begin(), to_double<Number>);
  }

 private:
  static void read(const typename AffineLayer<A>::Map& map, std::vector<double>& numbers) {
    numbers.clear();
    append_doubles(map.entries, numbers);
    append_doubles(map.addition, numbers);
  }

  const OrderedLayer<A>& layer_;
  MapShape maps_;
  typename AffineLayer<A>::Map map_, next_;
  std::vector<Number> from_, to_;
  std::vector<typename A::Sum> sums_;
  std::optional<ReflectionChunk<A>> chunk_;
};

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

template <class A>
struct NetworkIn final : NetworkInOrder {
  NetworkIn(const Network& network, const CertifyOptions& options)
      : network_(network), ordered_(network, options.form, options.order) {
    for (const OrderedLayer<A>& layer : ordered_.layers()) layers.push_back(std::make_unique<LayerIn<A>>(layer));
  }

  std::unique_ptr<OrderSystem> make_system() const override { return std::make_unique<System<A>>(network_, ordered_); }

 private:
  const Network& network_;
  OrderedNetwork<A> ordered_;
};

}  // namespace

std::unique_ptr<NetworkInOrder> network_in_order(const Network& network, const CertifyOptions& options) {
  return with_arithmetic(options.arithmetic, [&](auto type) -> std::unique_ptr<NetworkInOrder> {
    return std::make_unique<NetworkIn<decltype(type)>>(network, options);
  });
}

}  // namespace krohn
