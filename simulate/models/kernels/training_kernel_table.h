// simulate/models/kernels/training_kernel_table.h — the inner loops of training: matrix products and recurrences,
// forward and adjoint, one thread each. Compiled once for every instruction set, with fused multiply-adds; nothing is
// proved of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "krohn/simulate/models/cells/cell_units.h"

namespace krohn {

enum class InstructionSet : std::uint8_t;

/// c(i, j) += Σ_k a(i, k) b(k, j) for i < rows, j < columns, k < depth; b and c have their columns side by side.
template <class Real>
struct Product {
  std::size_t rows, columns, depth;
  const Real* a;
  std::size_t a_row, a_depth;  ///< a(i, k) at i · a_row + k · a_depth: so a may be transposed
  const Real* b;
  std::size_t b_row;
  Real* c;
  std::size_t c_row;
  bool sets = false;  ///< c(i, j) = …, whatever stands there; the depth is not 0
};

/// Row i of x · b, with a row added to each, goes to to[i] or is added to what stands there. Rows of b, of the addition
/// and those written are whole vectors of kWidestVector numbers.
template <class Real>
struct RowProducts {
  std::size_t count, columns, depth;
  const Real* x;
  std::size_t x_row;
  const Real* b;
  std::size_t b_row;
  const Real* addition;  ///< null: nothing
  Real* const* to;
  bool adds;
};
/// The numbers of the widest vector of any instruction set.
inline constexpr std::size_t kWidestVector = 16;

/// c(i, j) += Σ_k a(i, k) b(j, k): the products of few rows with many, along rows that are long.
template <class Real>
struct RowDots {
  std::size_t rows, columns, depth;
  const Real* a;
  std::size_t a_row;
  const Real* b;
  std::size_t b_row;
  Real* c;
  std::size_t c_row, c_column;  ///< c(i, j) at i · c_row + j · c_column
};

/// One head of some words of S ← S + β k (v − Sᵀk)ᵀ = (I − β k kᵀ) S + β k vᵀ, `reflections` times a token, and then
/// o = Sᵀ q. S is keys × values. Word w has tokens first[w] … first[w + 1] − 1; token t reads row source[t] of q, k, v
/// and β and has row t of o and `lacks`.
template <class Real>
struct Reflections {
  std::size_t words, reflections, keys, values;  ///< at most kMaxChunkSteps reflections
  const std::size_t* first;
  const std::uint32_t* source;
  std::size_t sources;           ///< rows of q, k, v, β
  const Real *q, *k, *v, *beta;  ///< of the head: keys, reflections × keys, reflections × values, reflections a row
  std::size_t q_row, k_row, v_row, beta_row;
  Real* state;  ///< before every word's first token, then after its last; null: 0 before, and not wanted after
  std::size_t state_row;
  Real* starts;  ///< the states before all chunks, reflection_chunks · keys × values, which the adjoint reads; null:
                 ///< not kept, and the adjoint takes them for 0
  Real *o, *lacks;  ///< v − Sᵀk: values numbers a reflection, which the adjoint reads
  std::size_t o_row, lacks_row;
  Real* scratch;  ///< reflection_scratch numbers
};

/// Its gradients: by o given, by the others added.
template <class Real>
struct ReflectionsAdjoint {
  const Real* by_o;
  Real *by_q, *by_k, *by_v, *by_beta;
  Real* by_state;  ///< by the states after the last tokens, then by those before the first; null: 0, and not wanted
};

/// The same for words that begin at 0, by the letters that tokens read: the state is always Kᵀ C with a row of K, and
/// one of C, for every source and reflection, and no step changes more than one row of C. Words stand in an order in
/// which each shares its first tokens with the one before, so that these are computed once: word w has the tokens
/// path[w · positions], …, `length[w]` of them, and the first shared[w] are those of word w − 1. `first`, `state`,
/// `starts` and their rows are not read.
template <class Real>
struct LetterReflections {
  Reflections<Real> run;
  std::size_t positions;
  const std::uint32_t *path, *length, *shared;
  Real* befores;  ///< as `lacks`: the rows of C that a step changes, before it; the adjoint reads them
};

/// Rows of C at most. Work grows with them, and that by chunks with a word's length.
inline constexpr std::size_t kMaxLetterRows = 12;
template <class Real>
std::size_t letter_reflection_scratch(const LetterReflections<Real>& letters);

/// Steps are made by chunks of so many at most.
inline constexpr std::size_t kMaxChunkSteps = 64;
/// Rows of keys, one for every source and reflection, whose products are tabled, at most.
inline constexpr std::size_t kMaxSharedRows = 64;

/// Tokens of a chunk of a word of so many tokens.
std::size_t reflection_chunk(std::size_t tokens, std::size_t reflections, std::size_t keys);
template <class Real>
std::size_t reflection_chunks(const Reflections<Real>& run);

struct ReflectionExtents {
  std::size_t chunk_tokens, chunk_steps;  ///< at most
  bool shared;                            ///< few rows are read by many tokens
};
template <class Real>
ReflectionExtents reflection_extents(const Reflections<Real>& run);
template <class Real>
std::size_t reflection_scratch(const Reflections<Real>& run);

/// One word of h ← a ∘ h + k (∘) u with states × channels numbers h: h(i, c) ← a(i, c) h(i, c) + k(i) u(c), and then
/// y(c) = Σ_i q(i) h(i, c). Token t reads row source[t] of a, k, u and q and has row t of y. Where h is complex, its
/// state i has rows 2i and 2i + 1 of h and a, real and imaginary parts, and both numbers of q: y = Σ q(2i) Re h + q(2i
/// + 1) Im h.
template <class Real>
struct Diagonal {
  std::size_t tokens, states, channels;
  const std::uint32_t* source;
  const Real *a, *k, *u, *q;  ///< states × channels, states, channels, states a row; twice the states of a and q
  std::size_t a_row, k_row, u_row, q_row;
  Real* state;    ///< before the first token, then after the last
  Real* history;  ///< the states before every token, as many numbers each; null: not kept
  Real* y;
  std::size_t y_row;
  bool complex = false;
};

template <class Real>
struct DiagonalAdjoint {
  const Real* by_y;
  Real *by_a, *by_k, *by_u, *by_q, *by_state;
};

/// One word of h ← a ∘ h + b uᵀ with states × channels numbers h, as Mamba has it: a(n, c) = e^(Δ(c) A(n, c)), or twice
/// that less 1, and then y(c) = Σ_n q(n) h(n, c). Token t reads row source[t] of Δ, u, b and q and has row t of y.
template <class Real>
struct SelectiveScan {
  std::size_t tokens, states, channels;
  bool is_signed;
  const std::uint32_t* source;  ///< null: row t
  const Real* rates;            ///< A
  const Real *delta, *u;        ///< channels a row
  const Real *b, *q;            ///< states a row
  std::size_t narrow_row;       ///< from one row of b, or of q, to the next
  const Real* start;            ///< the states before the first token; null: 0, as the adjoint takes them to be
  Real* after;                  ///< the states after tokens, which the adjoint reads
  std::size_t after_row;  ///< from those after one token to those after the next; 0: the last ones are kept, no more
  Real* y;
};

/// Its gradients: by y given, the others added.
template <class Real>
struct SelectiveScanAdjoint {
  const Real* by_y;
  Real *by_rates, *by_delta, *by_u, *by_b, *by_q;
  Real* scratch;  ///< states × channels numbers
};

/// One word of x ← A x + u with `blocks` blocks of size × size in A: entry (row, column) of a block at column · size +
/// row. Token t reads row source[t] of A and u and has row t of x.
template <class Real>
struct BlockScan {
  std::size_t tokens, blocks, size;
  const std::uint32_t* source;
  const Real *a, *u;
  const Real* start;
  Real* x;
};

template <class Real>
struct BlockScanAdjoint {
  Real* by_x;  ///< as the rest of the model sees the states; becomes the gradient through all that follows
  Real *by_a, *by_u, *by_start;
};

/// `count` rows of the cells of one kind, `hidden` units each: of a row's `gates` or `kept` · hidden numbers
/// (simulate/models/cells/cell_units.h), number g of unit j is at g · hidden + j.
template <class Real>
struct CellRows {
  CellKind kind;
  std::size_t count, hidden;
  const std::uint32_t* source;  ///< row t reads row source[t] of `input`; null: row t
  const Real* input;            ///< the units' products: gates a row
  Real* state;                  ///< the same; then what the adjoint reads; then the gradient by them
  const Real* before;           ///< kept a row; null: 0
  Real* after;                  ///< kept a row; the adjoint does not read it
};

template <class Real>
struct CellRowsAdjoint {
  const Real* by_output;  ///< the gradient by a unit's output besides `by_memory`: hidden numbers a row
  Real* by_memory;        ///< by the memory after; becomes that by the memory before, the products' share left out
  Real* by_input;         ///< set; null where it is that by `state`: a unit takes their sums alone
};

/// Rows of `width` numbers, one after another.
template <class Real>
struct Rows {
  std::size_t count, width;
  const Real* x;
};

/// `count` rows of `labels` logits x, at least one. Each becomes share · softmax(x) − away.
template <class Real>
struct SoftmaxRows {
  std::size_t count, labels;
  Real* x;
  const Real *share, *away;  ///< one number a row
  Real *greatest, *sum;      ///< of a row's logits; of e to what each lacks to the greatest
  std::uint32_t* best;       ///< the first of the greatest
};

/// Rows that are a row of `own` and a combination of the `terms` rows of `table` each: row t is own(source[t], ·) +
/// Σ_j by(t, j) table(j, ·).
template <class Real>
struct Combinations {
  std::size_t count, columns, terms;
  const std::uint32_t* source;
  const Real *by, *table, *own;
};

/// Rows of coefficients of vectors whose products with each other are known, `terms` numbers every `row`: x stands for
/// a vector of the square xᵀ gram x, of `width` numbers. `factor` is lower triangular, and gram = factor · factorᵀ;
/// both are terms × terms.
template <class Real>
struct GramRows {
  std::size_t count, terms, width, row;
  const Real *gram, *factor;
  const Real* x;
};

/// A step of AdamW (simulate/train/optimiser.h) for `count` parameters; the gradient is taken times `scale`.
template <class Real>
struct AdamStep {
  std::size_t count;
  const Real* gradient;
  Real scale, mean_decay, square_decay, rate, kept, epsilon;
  Real *mean, *square, *parameters;
};

/// The same for a matrix of parameters whose gradient is a product: number (i, j) of `rows` × step.count moves by Σ_t
/// left(t, i) right(t, j), which is written nowhere. step.gradient is not read; its other lists are the first rows'.
template <class Real>
struct OuterAdamStep {
  AdamStep<Real> step;
  std::size_t rows, row, terms;  ///< row: from one row of the parameters to the next
  const Real* left;
  std::size_t left_row;
  const Real* right;
  std::size_t right_row;
};

template <class Real>
struct TrainingKernels {
  void (*add_product)(const Product<Real>&);
  void (*multiply_rows)(const RowProducts<Real>&);
  void (*add_dots)(const RowDots<Real>&);
  void (*reflect)(const Reflections<Real>&);
  void (*reflect_adjoint)(const Reflections<Real>&, const ReflectionsAdjoint<Real>&);
  void (*reflect_letters)(const LetterReflections<Real>&);
  void (*reflect_letters_adjoint)(const LetterReflections<Real>&, const ReflectionsAdjoint<Real>&);
  void (*scan_diagonal)(const Diagonal<Real>&);
  void (*scan_diagonal_adjoint)(const Diagonal<Real>&, const DiagonalAdjoint<Real>&);
  void (*scan_selectively)(const SelectiveScan<Real>&);
  void (*scan_selectively_adjoint)(const SelectiveScan<Real>&, const SelectiveScanAdjoint<Real>&);
  void (*step_cells)(const CellRows<Real>&);
  void (*step_cells_adjoint)(const CellRows<Real>&, const CellRowsAdjoint<Real>&);
  void (*scan_blocks)(const BlockScan<Real>&);
  void (*scan_blocks_adjoint)(const BlockScan<Real>&, const BlockScanAdjoint<Real>&);

  // The work of TokenLayers on every token alone (simulate/models/token_layers.h); adjoints add.
  void (*rms_norm)(const Rows<Real>&, const Real* gain, Real* y);
  void (*rms_norm_adjoint)(const Rows<Real>&, const Real* gain, const Real* by_y, Real* by_x, Real* by_gain);
  void (*unit_norm)(const Rows<Real>&, Real* y);
  void (*unit_norm_adjoint)(const Rows<Real>&, const Real* by_y, Real* by_x);
  void (*silu)(const Real* x, std::size_t count, Real* y);
  void (*silu_adjoint)(const Real* x, std::size_t count, const Real* by_y, Real* by_x);
  void (*softplus)(const Real* x, std::size_t count, Real* y);  ///< log(1 + eˣ)
  void (*softplus_adjoint)(const Real* x, std::size_t count, const Real* by_y, Real* by_x);
  void (*gate)(const Rows<Real>&, Real* y);  ///< silu of a row's first half times its second
  void (*gate_adjoint)(const Rows<Real>&, const Real* by_y, Real* by_x);
  /// The same of rows times `scale`, one number a row; the logistic function of first halves is kept for the adjoint,
  /// which writes.
  void (*scaled_gate)(const Rows<Real>&, const Real* scale, Real* logistics, Real* y);
  void (*scaled_gate_adjoint)(const Rows<Real>&, const Real* scale, const Real* logistics, const Real* by_y, Real* by_x,
                              Real* by_scale);
  /// The factor by which rms_norm multiplies a row.
  void (*rms_scales)(const Rows<Real>&, Real* scale);
  void (*rms_scales_adjoint)(const Rows<Real>&, const Real* scale, const Real* by_scale, Real* by_x);
  void (*combine)(const Combinations<Real>&, Real* to);
  void (*combine_adjoint)(const Combinations<Real>&, const Real* by_to, Real* by_by, Real* by_table, Real* by_own);
  /// The RMS norm of what the coefficients stand for, without a gain. The adjoint writes by_x, and adds to by_gram.
  void (*gram_norm)(const GramRows<Real>&, Real* scale, Real* y);
  void (*gram_norm_adjoint)(const GramRows<Real>&, const Real* scale, const Real* by_y, Real* by_x, Real* by_gram);
  void (*softmax)(const SoftmaxRows<Real>&);

  double (*squares)(const Real* x, std::size_t count);  ///< Σ x², summed in double
  void (*adam)(const AdamStep<Real>&);
  void (*outer_adam)(const OuterAdamStep<Real>&);
};

/// The fastest of this processor (float), and the portable ones.
template <class Real>
const TrainingKernels<Real>& training_kernels();
/// For a set that the processor runs. Sets other than the portable one hold floats alone.
TrainingKernels<float> training_kernels(InstructionSet set);

TrainingKernels<float> portable_training_kernels();
TrainingKernels<double> portable_double_training_kernels();
TrainingKernels<float> avx2_training_kernels();
TrainingKernels<float> avx512_training_kernels();

}  // namespace krohn
