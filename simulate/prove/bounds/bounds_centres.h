// simulate/prove/bounds/bounds_centres.h — looking for good centres and good norms of a layer's machine. Floating
// point, heuristic, and nothing depends on it but the sharpness of bounds: bounds_layer.h proves what is found here.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "krohn/simulate/prove/bounds/bounds_machine.h"

namespace krohn {

/// A norm for every state of a layer's machine: ‖X‖_s = scale_s · ‖R X‖_F with R = factors[factor_of[s]] upper
/// triangular. No factors: R is the identity. This is the quadratic Lyapunov norm of P_s = scale_s² RᵀR; with one
/// factor it is common to all states, otherwise each state has its own.
struct StateNorms {
  std::vector<Eigen::MatrixXd> factors;
  std::vector<std::uint32_t> factor_of;
  std::vector<double> scale;

  static StateNorms euclidean(std::size_t states);
  /// scale_s R, dense.
  Eigen::MatrixXd factor(std::size_t state, std::size_t dimension) const;
};

/// Centres with A c_s + B ≈ c_t along the edges s → t: the least squares solution in the given norms, drawn to the
/// present centres with weight `anchor`, re-weighted a few times towards the least maximum (Lawson). The system has
/// states · n unknowns and d right-hand sides. Nothing is changed above 4,000 unknowns or 2·10^6 products.
std::vector<Eigen::MatrixXd> fitted_centres(const StepModel& model, const CentreLayer& layer, const StateNorms& norms,
                                            double anchor);

/// Norms in which the edges' matrices are small: a descent of log Σ_edges tr((MᵀM)^p), M = R_t A R_s⁻¹, which is
/// geodesically convex in the RᵀR, for p = 1, 2, 4, …; the gradient is Σ_in (MMᵀ)^p − Σ_out (MᵀM)^p, as when a matrix
/// is balanced. One result per p: the later, the smaller the greatest ‖M‖ and the worse conditioned the norm. Common to
/// all states, or one each. Empty where edges · n³ is above 2·10^5 or n = 1 with a common norm.
std::vector<StateNorms> lyapunov_norms(const StepModel& model, const CentreLayer& layer, bool is_common);

}  // namespace krohn
