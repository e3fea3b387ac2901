// simulate/audit/audit_rule.h — one architecture: how the weights of a recurrent layer bound what an input can make its
// transition matrices do. Inputs of a layer are normalised, x = g ∘ v with |v|₂ ≤ √d, so that |w·x| ≤ √d |g ∘ w|₂.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/groups/stated_functions.h"
#include "krohn/simulate/audit/checkpoint_tensors.h"

namespace krohn {

inline constexpr double kNoBound = std::numeric_limits<double>::infinity();

/// What any input can make one head do to its state in a token. A rate r is a factor e⁻ʳ.
struct HeadRange {
  double slowest = 0, fastest = kNoBound;  ///< of the decays
  double lowest = 0;                       ///< least eigenvalue of a transition matrix
  double flip = kNoBound;                  ///< rate of the most negative eigenvalue: |lowest| = e⁻ᶠˡⁱᵖ
};

struct AuditInput {
  const nlohmann::json& config;
  const CheckpointTensors& tensors;  ///< empty: by the config alone
  bool negative = false;             ///< β is doubled
  std::string where;

  /// Members of the config with the library's default. Throw InputError naming one of another type; null is one, but
  /// for counts: None is no limit, or false, and no default.
  std::uint64_t count(const char* name, std::uint64_t standard) const;
  double real(const char* name, double standard) const;
  bool flag(const char* name, bool standard) const;
  [[noreturn]] void refuse(const char* name, const std::string& why) const;
};

struct AuditRule {
  std::string_view model_type, name, source;
  std::string_view negative_flag;  ///< the member that doubles β; empty: the class reads none
  bool is_negative = false;        ///< without the member
  bool is_diagonal = false;        ///< every transition matrix is diagonal and real
  bool (*is_recurrent)(const AuditInput&, std::uint64_t layer);
  std::vector<HeadRange> (*heads)(const AuditInput&, std::uint64_t layer);
};

// ---- What rules are made of

inline double sigmoid_of(double x) { return 1 / (1 + stated::exp(-x)); }
inline double softplus_of(double x) { return x > 40 ? x : stated::log1p(stated::exp(x)); }

/// e^A · softplus(centre ± bound): the rates of a decay that is exp(−e^A softplus(u)).
inline HeadRange softplus_rates(double a_log, double centre, double bound) {
  const double a = stated::exp(a_log);
  return {a * softplus_of(centre - bound), a * softplus_of(centre + bound), 0, kNoBound};
}

/// The widest of all.
HeadRange united(const HeadRange& a, const HeadRange& b);

/// With the delta rule's I − β k kᵀ, |k| = 1, β = c σ(u), |u| ≤ bound, c = 1 or 2.
HeadRange with_delta(HeadRange head, double bound, bool doubled);

/// √d |gain ∘ row|₂ for every row of a matrix with d columns; throws where the shapes do not fit.
std::vector<double> row_bounds(const AuditInput& input, const std::string& matrix, const std::vector<double>& gain);

/// The numbers of a norm's weights, plus `offset`.
std::vector<double> gain_of(const AuditInput& input, const std::string& name, double offset = 0);

/// Throws InputError unless there are so many numbers.
std::vector<double> numbers_of(const AuditInput& input, const std::string& name, std::uint64_t count);

}  // namespace krohn
