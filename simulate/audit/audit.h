// simulate/audit/audit.h — what a published language model's recurrent layers can do to a state, by its config.json and
// its weights, without running it: for every head the range of its decays and eigenvalues over all inputs, and what
// follows from it. Bounds are those of docs/reference/audit.md, over the reals; attention layers are counted and not
// bounded.
#pragma once

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/constructions/files/safetensors.h"
#include "krohn/groups/base/stated_functions.h"

namespace krohn {

// The tensors of a published checkpoint, in one file or in shards, one in memory
// at a time.

class CheckpointTensors {
 public:
  /// None: only the config is known.
  CheckpointTensors() = default;
  /// model.safetensors, or the shards that model.safetensors.index.json names. Reads headers only; a folder without
  /// either has no tensors. Throws InputError for a shard that is missing or damaged.
  explicit CheckpointTensors(const std::string& folder);

  bool empty() const { return places_.empty(); }
  bool has(const std::string& name) const { return places_.contains(name); }
  /// Throws InputError naming the tensor where it is missing.
  const std::vector<std::uint64_t>& shape(const std::string& name) const;
  /// For F32, F16, BF16 or F64, all finite.
  std::vector<double> numbers(const std::string& name) const;
  std::uint64_t bytes() const;

 private:
  struct Place {
    std::string file;
    TensorPlace place;
  };
  const Place& at(const std::string& name) const;

  std::string folder_;
  std::map<std::string, Place> places_;
};

// One architecture: how the weights of a recurrent layer bound what an input can make its
// transition matrices do. Inputs of a layer are normalised, x = g ∘ v with |v|₂ ≤ √d, so that |w·x| ≤ √d |g ∘ w|₂.

inline constexpr double kNoBound = std::numeric_limits<double>::infinity();

/// The effects that any input can have on one head's state in a token. A rate r is a factor e⁻ʳ.
struct HeadRange {
  double slowest = 0, fastest = kNoBound;  ///< of the decays
  double lowest = 0;                       ///< least eigenvalue of a transition matrix
  double flip = kNoBound;                  ///< rate of the most negative eigenvalue: |lowest| = e⁻ᶠˡⁱᵖ

  friend bool operator==(const HeadRange&, const HeadRange&) = default;
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

struct AuditedLayer {
  std::uint64_t index = 0;
  std::vector<HeadRange> heads;
  HeadRange all;  ///< the widest of them
};

struct Audit {
  std::string model_type, architecture, source;
  bool has_weights = false;
  std::uint64_t layers = 0, tensor_bytes = 0;
  std::vector<AuditedLayer> recurrent;
  HeadRange all;
  /// Sentences: members of the config that do nothing, or did nothing in some versions; what no input makes the
  /// recurrent layers do; and how fast states shrink that are not written again.
  std::vector<std::string> flags, never, fades;
};

/// The names of the architectures that are known, as `model_type` has them.
std::vector<std::string> audited_model_types();

/// Tokens after which what decays at that rate is at most 2^-24 of itself over the reals, and infinitely many for 0.
/// Not a limit to what can be read: it is a number like others.
double horizon(double rate);

/// "54,381,853", and of more than fifteen digits the first three.
std::string tokens_text(double tokens);

/// The least eigenvalue, "−0.4548"; near to −1 with what is missing there.
std::string lowest_text(const HeadRange& range);

/// Holds one tensor in memory at a time. Throws InputError for a folder without config.json, an architecture that is
/// not known, and tensors that do not fit.
Audit audit_checkpoint(const std::string& folder);

/// Two checkpoints, head by head.
struct AuditComparison {
  struct Head {
    std::uint64_t layer = 0, head = 0;
    HeadRange first, second;
  };
  bool is_same_shape = true;               ///< the same layers are recurrent, with as many heads
  std::uint64_t heads = 0, differing = 0;  ///< of checkpoints of one shape
  Head head;                               ///< the first that differs

  bool differs() const { return !is_same_shape || differing > 0; }
};

AuditComparison compare_audits(const Audit& first, const Audit& second);

}  // namespace krohn
