#include "krohn/constructions/build/build_integral.h"

#include <fmt/format.h>

#include "krohn/constructions/actions/abelian_structure.h"
#include "krohn/constructions/network/listed_layer.h"
#include "krohn/groups/error.h"

namespace krohn {
namespace {

constexpr std::uint64_t kMaxDimension = 512;
constexpr Label kMaxStates = 4096;

void require_small(Label states, std::uint64_t dimension) {
  if (dimension > kMaxDimension || states > kMaxStates)
    throw LimitError(fmt::format("{} states in {} dimensions of dense integers are past the limit of {} in {}", states,
                                 dimension, kMaxStates, kMaxDimension));
}

/// Z[x]/Φ_q for a prime power q = p^a; q = 1 is Z.
struct CyclotomicRing {
  std::uint64_t order;  ///< q
  std::uint64_t step;   ///< q/p
  Eigen::Index degree;  ///< φ(q) = q − q/p
};

CyclotomicRing cyclotomic_ring(std::uint64_t q) {
  if (q == 1) return {1, 1, 1};
  std::uint64_t p = 2;
  while (q % p != 0) ++p;
  return {q, q / p, static_cast<Eigen::Index>(q - q / p)};
}

/// x^exponent: a unit vector, or by Φ_q(x) = Σ x^{i·q/p} the negative sum of p − 1 of them.
Eigen::VectorXd power(const CyclotomicRing& ring, std::uint64_t exponent) {
  const auto reduced = static_cast<Eigen::Index>(exponent % ring.order);
  Eigen::VectorXd x = Eigen::VectorXd::Zero(ring.degree);
  if (reduced < ring.degree) {
    x(reduced) = 1;
    return x;
  }
  for (Eigen::Index i = reduced - ring.degree; i < ring.degree; i += static_cast<Eigen::Index>(ring.step)) x(i) = -1;
  return x;
}

/// C^exponent: column j is x^{j + exponent}.
Eigen::MatrixXd companion_power(const CyclotomicRing& ring, std::uint64_t exponent) {
  Eigen::MatrixXd a(ring.degree, ring.degree);
  for (Eigen::Index j = 0; j < ring.degree; ++j) a.col(j) = power(ring, static_cast<std::uint64_t>(j) + exponent);
  return a;
}

/// Points of the components, each in its own n_i − 1 coordinates.
class StandardCode {
 public:
  explicit StandardCode(const BasedAction& action) {
    Eigen::Index first = 0;
    for (const Point degree : action.degrees) {
      const Eigen::Index size = degree - 1;
      for (Eigen::Index i = 0; i < degree; ++i) points_.push_back({first, size, i});
      sizes_.push_back(size);
      first += size;
    }
    dimension_ = first;
  }

  Eigen::Index dimension() const { return dimension_; }

  Eigen::VectorXd operator()(Point point) const {
    const auto [first, size, index] = points_[point];
    Eigen::VectorXd code = Eigen::VectorXd::Zero(dimension_);
    if (index < size)
      code(first + index) = 1;
    else
      code.segment(first, size).setConstant(-1);
    return code;
  }

  /// The block of each component: column j is the code of the image of its point j.
  BlockDiagonalMatrix matrix(const Permutation& letter) const {
    BlockDiagonalMatrix a;
    Point first_point = 0;
    Eigen::Index first = 0;
    for (const Eigen::Index size : sizes_) {
      Eigen::MatrixXd block(size, size);
      for (Eigen::Index j = 0; j < size; ++j)
        block.col(j) = (*this)(letter[first_point + static_cast<Point>(j)]).segment(first, size);
      a.blocks.push_back(std::move(block));
      first_point += static_cast<Point>(size) + 1;
      first += size;
    }
    return a;
  }

 private:
  struct Place {
    Eigen::Index first, size, index;
  };
  std::vector<Place> points_;
  std::vector<Eigen::Index> sizes_;
  Eigen::Index dimension_ = 0;
};

}  // namespace

Network build_integral_cyclotomic(const Dfa& automaton) {
  const TrackedStates tracked = tracked_states(automaton);
  const AbelianStructure primary = primary_structure(abelian_structure(automaton, tracked));
  std::vector<CyclotomicRing> rings;
  std::uint64_t dimension = 0;
  for (const std::uint64_t order : primary.orders) {
    rings.push_back(cyclotomic_ring(order));
    dimension += static_cast<std::uint64_t>(rings.back().degree);
  }
  require_small(tracked.count(), dimension);
  require_dense(tracked.maps.size(), dimension);
  require_listable(tracked.count(), dimension, 1);
  std::vector<Eigen::MatrixXd> codewords;
  for (const auto& element : primary.of_state) {
    Eigen::VectorXd h(static_cast<Eigen::Index>(dimension));
    Eigen::Index first = 0;
    for (std::size_t i = 0; i < rings.size(); first += rings[i++].degree)
      h.segment(first, rings[i].degree) = power(rings[i], element[i]);
    codewords.push_back(std::move(h));
  }
  Layer layer = listed_layer(std::move(codewords));
  for (const auto& element : primary.of_action) {
    BlockDiagonalMatrix a;
    for (std::size_t i = 0; i < rings.size(); ++i) a.blocks.push_back(companion_power(rings[i], element[i]));
    layer.transitions.push_back({std::move(a), {}});
  }
  return single_layer_network(automaton, tracked, std::move(layer),
                              {"integral-cyclotomic",
                               {},
                               "companion matrices of cyclotomic polynomials",
                               "transition group " + to_string(primary)});
}

Network build_integral_standard(const Dfa& automaton) {
  return build_integral_standard(automaton, best_based_action(automaton, tracked_states(automaton)));
}

Network build_integral_standard(const Dfa& automaton, const BasedAction& action) {
  const TrackedStates tracked = tracked_states(automaton);
  if (tracked.count() == 1) throw InputError("one state leaves no dimension in the standard representation");
  const StandardCode code(action);
  const auto dimension = static_cast<std::uint64_t>(code.dimension());
  require_small(tracked.count(), dimension);
  require_dense(tracked.maps.size(), dimension);
  require_listable(tracked.count(), dimension, action.columns);
  std::vector<Eigen::MatrixXd> codewords;
  for (Label label = 0; label < tracked.count(); ++label) {
    Eigen::MatrixXd h = Eigen::MatrixXd::Zero(code.dimension(), action.columns);
    for (std::size_t i = 0; i < action.column_of.size(); ++i)
      h.col(action.column_of[i]) += code(action.images[label][i]);
    codewords.push_back(std::move(h));
  }
  Layer layer = listed_layer(std::move(codewords));
  for (const Permutation& letter : action.letters) layer.transitions.push_back({code.matrix(letter), {}});
  return single_layer_network(automaton, tracked, std::move(layer),
                              {"integral-standard",
                               {},
                               "standard representation of S_n",
                               fmt::format("{} points, {} columns", action.degree(), action.columns)});
}

}  // namespace krohn
