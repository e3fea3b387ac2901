// simulate/check/recheck_arithmetic.h — the operations of every arithmetic, each exact first and then rounded once.
// Written for the re-checker of certificates alone: it shares no code with simulate/arithmetic/arithmetic.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace krohn {

/// RecheckedNumbers are doubles that hold values of the format.
class DeterministicArithmetic {
 public:
  /// "fp64", "fp32", "fp16", "bf16", these with "+fma", "fp16/fp32", "bf16/fp32", "tf32". Throws InputError.
  explicit DeterministicArithmetic(const std::string& name);

  /// A weight as it is stored: rounded once, ties to even.
  double weight(long double value) const;
  /// The weights cos and sin of 2π·p/q, |p| and q at most 2^56.
  double cosine(std::int64_t p, std::int64_t q) const;
  double sine(std::int64_t p, std::int64_t q) const { return cosine(4 * p - q, 4 * q); }
  double product(double a, double b) const;
  double sum(double a, double b) const;
  /// sum + a · b: one rounding when the arithmetic is fused, otherwise two.
  double sum_of_product(double sum, double a, double b) const;
  /// What is kept of a number between two letters.
  double store(double value) const;

  /// p significant bits; normal numbers from 2^least to below 2^(greatest + 1).
  struct Format {
    int digits = 0, least = 0, greatest = 0;
    friend bool operator==(const Format&, const Format&) = default;
  };
  const Format& stored_format() const { return stored_; }
  /// The one format that everything is rounded to; nothing where there are several.
  std::optional<Format> only_format() const {
    return stored_ == summed_ && factor_.digits == 0 ? std::optional(stored_) : std::nullopt;
  }

 private:
  static Format format_of(const std::string& name);
  static double rounded(double value, const Format& format);

  Format stored_, summed_, factor_;  ///< factor_ has no digits when factors are taken as they are
  bool fused_ = false;
};

}  // namespace krohn
