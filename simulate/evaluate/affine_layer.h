// simulate/evaluate/affine_layer.h — the letters of one layer as maps H ↦ A H + B that can be composed, in one
// arithmetic: what every order but the sequential one works with. simulate/arithmetic/order.h defines the operations
// and their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/arithmetic/arithmetic.h"
#include "krohn/simulate/arithmetic/order.h"
#include "krohn/simulate/words/host_device.h"

namespace krohn {

// The inner operations of composed evaluation (simulate/arithmetic/order.h) on
// plain arrays: no allocation, no dispatch, the same on every processor and on devices. A is an arithmetic
// (simulate/arithmetic/arithmetic.h, gpu/networks/device_arithmetic.cuh). Arrays are pointers, or what has x[i] and x +
// i like them (Column of gpu/networks/lane_step.cuh).

/// Σ a[k·a_step] · b[k·b_step], left to right from the first product. `size` ≥ 1.
template <class A, class Left, class Right>
KROHN_HOST_DEVICE typename A::Sum dot_product(Left a, std::size_t a_step, Right b, std::size_t b_step,
                                              std::size_t size) {
  typename A::Sum sum = A::product(a[0], A::load(b[0]));
  KROHN_DO_NOT_UNROLL
  for (std::size_t k = 1; k < size; ++k) sum = A::add_product(sum, a[k * a_step], A::load(b[k * b_step]));
  return sum;
}

/// out = second · first, size×size, row-major. `out` overlaps neither.
template <class A, class Second, class First, class Out>
KROHN_HOST_DEVICE void multiply_blocks(Second second, First first, std::size_t size, Out out) {
  KROHN_DO_NOT_UNROLL
  for (std::size_t i = 0; i < size; ++i) KROHN_DO_NOT_UNROLL
  for (std::size_t j = 0; j < size; ++j)
    out[i * size + j] = A::store(dot_product<A>(second + i * size, 1, first + j, size, size));
}

/// y = block · x (+ b, where `adds`), for `rows` rows of a block and one column of `size` numbers. `y` overlaps none of
/// them.
template <class A, class Block, class From, class Addition, class To>
KROHN_HOST_DEVICE void apply_block(Block block, From x, bool adds, Addition b, std::size_t rows, std::size_t size,
                                   To y) {
  KROHN_DO_NOT_UNROLL
  for (std::size_t i = 0; i < rows; ++i) {
    typename A::Sum sum = dot_product<A>(block + i * size, 1, x, 1, size);
    if (adds) sum = A::add(sum, A::load(b[i]));
    y[i] = A::store(sum);
  }
}

/// Where a column's ±1 is, as 2·row + (1 when negative); or nowhere.
using SignedTarget = std::uint32_t;
inline constexpr SignedTarget kNoTarget = UINT32_MAX;

/// out = second after first, as maps of columns. `out` may be `first`.
template <class Second, class First, class Out>
KROHN_HOST_DEVICE void compose_targets(Second second, First first, std::size_t size, Out out) {
  KROHN_DO_NOT_UNROLL
  for (std::size_t j = 0; j < size; ++j) {
    const SignedTarget before = first[j];
    const SignedTarget next = before == kNoTarget ? kNoTarget : second[before >> 1];
    out[j] = next == kNoTarget ? kNoTarget : next ^ (before & 1U);
  }
}

/// y = A x (+ b, where `adds`), where column j of A is targets[j]. `sums` has room for `size` accumulators.
template <class A, class Targets, class From, class Addition, class Sums, class To>
KROHN_HOST_DEVICE void apply_targets(Targets targets, From x, bool adds, Addition b, std::size_t size, Sums sums,
                                     To y) {
  KROHN_DO_NOT_UNROLL
  for (std::size_t i = 0; i < size; ++i) sums[i] = A::load(typename A::Number(0));
  KROHN_DO_NOT_UNROLL
  for (std::size_t j = 0; j < size; ++j) {
    const SignedTarget target = targets[j];
    if (target == kNoTarget) continue;
    typename A::Sum& sum = sums[target >> 1];
    const typename A::Sum moved = A::load(x[j]);
    sum = A::add(sum, (target & 1U) != 0 ? -moved : moved);
  }
  KROHN_DO_NOT_UNROLL
  for (std::size_t i = 0; i < size; ++i) y[i] = A::store(adds ? A::add(sums[i], A::load(b[i])) : sums[i]);
}

/// The common shape of the maps H ↦ A H + B of one layer: n×d, and the sizes of A's diagonal blocks, or that columns
/// only move.
struct AffineShape {
  std::uint32_t dimension = 0, columns = 1, block_count = 0;
  const std::uint32_t* blocks = nullptr;
  bool only_moves = false, adds = false;
};

/// One of them: `targets`, a column each, where columns only move, otherwise the `entries` of the blocks, row-major,
/// one block after another; and the `addition`, column-major, where the layer adds.
template <class Numbers, class Targets>
struct AffineView {
  Targets targets;
  Numbers entries, addition;
};

/// to = A from + B. The two do not overlap. `sums` has room for `dimension` accumulators.
template <class A, class Map, class From, class To, class Sums>
KROHN_HOST_DEVICE void apply_map(const AffineShape& shape, const Map& map, From from, To to, Sums sums) {
  const std::size_t n = shape.dimension;
  KROHN_DO_NOT_UNROLL
  for (std::size_t c = 0; c < shape.columns; ++c) {
    const auto x = from + c * n;
    const auto b = map.addition + (shape.adds ? c * n : 0);
    const auto y = to + c * n;
    if (shape.only_moves) {
      apply_targets<A>(map.targets, x, shape.adds, b, n, sums, y);
      continue;
    }
    std::size_t at = 0, row = 0;
    KROHN_DO_NOT_UNROLL
    for (std::uint32_t i = 0; i < shape.block_count; ++i) {
      const std::size_t size = shape.blocks[i];
      apply_block<A>(map.entries + at, x + row, shape.adds, b + (shape.adds ? row : 0), size, size, y + row);
      at += size * size;
      row += size;
    }
  }
}

/// Number `row` of the column A x (+ b), where `addition` is that column's: what apply_map writes there.
template <class A, class Map, class From>
KROHN_HOST_DEVICE typename A::Number apply_row(const AffineShape& shape, const Map& map, From x, std::uint32_t row) {
  if (!shape.only_moves) {
    std::size_t block = 0, first = 0, at = 0, size = shape.blocks[0];
    for (; row >= first + size; size = shape.blocks[++block]) {
      at += size * size;
      first += size;
    }
    typename A::Number y;
    apply_block<A>(map.entries + (at + (row - first) * size), x + first, shape.adds,
                   map.addition + (shape.adds ? row : 0), 1, size, &y);
    return y;
  }
  typename A::Sum sum = A::load(typename A::Number(0));
  KROHN_DO_NOT_UNROLL
  for (std::uint32_t j = 0; j < shape.dimension; ++j) {
    const SignedTarget target = map.targets[j];
    if (target >> 1 != row) continue;
    const typename A::Sum moved = A::load(x[j]);
    sum = A::add(sum, (target & 1U) != 0 ? -moved : moved);
  }
  return A::store(shape.adds ? A::add(sum, A::load(map.addition[row])) : sum);
}

/// out = second after first. `out` is another map.
template <class A, class Second, class First, class Out, class Sums>
KROHN_HOST_DEVICE void compose_maps(const AffineShape& shape, const Second& second, const First& first, const Out& out,
                                    Sums sums) {
  if (shape.only_moves) {
    compose_targets(second.targets, first.targets, shape.dimension, out.targets);
  } else {
    std::size_t at = 0;
    KROHN_DO_NOT_UNROLL
    for (std::uint32_t i = 0; i < shape.block_count; ++i) {
      const std::size_t size = shape.blocks[i];
      multiply_blocks<A>(second.entries + at, first.entries + at, size, out.entries + at);
      at += size * size;
    }
  }
  if (shape.adds) apply_map<A>(shape, second, first.addition, out.addition, sums);
}

/// The letters of a layer are its actions. Immutable once made; shared by threads.
template <class A>
class AffineLayer {
 public:
  using Number = typename A::Number;
  using Sum = typename A::Sum;

  /// A stored map. A is given by `targets`, a column each, or by the `entries` of its diagonal blocks, row-major, one
  /// block after another. `addition` is B, column-major; empty when no letter of the layer has one.
  struct Map {
    std::vector<SignedTarget> targets;
    std::vector<Number> entries, addition;
    friend bool operator==(const Map&, const Map&) = default;
  };

  /// O(letters · n²) for structured forms. Throws LimitError when a map would take more than kMaxMap numbers.
  AffineLayer(const Layer& layer, Form form);

  static constexpr std::uint64_t kMaxMap = std::uint64_t{1} << 24;

  std::uint32_t dimension() const { return dimension_; }
  std::uint32_t columns() const { return columns_; }
  std::size_t size() const { return std::size_t{dimension_} * columns_; }
  Action letters() const { return static_cast<Action>(letters_.size()); }
  const Map& letter(Action action) const { return letters_[action]; }
  /// Matrices are composed as maps, without a multiplication.
  bool only_moves() const { return blocks_.empty(); }
  /// Sizes of the diagonal blocks; empty when only_moves().
  const std::vector<std::uint32_t>& blocks() const { return blocks_; }
  bool adds() const { return adds_; }
  AffineShape shape() const;

  /// A map of the right size, and room for accumulators.
  Map make_map() const;
  std::vector<Sum> make_sums() const { return std::vector<Sum>(dimension_); }

  /// out = second after first. `out` is another map, from make_map(). O(Σ block³ + cost of d products).
  void compose(const Map& second, const Map& first, Map& out, std::vector<Sum>& sums) const;

  /// to = A from + B. The two do not overlap.
  void apply(const Map& map, const Number* from, Number* to, std::vector<Sum>& sums) const;

 private:
  using View = AffineView<const Number*, const SignedTarget*>;
  static View view(const Map& map) { return {map.targets.data(), map.entries.data(), map.addition.data()}; }
  void read_matrices(const Layer& layer, Form form);

  std::uint32_t dimension_, columns_;
  std::vector<std::uint32_t> blocks_;
  bool adds_ = false;
  std::vector<Map> letters_;
};

}  // namespace krohn
