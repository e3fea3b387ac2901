// constructions/network/matrix.h — the structured forms of a transition matrix A(σ). The structured form is the truth;
// every dense form, in any precision, is derived from it.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "krohn/groups/permutations/permutation.h"
#include "krohn/groups/transformations/transformation.h"

namespace krohn {

// Cosines of exact fractions of a turn, in integers: a weight that a file
// gives as p/q is one number, whatever the C library and the processor.

/// cos(2π·p/q): exact where it is 0, ±½ or ±1, otherwise rounded to odd at 64 significant bits (cut off there, the last
/// bit 1). Rounding such a number once more, to at most 62 bits and in any way, is rounding the true value (Boldo &
/// Melquiond 2008). assert(0 ≤ p < q ≤ 2^58); p/q need not be reduced. About 5 µs.
long double cosine_of_turn(std::int64_t p, std::int64_t q);

/// An exact fraction of a full turn, numerator/denominator, 0 ≤ numerator < denominator after `normalised()`.
struct Turn {
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;
  /// Reduced, in [0, 1). Throws InputError when the denominator is not in 1 … 2^56.
  Turn normalised() const;
  /// cos and sin of 2π·numerator/denominator: exact, or rounded to odd.
  long double cosine() const;
  long double sine() const;
  friend bool operator==(const Turn&, const Turn&) = default;
};

/// A'[map[j], j] = 1: columns are one-hot, so the state e_q goes to e_{q·σ} (MATH.md §1). Permutations are the case of
/// distinct images.
struct MapMatrix {
  Transformation map = Transformation::identity(0);
  friend bool operator==(const MapMatrix&, const MapMatrix&) = default;
};

/// A[map[j], j] = sign[j] ∈ {+1, −1}.
struct SignedPermutationMatrix {
  Permutation map = Permutation::identity(0);
  std::vector<std::int8_t> sign;
  friend bool operator==(const SignedPermutationMatrix&, const SignedPermutationMatrix&) = default;
};

/// One generalized Householder factor I − β k kᵀ with the key k exactly as a layer would hold it.
///   key = scale · Σ entries,   scale = √(scale_squared), a rational; entries are small integers at positions.
/// or, for two-dimensional reflections of rotation constructions, the unit vector at an angle: key = (cos, sin)(angle).
struct Reflection {
  struct Entry {
    std::uint32_t position = 0;
    std::int32_t value = 0;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  std::vector<Entry> entries;                ///< sorted by position; empty when the key is given by `angle`
  std::int64_t scale_squared_numerator = 1;  ///< scale² as a positive fraction: 1/2 for (e_i − e_j)/√2
  std::int64_t scale_squared_denominator = 1;
  std::uint32_t plane = 0;  ///< with `angle`: the key lives in coordinates plane, plane+1
  Turn angle;               ///< used when `entries` is empty
  double beta = 2;          ///< eigenvalue along the key is 1 − β‖k‖² ∈ [−1, 1]
  friend bool operator==(const Reflection&, const Reflection&) = default;
};

/// The product R_1 first, then R_2, …: A = R_k … R_1. No factors: the identity of the dimension.
struct ReflectionProduct {
  std::uint32_t dimension = 0;
  std::vector<Reflection> factors;
  friend bool operator==(const ReflectionProduct&, const ReflectionProduct&) = default;
};

/// Block-diagonal of 2×2 rotations and 1×1 signs.
struct RotationBlocks {
  struct Block {
    bool is_sign = false;  ///< 1×1 block: +1 when turn = 0, −1 when turn = ½. Otherwise a 2×2 rotation by turn.
    Turn turn;
    friend bool operator==(const Block&, const Block&) = default;
  };
  std::vector<Block> blocks;
  friend bool operator==(const RotationBlocks&, const RotationBlocks&) = default;
};

/// diag(values); each value is exact in double.
struct DiagonalMatrix {
  std::vector<double> values;
  friend bool operator==(const DiagonalMatrix&, const DiagonalMatrix&) = default;
};

/// The zero matrix: what a reset does to the old state.
struct ZeroMatrix {
  std::uint32_t dimension = 0;
  friend bool operator==(const ZeroMatrix&, const ZeroMatrix&) = default;
};

/// Any matrix, row by row; integer constructions and trained weights.
struct DenseMatrix {
  Eigen::MatrixXd values;
  friend bool operator==(const DenseMatrix& a, const DenseMatrix& b) {
    return a.values.rows() == b.values.rows() && a.values.cols() == b.values.cols() && a.values == b.values;
  }
};

/// A block-diagonal of dense blocks (Fan; Ebrahimi's block-diagonal bilinear).
struct BlockDiagonalMatrix {
  std::vector<Eigen::MatrixXd> blocks;
  friend bool operator==(const BlockDiagonalMatrix& a, const BlockDiagonalMatrix& b) {
    if (a.blocks.size() != b.blocks.size()) return false;
    for (std::size_t i = 0; i < a.blocks.size(); ++i)
      if (a.blocks[i].rows() != b.blocks[i].rows() || a.blocks[i] != b.blocks[i]) return false;
    return true;
  }
};

/// Σ_r output[r] · gate_r · input[r]ᵀ: one letter's slice of a CP-factored bilinear tensor (MATH.md §7). The factors
/// are sparse 0/1 vectors, given by their supports; `gate` says which terms the letter switches on.
struct FactoredMatrix {
  std::uint32_t dimension = 0;
  std::vector<std::vector<std::uint32_t>> outputs;  ///< support of column r of the output factor
  std::vector<std::vector<std::uint32_t>> inputs;   ///< support of column r of the input factor
  std::vector<std::uint32_t> gate;                  ///< the terms that are on for this letter, increasing
  friend bool operator==(const FactoredMatrix&, const FactoredMatrix&) = default;
};

using Matrix = std::variant<MapMatrix, SignedPermutationMatrix, ReflectionProduct, RotationBlocks, DiagonalMatrix,
                            ZeroMatrix, DenseMatrix, BlockDiagonalMatrix, FactoredMatrix>;

using LongMatrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;

/// n of an n×n structured matrix.
std::uint32_t dimension(const Matrix& matrix);

/// The dense form, entry by entry from the exact description, in long double. O(n²) and up.
LongMatrix to_dense(const Matrix& matrix);

/// How many generalized Householder factors the form uses as written: the factors of a product; n − c for a
/// permutation; codim of the fixed space for rotations and signs; the entries that are not 1 for a diagonal in [−1, 1];
/// n for a zero matrix (MATH.md §3). Dense and block forms: rank(A − I) when orthogonal. Otherwise −1: no GH form is
/// known.
std::int64_t reflection_count(const Matrix& matrix);

/// Numbers stored in the structured form: n for a map, the key entries and β of each reflection, n² for a dense matrix.
std::uint64_t weight_count(const Matrix& matrix);

/// Checks that the parts fit each other and `dimension`, that numbers are finite, keys sorted, and that every
/// reflection has its eigenvalue 1 − β‖k‖² in [−1, 1]. Throws InputError beginning with `where`.
void validate(const Matrix& matrix, std::uint32_t dimension, const std::string& where);

/// "map", "reflections", "rotation", … as the file format and the tables name it.
std::string form_name(const Matrix& matrix);

// The matrix of a permutation, moved as a map or written as a product of reflections.

enum class KeyStyle : std::uint8_t {
  kUnit,          ///< (e_i − e_j)/√2, β = 2: the paper's; not exact
  kUnnormalised,  ///< e_i − e_j, β = 1: exact in every precision
  kDoubled,       ///< ½(e_i − e_j + e_{n+i} − e_{n+j}), β = 2: exact even when a framework L2-normalises the key
};

/// "unit", "unnormalised", "doubled". Throws InputError listing the names.
KeyStyle parse_key_style(std::string_view name);

/// How many copies of the n coordinates the style needs: 2 for kDoubled, otherwise 1 (no style: a 0/1 matrix).
std::uint32_t coordinate_copies(std::optional<KeyStyle> keys);

/// Exactly n − c reflections, the least possible (MATH.md §1): each cycle (a_0 a_1 … a_l) becomes the swaps
/// (a_0 a_1), (a_0 a_2), …, (a_0 a_l) in that order. Dimension n, or 2n for kDoubled, whose point i is e_i + e_{n+i}.
ReflectionProduct reflection_product(const Permutation& permutation, KeyStyle keys);

/// The 0/1 matrix when no style is asked for, otherwise the product of reflections.
Matrix permutation_matrix(const Permutation& permutation, std::optional<KeyStyle> keys);

}  // namespace krohn
