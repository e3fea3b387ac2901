// simulate/learned/spectrum.h — what each letter of a network does to its state: eigenvalues, and how much of the
// answer hangs on each (Ebrahimi & Memisevic, App. C.2, Fig. 3).
#pragma once

#include <Eigen/Core>

#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

#include "krohn/constructions/network/matrix.h"
#include "krohn/constructions/network/network.h"
#include "krohn/groups/base/decompositions.h"
#include "krohn/simulate/models/sequence_model.h"

namespace krohn {

// Decompositions and solutions that only training and a look into trained models
// need; others are in groups/linear. Compiled once: each takes the compiler seconds.

/// A V = V diag(values), the columns of V of length 1.
struct ComplexEigen {
  Eigen::VectorXcd values;
  Eigen::MatrixXcd vectors;
};

/// For a square matrix. Nothing where the iteration does not end. O(n³).
std::optional<ComplexEigen> complex_eigen(const Eigen::MatrixXd& matrix);

/// A P = QR with P a permutation of columns that leaves the diagonal of R decreasing in modulus.
struct PivotedQr {
  Eigen::MatrixXd q;                ///< square, rows × rows
  Eigen::VectorXd diagonal;         ///< of R, min(rows, columns) numbers
  std::vector<Eigen::Index> order;  ///< column i of A P is this column of A
};

PivotedQr pivoted_qr(const Eigen::MatrixXd& matrix);

/// An orthonormal basis of the columns' span, rows × columns, for linearly independent columns. O(n³).
Eigen::MatrixXd orthonormal_basis(const Eigen::MatrixXd& columns);

/// A⁻¹ B, by LU with partial pivoting: A square and invertible; otherwise numbers without meaning or that are not
/// finite.
Eigen::MatrixXd solution(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);
/// A⁻¹ B by LU with full pivoting, or nothing where the estimate of A's reciprocal condition number is at most `least`.
std::optional<Eigen::MatrixXcd> solution_if_conditioned(const Eigen::MatrixXcd& a, const Eigen::MatrixXcd& b,
                                                        double least);
/// The X of least norm among those of least ‖A X − B‖. Pivots up to `threshold` times the greatest count as zero;
/// without one those of rounding. O(n³).
Eigen::MatrixXd least_squares(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, std::optional<double> threshold = {});
/// A⁺ of Moore and Penrose. O(n³).
Eigen::MatrixXd pseudo_inverse(const Eigen::MatrixXd& matrix);

// The turns of a trained model of rotations in every plane (Ebrahimi & Memisevic
// 2025, App. C.2 and Fig. 3).

struct RotationPlane {
  std::uint32_t plane = 0;
  double readout = 0;         ///< the norm of the read-out's weights of its two coordinates
  std::vector<double> turns;  ///< by which each letter of the model rotates, as learned: any number
  /// The turn of the letter 1 by 1/m: a whole number k where the plane counts k x modulo m.
  double harmonic(std::uint32_t m) const { return turns[1] * m; }
};

/// The planes in the order of their read-out's norms, the greatest first. Throws InputError for another model than
/// bilinear:rotations.
std::vector<RotationPlane> rotation_planes(const SequenceModel<float>& model);

/// The angle as a part of a full turn, in (−½, ½].
double turn_of(std::complex<double> value);

/// One eigenvalue of a letter's matrix.
struct Mode {
  std::complex<double> value;
  std::uint32_t block = 0;  ///< the block of `Spectrum::blocks` that it is of
  /// How far the mode moves the decoder: ‖W v‖ · rms of the state's coordinate along the eigenvector v, over words of
  /// the length of training; W are the codewords less their mean. Normed so that the greatest of a letter is 1.
  double weight = 0;

  double modulus() const { return std::abs(value); }
  double turn() const { return turn_of(value); }
};

struct LetterSpectrum {
  std::vector<Mode> modes;  ///< by decreasing weight
  double spectral_radius = 0;
  double orthogonality_defect = 0;  ///< ‖UᵀAᵀAU − I‖₂, U an orthonormal basis of what is alive in the blocks
};

/// A common block of two coordinates, as the complex number that each letter multiplies it by: (a₀₀ + a₁₁)/2 +
/// i (a₁₀ − a₀₁)/2, which is all of the block where it is a rotation with a scale.
struct Plane {
  double weight = 0;                          ///< in the decoder; the greatest is 1
  std::vector<std::complex<double>> factors;  ///< per letter
};

struct Spectrum {
  /// Coordinates that no letter's matrix mixes with others: the finest common blocks. By decreasing weight in the
  /// decoder, of which the greatest is 1.
  std::vector<std::vector<std::uint32_t>> blocks;
  std::vector<double> block_weights;
  std::vector<LetterSpectrum> letters;
  std::vector<Plane> planes;  ///< the blocks of two coordinates, by decreasing weight
  /// Coordinates, and how many of them are alive: the dimension of what the differences between the automaton's mean
  /// states span, directions with less than a thousandth of the greatest left out. The others tell no state from
  /// another.
  std::uint64_t coordinates = 0, alive = 0;
};

/// The reason why a spectrum has no coordinates.
inline constexpr const char* kNoMatrices =
    "its letters act by no matrices that krohn takes, as in nonlinear cells and layers of other libraries";

/// The data of a spectrum, block by block: the letters' matrices, [letter][block]; what reads the state, with a
/// column a coordinate; states that weigh the modes, a column each; and the mean states of the automaton less their
/// mean.
struct LetterBlocks {
  std::vector<std::vector<Eigen::MatrixXd>> matrices;
  std::vector<Eigen::MatrixXd> readers, states, code;
};

/// `blocks` of the result stay empty. O(letters · Σ n³).
Spectrum spectrum(const LetterBlocks& given);

/// Throws InputError unless the network has one layer and its numbers are finite for some letters. O(letters · n³).
Spectrum spectrum(const Network& network);

/// The eigenvalues other than 0 that a letter of an exact construction can have: all fractions of a turn that have a
/// cycle length of the letter's map as denominator, increasing.
std::vector<Turn> exact_turns(const Transformation& map);

/// The one nearest to the angle. O(degree).
Turn nearest_exact_turn(const Transformation& map, double turn);

/// The distance of two angles in turns, at most ½.
double turn_distance(double a, double b);

}  // namespace krohn
