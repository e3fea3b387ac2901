// simulate/apply.h — one product y = A x for each structured form, every product and every sum rounded separately. This
// page is the definition of the evaluation order that certificates call "sequential".
//
//   H ← A H, column by column; then, when the transition has a B, H ← H + B, entry by entry.
//
//   gather            y_i = the sum of the x_j with map[j] = i, in increasing j; 0 when there is none.
//   signed gather     y_i = ± x_j. Exact.
//   reflections       for each factor I − β k kᵀ, first to last, over the stored non-zeros of k by increasing position:
//                     s = Σ k_j x_j, left to right from the first product;  t = β s;  x_j ← x_j − k_j t.
//   rotation blocks   y_0 = c x_0 + (−s) x_1,  y_1 = s x_0 + c x_1; a sign block: y = ± x. A 2×2 dense product.
//   diagonal          y_i = a_i x_i.
//   zero              y_i = +0.
//   dense             y_i = a_i0 x_0 + a_i1 x_1 + …, left to right from the first product, zeros included.
//   block-diagonal    each block as a dense matrix.
//   factored          y starts as +0; for each term that is on, in order: s = the sum of x over the input support, left
//   to
//                     right; then y_i ← y_i + s over the output support.
//
// Weights were rounded to the format before, once (rounded_matrix.h). x and y never overlap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

namespace krohn {

/// Row i sums sources[first[i]], …, sources[first[i + 1] − 1].
struct Gather {
  std::vector<std::uint32_t> first, sources;
};

/// Row i is ± x[source[i]].
struct SignedGather {
  std::vector<std::uint32_t> source;
  std::vector<bool> negative;
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

template <class Number>
struct RoundedBlocks {
  /// A rotation of coordinates position and position + 1, or (is_sign) a scaling of one coordinate by ±1.
  struct Block {
    std::uint32_t position;
    bool is_sign, negative;
    Number cosine, sine, minus_sine;
  };
  std::vector<Block> blocks;
};

template <class Number>
struct RoundedDiagonal {
  std::vector<Number> values;
};

struct RoundedZero {
  std::uint32_t dimension = 0;
};

/// Row-major, so that a row's products are taken from left to right in memory too.
template <class Number>
struct RoundedDense {
  std::uint32_t dimension = 0;
  std::vector<Number> rows;
};

template <class Number>
struct RoundedBlockDiagonal {
  std::vector<RoundedDense<Number>> blocks;
};

struct SparseTerms {
  struct Term {
    std::vector<std::uint32_t> outputs, inputs;
  };
  std::uint32_t dimension = 0;
  std::vector<Term> terms;
};

template <class Number>
using RoundedMatrix =
    std::variant<Gather, SignedGather, RoundedReflections<Number>, RoundedBlocks<Number>, RoundedDiagonal<Number>,
                 RoundedZero, RoundedDense<Number>, RoundedBlockDiagonal<Number>, SparseTerms>;

template <class Number>
void apply(const Gather& a, const Number* x, Number* y) {
  for (std::size_t i = 0; i + 1 < a.first.size(); ++i) {
    const std::uint32_t begin = a.first[i], end = a.first[i + 1];
    Number sum = begin == end ? Number(0) : x[a.sources[begin]];
    for (std::uint32_t e = begin + 1; e < end; ++e) sum = sum + x[a.sources[e]];
    y[i] = sum;
  }
}

template <class Number>
void apply(const SignedGather& a, const Number* x, Number* y) {
  for (std::size_t i = 0; i < a.source.size(); ++i) y[i] = a.negative[i] ? -x[a.source[i]] : x[a.source[i]];
}

template <class Number>
void apply(const RoundedReflections<Number>& a, const Number* x, Number* y) {
  std::copy_n(x, a.dimension, y);
  for (const auto& factor : a.factors) {
    if (factor.entries.empty()) continue;
    Number dot = factor.entries[0].key * y[factor.entries[0].position];
    for (std::size_t e = 1; e < factor.entries.size(); ++e) {
      const Number product = factor.entries[e].key * y[factor.entries[e].position];
      dot = dot + product;
    }
    const Number scaled = factor.beta * dot;
    for (const auto& entry : factor.entries) {
      const Number product = entry.key * scaled;
      y[entry.position] = y[entry.position] - product;
    }
  }
}

template <class Number>
void apply(const RoundedBlocks<Number>& a, const Number* x, Number* y) {
  for (const auto& block : a.blocks) {
    const Number* in = x + block.position;
    Number* out = y + block.position;
    if (block.is_sign) {
      out[0] = block.negative ? -in[0] : in[0];
      continue;
    }
    const Number c0 = block.cosine * in[0], s1 = block.minus_sine * in[1];
    const Number s0 = block.sine * in[0], c1 = block.cosine * in[1];
    out[0] = c0 + s1;
    out[1] = s0 + c1;
  }
}

template <class Number>
void apply(const RoundedDiagonal<Number>& a, const Number* x, Number* y) {
  for (std::size_t i = 0; i < a.values.size(); ++i) y[i] = a.values[i] * x[i];
}

template <class Number>
void apply(const RoundedZero& a, const Number*, Number* y) {
  std::fill_n(y, a.dimension, Number(0));
}

template <class Number>
void apply(const RoundedDense<Number>& a, const Number* x, Number* y) {
  for (std::size_t i = 0; i < a.dimension; ++i) {
    const Number* row = a.rows.data() + i * a.dimension;
    Number sum = row[0] * x[0];
    for (std::size_t j = 1; j < a.dimension; ++j) {
      const Number product = row[j] * x[j];
      sum = sum + product;
    }
    y[i] = sum;
  }
}

template <class Number>
void apply(const RoundedBlockDiagonal<Number>& a, const Number* x, Number* y) {
  for (const auto& block : a.blocks) {
    apply(block, x, y);
    x += block.dimension;
    y += block.dimension;
  }
}

template <class Number>
void apply(const SparseTerms& a, const Number* x, Number* y) {
  std::fill_n(y, a.dimension, Number(0));
  for (const auto& term : a.terms) {
    if (term.inputs.empty()) continue;
    Number sum = x[term.inputs[0]];
    for (std::size_t e = 1; e < term.inputs.size(); ++e) sum = sum + x[term.inputs[e]];
    for (const std::uint32_t i : term.outputs) y[i] = y[i] + sum;
  }
}

/// y = A x for each of `columns` columns of `dimension` numbers, columns one after another. One dispatch a call.
template <class Number>
void apply(const RoundedMatrix<Number>& matrix, std::uint32_t dimension, std::uint32_t columns, const Number* x,
           Number* y) {
  std::visit(
      [&](const auto& form) {
        for (std::uint32_t column = 0; column < columns; ++column, x += dimension, y += dimension) apply(form, x, y);
      },
      matrix);
}

}  // namespace krohn
