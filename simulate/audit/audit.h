// simulate/audit/audit.h — what a published language model's recurrent layers can do to a state, by its config.json and
// its weights, without running it: for every head the range of its decays and eigenvalues over all inputs, and what
// follows from it. Bounds are those of docs/reference/audit.md, over the reals; attention layers are counted and not
// bounded.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace krohn {

inline constexpr double kNoBound = std::numeric_limits<double>::infinity();

/// The effects that any input can have on one head's state in a token. A rate r is a factor e⁻ʳ.
struct HeadRange {
  double slowest = 0, fastest = kNoBound;  ///< of the decays
  double lowest = 0;                       ///< least eigenvalue of a transition matrix
  double flip = kNoBound;                  ///< rate of the most negative eigenvalue: |lowest| = e⁻ᶠˡⁱᵖ

  friend bool operator==(const HeadRange&, const HeadRange&) = default;
};

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
