// simulate/probe/probe_sums.h — what rounds, and in which order, in sums of products that somebody else computes: a
// loop, an instruction, a device's kernel, a library's matrix product. Asked for sums that come out differently in
// different arithmetics, it shows which one it has. A test, not a proof: what was measured holds of the sums that were
// asked for.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "krohn/simulate/arithmetic/arithmetic_name.h"
#include "krohn/simulate/probe/summation_tree.h"

namespace krohn {

/// Σ left[i] right[i] of numbers of one format, handed over and given back as doubles.
using SumOfProducts = std::function<double(std::span<const double> left, std::span<const double> right)>;

enum class RoundingSeen : std::uint8_t { kNearestEven, kNearestAway, kTowardZero, kUpward, kDownward, kNoneOfThese };

/// "to nearest, ties to even", …
std::string to_string(RoundingSeen rounding);

struct ExactSumsSeen {
  Precision format;
  bool all;     ///< every one of them
  bool normal;  ///< every one whose grain is no subnormal number
};

/// Significant digits are those that a number 1 + 2^(1 − digits) keeps.
struct SumsSeen {
  Precision format;         ///< of the factors and of the result
  std::uint32_t terms = 0;  ///< of the sums that were asked for
  /// Nothing: no tree of roundings, as where sums are exact.
  std::optional<SummationTree> order;
  int left_digits = 0, right_digits = 0;                      ///< of a factor; tf32 keeps 11 of fp32's 24
  std::optional<int> product_digits;                          ///< nothing: a product is added without being rounded
  std::optional<int> sum_digits;                              ///< nothing: more than could be seen
  int result_digits = 0;                                      ///< of what is given back
  std::optional<RoundingSeen> sum_rounding, result_rounding;  ///< nothing: not seen
  bool keeps_subnormal_factors = false, keeps_subnormal_products = false, keeps_subnormal_sums = false;

  /// The arithmetic of simulate/arithmetic/arithmetic.h that gave every one of `compared` sums in this order, bit for
  /// bit; nothing where none did.
  std::optional<ArithmeticName> arithmetic;
  std::uint64_t compared = 0;

  /// The formats that are part of the probed one, and whether sums all of whose partial sums are numbers of the format
  /// came out exactly: what certificates with the order `any` rest on.
  std::vector<ExactSumsSeen> exact_sums;
  std::uint64_t exact_compared = 0;  ///< for each of them
};

struct ProbeOptions {
  std::uint32_t terms = 64;      ///< 8 … 256
  std::uint64_t compare = 2000;  ///< sums for each comparison
  std::uint64_t seed = 1;
};

/// `sum` is asked in the floating-point environment of the caller: where a library has set that to flush subnormal
/// numbers, it is seen. Throws InputError for other numbers of terms, and when the sums that it gets are not numbers.
SumsSeen probe_sums(Precision format, const SumOfProducts& sum, const ProbeOptions& options = {});

/// Which certificates hold on what was probed, as far as it was seen.
struct ClaimsThatHold {
  std::optional<ArithmeticName> sequential;  ///< `order sequential` in this arithmetic
  std::vector<Precision> any_order;          ///< `order any` in these
  std::vector<Precision> any_order_normal;   ///< and in these, for models that meet no subnormal number
};
ClaimsThatHold claims_that_hold(const SumsSeen& seen);

}  // namespace krohn
