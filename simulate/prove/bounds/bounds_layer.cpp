#include "krohn/simulate/prove/bounds/bounds_layer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "krohn/simulate/arithmetic/interval_matrix.h"

namespace krohn {
namespace {

constexpr double kFp64Roundoff = 0x1p-53;
/// Radii are fractions of the margin; below this they might underflow.
constexpr double kLeastMargin = 0x1p-900;
/// Below this the square of a norm, and so every sum of squares on the way to it, does not overflow.
constexpr double kGreatestDistance = 0x1p510;
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
    return farthest < kGreatestDistance ? multiply_down(scale_of(state), radius) : 0;
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
      if (radius > bound_.margin || bound_.length >= kGreatestHorizon) break;
      ++piece.letters;
      ++bound_.length;
    }
    bound_.length = std::min(bound_.length, kGreatestHorizon);
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

}  // namespace krohn
