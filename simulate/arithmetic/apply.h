// simulate/arithmetic/apply.h — one product y = A x for each of the four forms of a letter that is read (moves, blocks,
// reflections, terms), in the operations of an arithmetic. This page is the definition of the evaluation order that
// certificates call "sequential"; simulate/arithmetic/arithmetic.h says how each of the operations rounds.
//
//   H is loaded; H ← A H, column by column; then, when the transition has a B, H ← H + B, entry by entry; H is stored.
//   Every sum below is built by `add`, every a·b that starts a sum or stands alone by `product`, and every a·b that is
//   added to or subtracted from something by `add_product`, with −a for a subtraction.
//
//   gather            y_i = the sum of the x_j with map[j] = i, in increasing j; 0 when there is none.
//   signed gather     the same of ± x_j; of one, that is exact.
//   reflections       for each factor I − β k kᵀ, first to last, over the stored non-zeros of k by increasing position:
//                     s = Σ k_j x_j, left to right from the first product;  t = β s;  x_j ← x_j − k_j t.
//   rotation blocks   y_0 = c x_0 + (−s) x_1,  y_1 = s x_0 + c x_1; a sign block: y = ± x. A 2×2 dense product.
//   diagonal          y_i = a_i x_i.
//   zero              y_i = +0.
//   dense             y_i = a_i0 x_0 + a_i1 x_1 + …, left to right from the first product, zeros included.
//   block-diagonal    each block as a dense matrix.
//   factored          y starts as +0; for each term that is on, in order: s = the sum of x over the input support,
//                     left to right; then y_i ← y_i + s over the output support.
//
// An arithmetic that is an object (rounded_operations.h) is given as `op`.
//
// Weights were rounded to the format before, once (rounded_matrix.h). x and y never overlap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

namespace krohn {

/// Row i sums sources[first[i]], …, sources[first[i + 1] − 1], with a minus where `negative`; no sources: the zero
/// matrix.
struct Gather {
  std::vector<std::uint32_t> first, sources;
  std::vector<bool> negative;  ///< by source; empty: none is

  bool is_zero() const { return sources.empty(); }
};

template <class Number>
struct RoundedReflections {
  struct Entry {
    std::uint32_t position;
    Number key;
  };
  struct Factor {
    std::vector<Entry> entries;
    Number beta;
  };
  std::uint32_t dimension = 0;
  std::vector<Factor> factors;
};

/// Blocks along the diagonal: rotations, diagonal and dense matrices too. A block has size² entries, row-major, so that
/// a row's products are taken from left to right in memory too; or is one sign, which has none.
template <class Number>
struct RoundedBlocks {
  struct Block {
    std::uint32_t size;
    std::int8_t sign = 0;  ///< ±1: a 1×1 block whose product is ± x, exactly
  };
  std::vector<Block> blocks;
  std::vector<Number> entries;
  bool is_dense = false;  ///< one block, given entry by entry
};

struct SparseTerms {
  struct Term {
    std::vector<std::uint32_t> outputs, inputs;
  };
  std::uint32_t dimension = 0;
  std::vector<Term> terms;
};

template <class Number>
using RoundedMatrix = std::variant<Gather, RoundedBlocks<Number>, RoundedReflections<Number>, SparseTerms>;

template <class A>
void apply(const Gather& a, const typename A::Sum* x, typename A::Sum* y, const A& op = {}) {
  const bool has_signs = !a.negative.empty();
  const auto source = [&](std::uint32_t e) { return has_signs && a.negative[e] ? -x[a.sources[e]] : x[a.sources[e]]; };
  for (std::size_t i = 0; i + 1 < a.first.size(); ++i) {
    const std::uint32_t begin = a.first[i], end = a.first[i + 1];
    typename A::Sum sum = begin == end ? typename A::Sum(0) : source(begin);
    for (std::uint32_t e = begin + 1; e < end; ++e) sum = op.add(sum, source(e));
    y[i] = sum;
  }
}

template <class A>
void apply(const RoundedReflections<typename A::Number>& a, const typename A::Sum* x, typename A::Sum* y,
           const A& op = {}) {
  std::copy_n(x, a.dimension, y);
  for (const auto& factor : a.factors) {
    if (factor.entries.empty()) continue;
    typename A::Sum dot = op.product(factor.entries[0].key, y[factor.entries[0].position]);
    for (std::size_t e = 1; e < factor.entries.size(); ++e)
      dot = op.add_product(dot, factor.entries[e].key, y[factor.entries[e].position]);
    const typename A::Sum scaled = op.product(factor.beta, dot);
    for (const auto& entry : factor.entries) y[entry.position] = op.add_product(y[entry.position], -entry.key, scaled);
  }
}

template <class A>
void apply(const RoundedBlocks<typename A::Number>& a, const typename A::Sum* x, typename A::Sum* y, const A& op = {}) {
  const typename A::Number* row = a.entries.data();
  for (const auto& block : a.blocks) {
    if (block.sign != 0) {
      *y = block.sign < 0 ? -*x : *x;
    } else {
      for (std::size_t i = 0; i < block.size; ++i, row += block.size) {
        typename A::Sum sum = op.product(row[0], x[0]);
        for (std::size_t j = 1; j < block.size; ++j) sum = op.add_product(sum, row[j], x[j]);
        y[i] = sum;
      }
    }
    x += block.size;
    y += block.size;
  }
}

template <class A>
void apply(const SparseTerms& a, const typename A::Sum* x, typename A::Sum* y, const A& op = {}) {
  std::fill_n(y, a.dimension, typename A::Sum(0));
  for (const auto& term : a.terms) {
    if (term.inputs.empty()) continue;
    typename A::Sum sum = x[term.inputs[0]];
    for (std::size_t e = 1; e < term.inputs.size(); ++e) sum = op.add(sum, x[term.inputs[e]]);
    for (const std::uint32_t i : term.outputs) y[i] = op.add(y[i], sum);
  }
}

/// y = A x for each of `columns` columns of `dimension` numbers, columns one after another. One dispatch a call.
template <class A>
void apply(const RoundedMatrix<typename A::Number>& matrix, std::uint32_t dimension, std::uint32_t columns,
           const typename A::Sum* x, typename A::Sum* y, const A& op = {}) {
  std::visit(
      [&](const auto& form) {
        for (std::uint32_t column = 0; column < columns; ++column, x += dimension, y += dimension)
          apply<A>(form, x, y, op);
      },
      matrix);
}

}  // namespace krohn
