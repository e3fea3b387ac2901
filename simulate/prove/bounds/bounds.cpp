#include "krohn/simulate/prove/bounds/bounds.h"

#include <fmt/format.h>
#include <Eigen/SparseCholesky>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "krohn/groups/base/decompositions.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"

namespace krohn {
namespace {

constexpr std::size_t kMaxUnknowns = 4'000;
constexpr double kMaxProducts = 2e6, kMaxDescentWork = 2e5;
constexpr int kReweightings = 12;
constexpr int kDescentSteps = 40;
constexpr double kWorstCondition = 1e6;

using Triplets = std::vector<Eigen::Triplet<double>>;

struct Equations {
  Eigen::SparseMatrix<double> matrix;
  Eigen::MatrixXd right;
};

/// R_t (A c_s + B − c_t) = 0 for every edge, n rows each.
Equations edge_equations(const StepModel& model, const CentreLayer& layer, const StateNorms& norms) {
  const auto n = static_cast<Eigen::Index>(model.dimension());
  Triplets triplets;
  Equations equations;
  equations.right = Eigen::MatrixXd::Zero(n * std::ssize(layer.edges), static_cast<Eigen::Index>(model.columns()));
  for (std::size_t e = 0; e < layer.edges.size(); ++e) {
    const CentreEdge& edge = layer.edges[e];
    const auto row = n * static_cast<Eigen::Index>(e);
    const Eigen::MatrixXd r = norms.factor(edge.to, model.dimension());
    const Eigen::MatrixXd a = r * middle(model.matrix(edge.action));
    for (Eigen::Index i = 0; i < n; ++i)
      for (Eigen::Index j = 0; j < n; ++j) {
        if (a(i, j) != 0) triplets.emplace_back(row + i, n * edge.from + j, a(i, j));
        if (r(i, j) != 0) triplets.emplace_back(row + i, n * edge.to + j, -r(i, j));
      }
    if (model.addition(edge.action).rows() > 0)
      equations.right.middleRows(row, n) = -r * middle(model.addition(edge.action));
  }
  equations.matrix.resize(equations.right.rows(), n * std::ssize(layer.centres));
  equations.matrix.setFromTriplets(triplets.begin(), triplets.end());
  return equations;
}

/// Rows of one edge weigh more where its residual is large.
void reweight(Eigen::VectorXd& weights, const Eigen::MatrixXd& residual, Eigen::Index n) {
  const Eigen::Index edges = residual.rows() / n;
  Eigen::VectorXd norms(edges);
  for (Eigen::Index e = 0; e < edges; ++e) norms(e) = residual.middleRows(e * n, n).norm();
  const double greatest = norms.maxCoeff();
  if (!(greatest > 0)) return;
  for (Eigen::Index e = 0; e < edges; ++e) weights.segment(e * n, n) *= std::sqrt(std::max(norms(e) / greatest, 1e-3));
  weights /= weights.maxCoeff();
}

double greatest_residual(const Eigen::MatrixXd& residual, Eigen::Index n) {
  double greatest = 0;
  for (Eigen::Index row = 0; row < residual.rows(); row += n)
    greatest = std::max(greatest, residual.middleRows(row, n).norm());
  return greatest;
}

/// The matrices of the descent: M = R_t A R_s⁻¹, one for each different (class of s, class of t, action).
class Descent {
 public:
  Descent(const StepModel& model, const CentreLayer& layer, bool is_common)
      : dimension_(static_cast<Eigen::Index>(model.dimension())), is_common_(is_common) {
    std::set<std::tuple<std::uint32_t, std::uint32_t, Action>> kinds;
    for (const CentreEdge& edge : layer.edges)
      kinds.emplace(is_common ? 0 : edge.from, is_common ? 0 : edge.to, edge.action);
    for (const auto& [from, to, action] : kinds) edges_.push_back({from, to, middle(model.matrix(action))});
    factors_.assign(is_common ? 1 : layer.centres.size(), Eigen::MatrixXd::Identity(dimension_, dimension_));
  }

  double work() const { return static_cast<double>(edges_.size()) * std::pow(static_cast<double>(dimension_), 3); }

  /// Some steps with the power p; false when nothing is gained any more.
  void descend(double p) {
    double value = objective(factors_, p);
    double step = 0.5 / p;
    for (int i = 0; i < kDescentSteps && step > 1e-7; ++i) {
      const std::vector<Eigen::MatrixXd> gradient = gradient_of(p);
      std::vector<Eigen::MatrixXd> trial = moved(gradient, step);
      const double reached = objective(trial, p);
      if (!(reached < value)) {
        step /= 3;
        continue;
      }
      const bool is_little = value - reached < 1e-9;
      factors_ = std::move(trial);
      value = reached;
      step *= 1.5;
      if (is_little) return;
    }
  }

  StateNorms norms(std::size_t states) const {
    StateNorms norms = StateNorms::euclidean(states);
    norms.factors = factors_;
    if (!is_common_)
      for (std::size_t state = 0; state < states; ++state) norms.factor_of[state] = static_cast<std::uint32_t>(state);
    return norms;
  }

 private:
  struct Edge {
    std::uint32_t from, to;
    Eigen::MatrixXd a;
  };

  using Factors = std::vector<Eigen::MatrixXd>;

  static Eigen::MatrixXd changed(const Edge& edge, const Factors& factors) {
    // M Rₛ = R_t A, solved from the right.
    const Eigen::MatrixXd left = factors[edge.to] * edge.a;
    return factors[edge.from].triangularView<Eigen::Upper>().solve<Eigen::OnTheRight>(left);
  }

  /// log Σ tr((MᵀM)^p) / p; infinite when a norm is too badly conditioned.
  double objective(const Factors& factors, double p) const {
    for (const Eigen::MatrixXd& r : factors) {
      const Eigen::ArrayXd diagonal = r.diagonal().array().abs();
      if (!r.allFinite() || !(r.norm() < kWorstCondition * diagonal.minCoeff())) return INFINITY;
    }
    std::vector<double> values;
    for (const Edge& edge : edges_) {
      const Eigen::VectorXd singular = singular_values(changed(edge, factors));
      for (const double value : singular)
        if (value > 0) values.push_back(2 * p * std::log(value));
    }
    if (values.empty()) return -INFINITY;
    const double greatest = *std::max_element(values.begin(), values.end());
    double sum = 0;
    for (const double value : values) sum += std::exp(value - greatest);
    return (greatest + std::log(sum)) / p;
  }

  /// Σ_in (MMᵀ)^p − Σ_out (MᵀM)^p, of trace at most 1 each.
  Factors gradient_of(double p) const {
    std::vector<SingularValues> svds;
    double greatest = 0;
    for (const Edge& edge : edges_) {
      svds.push_back(singular_value_decomposition(changed(edge, factors_)));
      greatest = std::max(greatest, svds.back().values(0));
    }
    Factors gradient(factors_.size(), Eigen::MatrixXd::Zero(dimension_, dimension_));
    double total = 0;
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      const Eigen::VectorXd powers = (svds[e].values.array() / greatest).pow(2 * p);
      total += powers.sum();
      gradient[edges_[e].to] += svds[e].left * powers.asDiagonal() * svds[e].left.transpose();
      gradient[edges_[e].from] -= svds[e].right * powers.asDiagonal() * svds[e].right.transpose();
    }
    for (Eigen::MatrixXd& part : gradient) part /= std::max(total, 1e-300);
    return gradient;
  }

  /// R ← the triangular factor of exp(−step·X) R, to second order.
  Factors moved(const Factors& gradient, double step) const {
    Factors factors;
    for (std::size_t c = 0; c < factors_.size(); ++c) {
      const Eigen::MatrixXd x = step * gradient[c];
      const Eigen::MatrixXd turned = factors_[c] - x * factors_[c] + x * (x * factors_[c]) / 2;
      factors.push_back(triangular_factor(turned));
    }
    return factors;
  }

  Eigen::Index dimension_;
  bool is_common_;
  std::vector<Edge> edges_;
  Factors factors_;
};

}  // namespace

StateNorms StateNorms::euclidean(std::size_t states) {
  return {{}, std::vector<std::uint32_t>(states, 0), std::vector<double>(states, 1.0)};
}

Eigen::MatrixXd StateNorms::factor(std::size_t state, std::size_t dimension) const {
  if (!factors.empty()) return scale[state] * factors[factor_of[state]];
  const auto n = static_cast<Eigen::Index>(dimension);
  return scale[state] * Eigen::MatrixXd::Identity(n, n);
}

std::vector<Eigen::MatrixXd> fitted_centres(const StepModel& model, const CentreLayer& layer, const StateNorms& norms,
                                            double anchor) {
  const auto n = static_cast<Eigen::Index>(model.dimension());
  const std::size_t unknowns = model.dimension() * layer.centres.size();
  const double products = static_cast<double>(layer.edges.size()) * static_cast<double>(n * n);
  if (unknowns > kMaxUnknowns || products > kMaxProducts || layer.edges.empty()) return layer.centres;
  const Equations equations = edge_equations(model, layer, norms);
  Eigen::MatrixXd present(n * std::ssize(layer.centres), static_cast<Eigen::Index>(model.columns()));
  for (std::size_t s = 0; s < layer.centres.size(); ++s)
    present.middleRows(n * static_cast<Eigen::Index>(s), n) = layer.centres[s];
  Eigen::MatrixXd best = present;
  double least = greatest_residual(equations.matrix * present - equations.right, n);
  Eigen::VectorXd weights = Eigen::VectorXd::Ones(equations.right.rows());
  Eigen::SparseMatrix<double> identity(present.rows(), present.rows());
  identity.setIdentity();
  for (int round = 0; round < kReweightings; ++round) {
    const Eigen::SparseMatrix<double> weighted = weights.asDiagonal() * equations.matrix;
    const Eigen::SparseMatrix<double> normal =
        Eigen::SparseMatrix<double>(weighted.transpose()) * weighted + anchor * identity;
    const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> solver(normal);
    if (solver.info() != Eigen::Success) break;
    const Eigen::MatrixXd right = weights.asDiagonal() * equations.right;
    const Eigen::MatrixXd fitted = solver.solve(weighted.transpose() * right + anchor * present);
    if (!fitted.allFinite()) break;
    const Eigen::MatrixXd residual = equations.matrix * fitted - equations.right;
    const double greatest = greatest_residual(residual, n);
    if (greatest < least) {
      least = greatest;
      best = fitted;
    }
    reweight(weights, residual, n);
  }
  std::vector<Eigen::MatrixXd> centres;
  for (std::size_t s = 0; s < layer.centres.size(); ++s)
    centres.emplace_back(best.middleRows(n * static_cast<Eigen::Index>(s), n));
  return centres;
}

std::vector<StateNorms> lyapunov_norms(const StepModel& model, const CentreLayer& layer, bool is_common) {
  if (layer.edges.empty() || (is_common && model.dimension() == 1)) return {};
  Descent descent(model, layer, is_common);
  if (descent.work() > kMaxDescentWork) return {};
  std::vector<StateNorms> norms;
  for (const double p : {1.0, 4.0, 16.0}) {
    descent.descend(p);
    norms.push_back(descent.norms(layer.centres.size()));
  }
  return norms;
}

namespace {

constexpr double kFp64Roundoff = 0x1p-53;
/// Radii are fractions of the margin; below this they might underflow.
constexpr double kLeastMargin = 0x1p-900;
/// Below this the square of a norm, and so every sum of squares on the way to it, does not overflow.
constexpr double kMaxDistance = 0x1p510;
constexpr int kBalancingRounds = 2'000;

/// A norm's factor R, its inverse, and what they do to single entries.
struct Factor {
  bool is_identity = true;
  IntervalMatrix r, inverse;
  Eigen::MatrixXd absolute;       ///< |r_ij|
  std::vector<double> row_norms;  ///< of the inverse: |x_i| ≤ row_norms[i] · ‖R x‖₂
  double norm = 1, inverse_norm = 1;
};

Factor identity_factor(std::size_t n) {
  Factor factor;
  factor.row_norms.assign(n, 1);
  return factor;
}

Factor prepare(const Eigen::MatrixXd& r) {
  Factor factor;
  factor.is_identity = false;
  factor.r = IntervalMatrix(r);
  factor.absolute = r.cwiseAbs();
  factor.inverse = inverse_of_upper_triangular(factor.r);
  for (std::size_t i = 0; i < factor.r.rows(); ++i) {
    Interval sum(0);
    for (std::size_t j = 0; j < factor.r.rows(); ++j) sum = sum + square(factor.inverse(i, j));
    factor.row_norms.push_back(root_up(sum.upper()));
  }
  factor.norm = spectral_norm_bound(factor.r);
  factor.inverse_norm = spectral_norm_bound(factor.inverse);
  return factor;
}

/// The recurrence e ← value + slope (e − from) on one piece.
struct Affine {
  double slope, shift;  ///< y ↦ slope·y + shift, for y = e − from
  double operator()(double y) const { return add_up(multiply_up(slope, y), shift); }
  Affine twice() const { return {multiply_up(slope, slope), (*this)(shift)}; }
};

class LayerProof {
 public:
  LayerProof(const Layer& layer, const StepModel& model, const CentreLayer& machine,
             std::vector<Eigen::MatrixXd> centres, StateNorms norms, unsigned radii)
      : layer_(layer), model_(model), machine_(machine), radii_(radii) {
    bound_.centres = std::move(centres);
    bound_.norms = std::move(norms);
    if (bound_.norms.factors.empty()) factors_.push_back(identity_factor(model.dimension()));
    for (const Eigen::MatrixXd& r : bound_.norms.factors) factors_.push_back(prepare(r));
  }

  LayerBound prove() {
    bound_.margin = least_margin();
    bound_.start = distance(IntervalMatrix(model_.initial()), machine_.labels.initial);
    if (!(bound_.margin > 0)) return std::move(bound_);
    bound_edges();
    if (!std::isfinite(bound_.norm) || !std::isfinite(bound_.error)) return std::move(bound_);
    make_pieces();
    if (!find_invariant_ball()) follow_recurrence();
    return std::move(bound_);
  }

 private:
  const Factor& factor_of(Label state) const {
    return factors_[bound_.norms.factors.empty() ? 0 : bound_.norms.factor_of[state]];
  }
  double scale_of(Label state) const { return bound_.norms.scale[state]; }

  /// ‖X‖_s, an upper bound.
  double norm_in(Label state, const IntervalMatrix& x) const {
    const Factor& factor = factor_of(state);
    return multiply_up(scale_of(state), frobenius_norm_bound(factor.is_identity ? x : factor.r * x));
  }

  double distance(const IntervalMatrix& x, Label state) const {
    return norm_in(state, x - IntervalMatrix(bound_.centres[state]));
  }

  // The decoder.

  double least_margin() const {
    std::set<std::pair<Label, std::uint32_t>> targets;
    for (const CentreEdge& edge : machine_.edges) targets.emplace(edge.to, edge.book);
    double least = directed::kInfinity;
    for (const auto& [state, book] : targets) least = std::min(least, margin(state, book));
    return least > kLeastMargin ? least : 0;
  }

  /// How far the numbers may be from c_s, in the norm of s, for the decoder of that book to give the label of s.
  double margin(Label state, std::uint32_t book) const {
    const Eigen::MatrixXd& c = bound_.centres[state];
    const NearestInBook near = nearest_in_book(layer_, book, c);
    if (near.codeword == SIZE_MAX || codeword_label(layer_, near.codeword) != machine_.labels.shown[state]) return 0;
    const Eigen::MatrixXd nearest = codeword(layer_, near.codeword);
    double least = greatest_margin(state, nearest);
    for (std::size_t k = 0; k < codeword_count(layer_); ++k)
      if (k != near.codeword && codeword_book(layer_, k) == book)
        least = std::min(least, margin_between(state, nearest, codeword(layer_, k)));
    return least;
  }

  /// With one codeword every state is decoded whose squared distance does not overflow; a ball of the size of the
  /// centre is enough.
  double greatest_margin(Label state, const Eigen::MatrixXd& nearest) const {
    const IntervalMatrix c(bound_.centres[state]);
    const double radius = add_up(1, frobenius_norm_bound(c));
    const double reach = multiply_up(radius, std::max(1.0, factor_of(state).inverse_norm));
    const double farthest = add_up(frobenius_norm_bound(c - IntervalMatrix(nearest)), reach);
    return farthest < kMaxDistance ? multiply_down(scale_of(state), radius) : 0;
  }

  /// The other codeword w is farther than the nearest one, v: ‖x − w‖² − ‖x − v‖² is linear in x, and falls by at most
  /// 2‖v − w‖ in the dual norm for every unit of distance. What the decoder's fp64 may do to both squares is taken off.
  double margin_between(Label state, const Eigen::MatrixXd& v, const Eigen::MatrixXd& w) const {
    const IntervalMatrix c(bound_.centres[state]), near(v), far(w), direction = near - far;
    Interval lead(0), near_square(0), far_square(0);
    for (std::size_t i = 0; i < direction.rows() * direction.columns(); ++i) {
      const Interval to_near = c.data()[i] - near.data()[i], to_far = c.data()[i] - far.data()[i];
      lead = lead + direction.data()[i] * (to_near + to_far);
      near_square = near_square + square(to_near);
      far_square = far_square + square(to_far);
    }
    const Factor& factor = factor_of(state);
    const double dual = divide_up(
        frobenius_norm_bound(factor.is_identity ? direction : transpose(factor.inverse) * direction), scale_of(state));
    if (!(lead.lower() > 0) || !(dual > 0) || !lead.is_bounded() || !std::isfinite(dual)) return 0;
    const double first = divide_up(lead.upper(), dual);
    const double euclidean = divide_up(multiply_up(first, factor.inverse_norm), scale_of(state));
    const double lost = decoder_rounding(root_up(near_square.upper()), root_up(far_square.upper()), euclidean);
    return std::max(0.0, divide_down(add_down(lead.lower(), -lost), multiply_up(2, dual)));
  }

  /// Each squared distance is a sum of N squares of differences: N + 2 roundings, and each square may underflow.
  double decoder_rounding(double near, double far, double radius) const {
    const double roundings = static_cast<double>(model_.dimension() * model_.columns()) + 4;
    const double relative = multiply_up(roundings, 2 * kFp64Roundoff);  // twice, for 1/(1 − N u)
    const double to_near = add_up(near, radius), to_far = add_up(far, radius);
    const double squares = add_up(multiply_up(to_near, to_near), multiply_up(to_far, to_far));
    return add_up(multiply_up(relative, squares), multiply_up(roundings, 0x1p-1070));
  }

  // The edges.

  void bound_edges() {
    for (unsigned k = 0; k <= radii_; ++k) radius_.push_back(bound_.margin * (static_cast<double>(k) / radii_));
    errors_.resize(machine_.edges.size());
    for (std::size_t e = 0; e < machine_.edges.size(); ++e) {
      const CentreEdge& edge = machine_.edges[e];
      bound_.edge_norm.push_back(norm_of(edge));
      const double offset = distance(model_.exact_step(edge.action, bound_.centres[edge.from]), edge.to);
      for (unsigned k = 1; k <= radii_; ++k) errors_[e].push_back(add_up(offset, rounding(edge, radius_[k])));
      bound_.edge_error.push_back(errors_[e].back());
      bound_.norm = std::max(bound_.norm, bound_.edge_norm.back());
      bound_.error = std::max(bound_.error, bound_.edge_error.back());
      if (!std::isfinite(bound_.norm) || !std::isfinite(bound_.error)) return;
    }
  }

  double norm_of(const CentreEdge& edge) {
    const double ratio = divide_up(scale_of(edge.to), scale_of(edge.from));
    const Factor &from = factor_of(edge.from), &to = factor_of(edge.to);
    if (from.is_identity && to.is_identity) return multiply_up(ratio, model_.norm(edge.action));
    const auto [found, fresh] = norms_.try_emplace({&from, &to, edge.action}, 0);
    if (fresh) found->second = spectral_norm_bound(to.r * (model_.matrix(edge.action) * from.inverse));
    return multiply_up(ratio, found->second);
  }

  /// The rounding of one step from the ball, in the norm of the target.
  double rounding(const CentreEdge& edge, double radius) const {
    const Factor &from = factor_of(edge.from), &to = factor_of(edge.to);
    const double unscaled = divide_up(radius, scale_of(edge.from));
    std::vector<double> radii;
    for (std::size_t column = 0; column < model_.columns(); ++column)
      for (const double row_norm : from.row_norms) radii.push_back(multiply_up(unscaled, row_norm));
    const RoundingBound moved =
        model_.rounding(edge.action, bound_.centres[edge.from], radii, multiply_up(unscaled, from.inverse_norm));
    if (!std::isfinite(moved.earlier)) return directed::kInfinity;
    double squares = 0;
    for (std::size_t i = 0; i < moved.entries.size(); ++i) {
      const double entry = to.is_identity ? moved.entries[i] : turned_entry(to, moved.entries, i);
      if (!std::isfinite(entry)) return directed::kInfinity;
      squares = add_up(squares, multiply_up(entry, entry));
    }
    return multiply_up(scale_of(edge.to), add_up(root_up(squares), multiply_up(to.norm, moved.earlier)));
  }

  /// Entry i of |R| x, for x ≥ 0 of n·d entries.
  static double turned_entry(const Factor& factor, const std::vector<double>& x, std::size_t i) {
    const auto n = static_cast<std::size_t>(factor.absolute.rows());
    const std::size_t row = i % n, column = i - row;
    double sum = 0;
    for (std::size_t j = row; j < n; ++j) {
      if (!std::isfinite(x[column + j])) return directed::kInfinity;
      sum = add_up(sum, multiply_up(factor.absolute(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(j)),
                                    x[column + j]));
    }
    return sum;
  }

  // The recurrence.

  /// The greatest of the edges' L e + ε is convex in e where the ε are constant: on a piece it lies below the chord.
  void make_pieces() {
    for (unsigned k = 1; k <= radii_; ++k) {
      GrowthPiece piece{radius_[k - 1], radius_[k], 0, 0, 0};
      double end = 0;
      for (std::size_t e = 0; e < errors_.size(); ++e) {
        const double error = errors_[e][k - 1], norm = bound_.edge_norm[e];
        piece.value = std::max(piece.value, add_up(multiply_up(norm, piece.from), error));
        end = std::max(end, add_up(multiply_up(norm, piece.to), error));
      }
      piece.slope = divide_up(add_up(end, -piece.value), add_down(piece.to, -piece.from));
      piece.slope = std::max(piece.slope, 0.0);
      bound_.pieces.push_back(piece);
    }
  }

  static double grown(const GrowthPiece& piece, double radius) {
    return add_up(piece.value, multiply_up(piece.slope, add_up(radius, -piece.from)));
  }

  /// A radius e at least the start's with g(e) ≤ e ≤ margin: balls of that radius are mapped into each other.
  bool find_invariant_ball() {
    for (const GrowthPiece& piece : bound_.pieces) {
      const double fixed = piece.from + (piece.value - piece.from) / (1 - piece.slope) * (1 + 1e-9);
      for (const double radius : {bound_.start, fixed, piece.to}) {
        if (!(radius >= bound_.start && radius >= piece.from && radius <= piece.to)) continue;
        if (!(grown(piece, radius) <= radius)) continue;
        bound_.radius = radius;
        return true;
      }
    }
    return false;
  }

  /// e_0, e_1, … through the pieces, by repeated doubling within each.
  void follow_recurrence() {
    double radius = bound_.start;
    for (GrowthPiece& piece : bound_.pieces) {
      if (radius > piece.to) continue;
      radius = std::max(radius, piece.from);
      if (grown(piece, radius) <= radius) {
        bound_.radius = radius;
        return;
      }
      const Affine step{piece.slope, add_up(piece.value, -piece.from)};
      double y = add_up(radius, -piece.from);
      piece.letters = run_through(step, y, add_down(piece.to, -piece.from));
      // One letter more leaves the piece.
      radius = add_up(piece.from, step(y));
      bound_.length += piece.letters;
      if (radius > bound_.margin || bound_.length >= kMaxHorizon) break;
      ++piece.letters;
      ++bound_.length;
    }
    bound_.length = std::min(bound_.length, kMaxHorizon);
  }

  /// The most letters after which y is still at most `limit`; moves y there. The step grows y, and so does each after.
  static std::uint64_t run_through(const Affine& step, double& y, double limit) {
    std::vector<Affine> powers{step};
    while (powers.size() < 61 && std::isfinite(powers.back().slope) && powers.back().shift <= limit)
      powers.push_back(powers.back().twice());
    std::uint64_t letters = 0;
    for (std::size_t j = powers.size(); j-- > 0;) {
      const double reached = std::isfinite(powers[j].slope) ? powers[j](y) : directed::kInfinity;
      if (!(reached <= limit)) continue;
      y = std::max(y, reached);
      letters += std::uint64_t{1} << j;
    }
    return letters;
  }

  const Layer& layer_;
  const StepModel& model_;
  const CentreLayer& machine_;
  unsigned radii_;
  LayerBound bound_;
  std::vector<Factor> factors_;
  std::map<std::tuple<const Factor*, const Factor*, Action>, double> norms_;
  std::vector<double> radius_;
  std::vector<std::vector<double>> errors_;  ///< edge ↦ radius ↦ bound of the step's error
};

}  // namespace

bool is_stronger(const LayerBound& a, const LayerBound& b) {
  if (a.radius.has_value() != b.radius.has_value()) return a.radius.has_value();
  return a.length > b.length;
}

LayerBound bound_layer(const Layer& layer, const StepModel& model, const CentreLayer& machine,
                       std::vector<Eigen::MatrixXd> centres, StateNorms norms, unsigned radii) {
  return LayerProof(layer, model, machine, std::move(centres), std::move(norms), radii).prove();
}

StateNorms balanced_scales(const CentreLayer& machine, const LayerBound& bound) {
  std::vector<double> reach(bound.centres.size(), 0.0);
  reach[machine.labels.initial] = bound.start;
  const double floor = 1e-9 * bound.margin;
  for (int round = 0; round < kBalancingRounds; ++round) {
    std::vector<double> next = reach;
    for (std::size_t e = 0; e < machine.edges.size(); ++e) {
      const CentreEdge& edge = machine.edges[e];
      const double reached = bound.edge_norm[e] * (1 + 1e-9) * reach[edge.from] + bound.edge_error[e] * (1 + 1e-3);
      next[edge.to] = std::max({next[edge.to], reached, floor});
    }
    const bool is_fixed = next == reach;
    const bool is_beyond = *std::max_element(next.begin(), next.end()) > bound.margin;
    if (is_beyond) break;
    reach = std::move(next);
    if (is_fixed) break;
  }
  StateNorms norms = bound.norms;
  for (std::size_t s = 0; s < reach.size(); ++s) norms.scale[s] /= std::max(reach[s], floor);
  return norms;
}

namespace {

constexpr unsigned kCoarseRadii = 4, kFineRadii = 64;
/// Rounded operations that a bound may take; fewer radii make do with less.
constexpr double kMaxOperations = 3e8, kQuickOperations = 5e6;
constexpr std::uint32_t kMaxMemory = 3;
constexpr std::uint64_t kMaxEdgesOfMemory = 4'000;
/// Weights of the present centres in the fits: almost none, for steps that contract; and enough to keep isometries,
/// whose equations are solved by zero, from shrinking.
constexpr double kAnchors[] = {1e-9, 1e-3};

/// Thrown inside the search for a machine when its time is up.
struct OutOfTime {};

/// Looks for the centres and norms that give one layer the strongest bound, until `is_late`.
class LayerSearch {
 public:
  LayerSearch(const Layer& layer, const StepModel& model, const CentreLayer& machine,
              const std::function<bool()>& is_late)
      : layer_(layer), model_(model), machine_(machine), is_late_(is_late) {}

  std::optional<LayerBound> best() {
    if (operations(kCoarseRadii) > kMaxOperations) return std::nullopt;
    search();
    if (best_ && !best_->radius && !is_late_()) consider(best_->centres, best_->norms, fine_radii());
    return std::move(best_);
  }

 private:
  double operations(unsigned radii) const {
    double steps = 0;
    for (const CentreEdge& edge : machine_.edges) steps += static_cast<double>(model_.work(edge.action));
    const auto size = static_cast<double>(model_.dimension() * model_.columns());
    const double decoding =
        static_cast<double>(machine_.centres.size()) * static_cast<double>(codeword_count(layer_)) * size;
    return 3 * radii * steps + 10 * decoding;
  }

  unsigned fine_radii() const {
    unsigned radii = kFineRadii;
    while (radii > 2 * kCoarseRadii && operations(radii) > kQuickOperations) radii /= 2;
    return radii;
  }

  /// Stops at the first proof for all lengths.
  void search() {
    const StateNorms euclidean = StateNorms::euclidean(machine_.centres.size());
    if (consider(machine_.centres, euclidean, kCoarseRadii) || is_isometric(*best_)) return;
    if (consider_norms(euclidean)) return;
    for (const bool is_common : {true, false})
      for (const StateNorms& norms : lyapunov_norms(model_, machine_, is_common))
        if (consider_norms(norms)) return;
  }

  /// Nothing but rounding moves these norms from 1: no other norm is better.
  static bool is_isometric(const LayerBound& bound) {
    if (bound.edge_norm.empty()) return false;
    const auto [least, greatest] = std::minmax_element(bound.edge_norm.begin(), bound.edge_norm.end());
    return *least > 0.99 && *greatest < 1.01;
  }

  bool consider_norms(const StateNorms& norms) {
    if (!norms.factors.empty() && consider(machine_.centres, norms, kCoarseRadii)) return true;
    for (const double anchor : kAnchors)
      if (consider(fitted_centres(model_, machine_, norms, anchor), norms, kCoarseRadii)) return true;
    return false;
  }

  /// These centres, in these norms as they are and balanced. True: proved for all lengths, or the time is up.
  bool consider(std::vector<Eigen::MatrixXd> centres, const StateNorms& norms, unsigned radii) {
    if (best_ && is_late_()) return true;
    LayerBound bound = bound_layer(layer_, model_, machine_, std::move(centres), norms, radii);
    const bool is_open = !bound.radius && bound.margin > 0 && bound.edge_norm.size() == machine_.edges.size();
    if (is_open && !is_isometric(bound)) {
      LayerBound balanced =
          bound_layer(layer_, model_, machine_, bound.centres, balanced_scales(machine_, bound), radii);
      if (is_stronger(balanced, bound)) bound = std::move(balanced);
    }
    if (!best_ || is_stronger(bound, *best_)) best_ = std::move(bound);
    return best_->radius.has_value();
  }

  const Layer& layer_;
  const StepModel& model_;
  const CentreLayer& machine_;
  const std::function<bool()>& is_late_;
  std::optional<LayerBound> best_;
};

/// The least claim of the layers.
const LayerBound& weakest(const BoundEvidence& evidence) {
  return *std::min_element(evidence.layers.begin(), evidence.layers.end(),
                           [](const LayerBound& a, const LayerBound& b) { return is_stronger(b, a); });
}

bool holds_for_all_lengths(const BoundEvidence& evidence) { return weakest(evidence).radius.has_value(); }

std::optional<BoundEvidence> bound_machine(const Network& network, StepModels models, CentreMachine machine,
                                           const std::function<bool()>& is_late) {
  BoundEvidence evidence{std::move(machine), {}};
  for (std::size_t k = 0; k < network.layers.size(); ++k) {
    std::optional<LayerBound> bound =
        LayerSearch(network.layers[k], *models[k], evidence.machine.layers[k], is_late).best();
    if (!bound) return std::nullopt;
    evidence.layers.push_back(*std::move(bound));
  }
  return evidence;
}

std::string norm_name(const StateNorms& norms) {
  const bool is_scaled =
      std::any_of(norms.scale.begin(), norms.scale.end(), [&](double scale) { return scale != norms.scale.front(); });
  const std::string scaled = is_scaled ? ", scaled for each state" : "";
  if (norms.factors.empty()) return "the Euclidean norm" + scaled;
  if (norms.factors.size() == 1) return "a common quadratic Lyapunov norm" + scaled;
  return "a quadratic Lyapunov norm for each state";
}

/// One sentence; the figures are those of the layer that limits the claim.
std::string evidence_in_words(const BoundEvidence& evidence) {
  const LayerBound& bound = weakest(evidence);
  std::size_t centres = 0, edges = 0;
  for (const CentreLayer& layer : evidence.machine.layers) {
    centres += layer.centres.size();
    edges += layer.edges.size();
  }
  return fmt::format(
      "ε = {:.3g}, L = {:.10g}, margin {:.3g}{} in {}; {} and {} between them, whose "
      "labels emulate the automaton {}",
      bound.error, bound.norm, bound.margin,
      bound.radius ? fmt::format(", invariant radius {:.3g}", *bound.radius) : "", norm_name(bound.norms),
      counted(centres, "centre"), counted(edges, "step"), evidence.machine.emulation);
}

Certificate certificate_of(const BoundEvidence& evidence, const CertifyOptions& options) {
  Certificate certificate;
  const bool is_proved = holds_for_all_lengths(evidence);
  if (is_proved)
    certificate.claim = Proved{};
  else
    certificate.claim = ProvedUpTo{weakest(evidence).length};
  certificate.arithmetic = options.arithmetic;
  certificate.form = options.form;
  certificate.method = is_proved ? "contraction bound" : "horizon bound";
  for (const CentreLayer& layer : evidence.machine.layers) certificate.pairs += layer.edges.size();
  certificate.evidence = evidence_in_words(evidence);
  return certificate;
}

}  // namespace

std::optional<BoundCertificate> certify_bounds(const Network& network, const CertifyOptions& options) {
  if (network.snap_every > 0 || !options.order.is_sequential()) return std::nullopt;
  std::vector<std::unique_ptr<StepModel>> models;
  for (const Layer& layer : network.layers) {
    models.push_back(make_step_model(layer, options.arithmetic, options.form));
    if (!models.back()) return std::nullopt;
  }
  const TimeLimit time(options.max_seconds, fmt::format("--time {:g}", options.max_seconds));
  const std::function<bool()> is_late = [] { return !TimeLimit::met().empty(); };
  MachineLimits limits;
  limits.tick = [&options, &is_late] {
    if (options.progress) options.progress(0);
    if (is_late()) throw OutOfTime{};
  };
  std::optional<BoundEvidence> best;
  const auto take = [&](std::optional<CentreMachine> machine) {
    if (!machine) return false;
    std::optional<BoundEvidence> evidence = bound_machine(network, models, *std::move(machine), is_late);
    if (!evidence) return false;
    const bool is_better = !best || is_stronger(weakest(*evidence), weakest(*best));
    if (is_better) best = std::move(evidence);
    return is_better;
  };
  try {
    take(codeword_machine(network, models, limits));
    for (std::uint32_t memory = 0; memory <= kMaxMemory && !(best && holds_for_all_lengths(*best)); ++memory) {
      if (memory == 1) limits.max_tuples = kMaxEdgesOfMemory;
      if (!take(automaton_machine(network, models, memory, limits)) && memory > 0) break;
    }
  } catch (const OutOfTime&) {  // what was found until then is as good as ever
  }
  if (!best) return std::nullopt;
  Certificate certificate = certificate_of(*best, options);
  return BoundCertificate{std::move(certificate), *std::move(best)};
}

}  // namespace krohn
