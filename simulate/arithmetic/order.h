// simulate/arithmetic/order.h — evaluation orders: which products and sums a layer makes of a word's letters, in which
// order, and where they are rounded. This page is their definition; every certificate names the one that it speaks of.
//
// A letter is the map H ↦ A H + B. H_t is the state after t letters. Every layer reads the whole word in the order; its
// labels are decoded at every position, and give the next layer its word. In every order H_t depends on the first t
// letters alone, in one way that depends on t alone: padding a word to a power of two changes nothing before its end.
//
//   sequential    H_t = A H_{t−1} + B, by simulate/arithmetic/apply.h.
//
// Composition (simulate/evaluate/affine_layer.h). The other orders compose letters, as matrices. A letter's matrix is
// what apply.h makes of the unit vectors, column by column; with Form::kDense, its dense form rounded once. Both are
// stored.
//
//   (A₂, B₂) after (A₁, B₁)  =  (A₂ A₁, A₂ B₁ + B₂), every entry stored when it is complete;
//   A₂ A₁      entry (i, j) is the dot product of row i and column j, left to right from the first product, zeros
//              included: acc ← A::product, then A::add_product;
//   A H + B    the dot products of the rows with H's columns; then B is added, A::add; then stored. A layer without any
//              B composes matrices alone; where some letter has a B, a letter without one has B = 0.
//   Structure  Where the matrices of all letters are made of blocks along the diagonal (1×1 for diagonals and signs,
//              2×2 for rotations), only the blocks are multiplied. Where every column of every letter's matrix has at
//              most one entry that is not 0, and that is ±1 (maps, resets, signed permutations, reflections that are
//              exact swaps), matrices are not multiplied but composed as maps, and A H adds the ± h_j that come to a
//              row in increasing j. Neither differs from the dense product unless a number overflows; but tf32 does not
//              shorten numbers that are only moved. Form::kDense multiplies whole matrices.
//
//   chunked:C     The word is cut into chunks of C letters, read one after another. With H the state before a chunk:
//              H_t = P_i H (+ B of P_i) after i letters of the chunk, where P_1 is the first letter and P_i is
//              letter i after P_{i−1}.
//              When all letters of a layer are products of reflections without B (and Form::kStructured): the UT
//              transform, as DeltaNet's kernels have it, in simulate/evaluate/reflection_chunk.h, over all factors of
//              the chunk's letters in order.
//   scan       Blelloch's exclusive scan, started with H_0 in place of the identity. Up-sweep: the total of 2^k letters
//              is the right half's total after the left half's. Down-sweep: from H at the root, a left child gets its
//              parent's state and a right child the left half's total applied to it. So, with t = 2^a + 2^b + …,
//              a > b > …, H_t is H_0 taken through the total of the first 2^a letters, then of the next 2^b, ….
//   doubling   The scan in Fan's listing (appendix A.2), where H_0 is position 0, letter t is position t, and level k
//              joins the blocks of 2^k positions in pairs: everything in the right block is composed after the last
//              element of the left one. (Pad positions in the listing's 5-d tensor by (0, 0, 0, 0, 0, n); they are not
//              read. This is the network of Sklansky 1960: Hillis and Steele's adds 2^k places back instead.)
//              So, with t = 2^a + 2^b + … + 2^y + 2^z, H_t = ((letter t after the total of the 2^z letters before it)
//              after that of the 2^y letters before those) … applied to H_{2^a − 1}; totals are as in `scan`.
//   scan:N, doubling:N   As a device does that keeps N positions at hand: the word is cut into blocks of N letters,
//   each
//              scanned by itself from the state that the block before it ended in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace krohn {

struct Order {
  enum class Kind : std::uint8_t { kSequential, kChunked, kScan, kDoubling };

  Kind kind = Kind::kSequential;
  /// Letters in a chunk of `chunked`, or in a block of a scan; 0 for a scan over the whole word, and for `sequential`.
  std::uint32_t block = 0;

  static constexpr std::uint32_t kDefaultChunk = 64;  ///< flash-linear-attention's
  static constexpr std::uint32_t kGreatestBlock = std::uint32_t{1} << 20;

  bool is_sequential() const { return kind == Kind::kSequential; }
  friend bool operator==(const Order&, const Order&) = default;
};

/// "sequential", "chunked:64", "scan", "scan:1024", "doubling", "doubling:1024".
std::string to_string(Order order);

/// The inverse; "chunked" alone is chunked:64. Throws InputError listing the names, and where a size is not in
/// 1 … 2^20.
Order parse_order(std::string_view name);

}  // namespace krohn
