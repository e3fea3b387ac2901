// simulate/evaluate/exact_network.h — a network in exact arithmetic: weights and states are numbers of a cyclotomic
// field, nothing is rounded, and decoding finds the nearest codeword for certain.
//
// The matrices that have an exact form: maps, signed permutations, zeros and factored matrices; reflections, since k kᵀ
// is rational where k = √(p/q)·v is not; rotations and mirrors by fractions of a turn; and numbers with at most 24 bits
// after the point, integers above all. A number with more bits is taken for the rounded value of one that has no finite
// expansion (the orthogonal construction, trained weights) and refused.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/arithmetic/cyclotomic.h"
#include "krohn/simulate/evaluate/evaluate.h"

namespace krohn {

using ExactState = std::vector<ExactNumber>;  ///< n·d numbers, column-major

/// Square, by rows: the columns and values of what is not zero.
using ExactMatrix = std::vector<std::map<std::uint32_t, ExactNumber>>;

/// The least field that holds every turn of the network. Throws LimitError when that field is too large.
CyclotomicField field_of(const Network& network);

/// The matrix, exactly. Throws InputError beginning with `where` when it has no exact form.
ExactMatrix exact_matrix(const Matrix& matrix, const CyclotomicField& field, const std::string& where);

/// One layer. Views the layer and the field, which must outlive it.
class ExactLayer {
 public:
  /// Throws InputError beginning with `where` when a weight has no exact form, LimitError when the codewords are more
  /// than 5·10^7 numbers.
  ExactLayer(const Layer& layer, const CyclotomicField& field, const std::string& where);

  const ExactState& initial() const { return initial_; }
  /// A from + B.
  ExactState move(Action action, const ExactState& from) const;
  /// The label of the nearest codeword of a book, for certain. Codewords are the doubles that the decoder holds.
  /// kNoLabel when two are nearest.
  Label decode(const ExactState& state, std::uint32_t book) const;

 private:
  struct Book {
    std::vector<std::size_t> codewords;
    std::multimap<std::vector<double>, std::size_t> by_numbers;
  };

  double entry(std::size_t codeword, std::size_t i) const { return codewords_[codeword * initial_.size() + i]; }
  std::size_t nearest_by_enclosure(const ExactState& state, const Book& book) const;
  int compare_distances(const ExactState& state, std::size_t a, std::size_t b) const;

  const Layer& layer_;
  const CyclotomicField& field_;
  ExactState initial_;
  std::vector<ExactMatrix> matrices_;
  std::vector<ExactState> additions_;  ///< empty: no B
  std::vector<double> codewords_;
  std::vector<Book> books_;
};

/// The evaluator in exact arithmetic; `numbers` are the doubles nearest to the exact ones, or next to those. The
/// numbers of a network whose states are not finitely many grow, and steps with them. The network must outlive it.
std::unique_ptr<Evaluator> exact_evaluator(const Network& network);

}  // namespace krohn
