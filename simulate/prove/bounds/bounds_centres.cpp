#include "krohn/simulate/prove/bounds/bounds_centres.h"

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "krohn/groups/linear/decompositions.h"

namespace krohn {
namespace {

constexpr std::size_t kMostUnknowns = 4'000;
constexpr double kMostProducts = 2e6, kMostDescentWork = 2e5;
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
  if (unknowns > kMostUnknowns || products > kMostProducts || layer.edges.empty()) return layer.centres;
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
  if (descent.work() > kMostDescentWork) return {};
  std::vector<StateNorms> norms;
  for (const double p : {1.0, 4.0, 16.0}) {
    descent.descend(p);
    norms.push_back(descent.norms(layer.centres.size()));
  }
  return norms;
}

}  // namespace krohn
