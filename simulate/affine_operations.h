// simulate/affine_operations.h — the inner operations of composed evaluation (simulate/order.h) on plain arrays: no
// allocation, no dispatch, the same on every processor. A is an arithmetic (simulate/arithmetic.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace krohn {

/// Σ a[k·a_step] · b[k·b_step], left to right from the first product. `size` ≥ 1.
template <class A>
typename A::Sum dot_product(const typename A::Number* a, std::size_t a_step, const typename A::Number* b,
                            std::size_t b_step, std::size_t size) {
  typename A::Sum sum = A::product(a[0], A::load(b[0]));
  for (std::size_t k = 1; k < size; ++k) sum = A::add_product(sum, a[k * a_step], A::load(b[k * b_step]));
  return sum;
}

/// out = second · first, size×size, row-major. `out` overlaps neither.
template <class A>
void multiply_blocks(const typename A::Number* second, const typename A::Number* first, std::size_t size,
                     typename A::Number* out) {
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j)
      out[i * size + j] = A::store(dot_product<A>(second + i * size, 1, first + j, size, size));
}

/// y = block · x (+ b, unless null), one column of `size` numbers. `y` overlaps none of them.
template <class A>
void apply_block(const typename A::Number* block, const typename A::Number* x, const typename A::Number* b,
                 std::size_t size, typename A::Number* y) {
  for (std::size_t i = 0; i < size; ++i) {
    typename A::Sum sum = dot_product<A>(block + i * size, 1, x, 1, size);
    if (b != nullptr) sum = A::add(sum, A::load(b[i]));
    y[i] = A::store(sum);
  }
}

/// Where a column's ±1 is, as 2·row + (1 when negative); or nowhere.
using SignedTarget = std::uint32_t;
inline constexpr SignedTarget kNoTarget = UINT32_MAX;

/// out = second after first, as maps of columns. `out` may be `first`.
inline void compose_targets(const SignedTarget* second, const SignedTarget* first, std::size_t size,
                            SignedTarget* out) {
  for (std::size_t j = 0; j < size; ++j) {
    const SignedTarget next = first[j] == kNoTarget ? kNoTarget : second[first[j] >> 1];
    out[j] = next == kNoTarget ? kNoTarget : next ^ (first[j] & 1U);
  }
}

/// y = A x (+ b, unless null), where column j of A is targets[j]. `sums` has room for `size` accumulators.
template <class A>
void apply_targets(const SignedTarget* targets, const typename A::Number* x, const typename A::Number* b,
                   std::size_t size, typename A::Sum* sums, typename A::Number* y) {
  for (std::size_t i = 0; i < size; ++i) sums[i] = A::load(typename A::Number(0));
  for (std::size_t j = 0; j < size; ++j) {
    if (targets[j] == kNoTarget) continue;
    typename A::Sum& sum = sums[targets[j] >> 1];
    const typename A::Sum moved = A::load(x[j]);
    sum = A::add(sum, (targets[j] & 1U) != 0 ? -moved : moved);
  }
  for (std::size_t i = 0; i < size; ++i) y[i] = A::store(b == nullptr ? sums[i] : A::add(sums[i], A::load(b[i])));
}

}  // namespace krohn
