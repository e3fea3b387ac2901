// simulate/probe/probe_sums.h — what rounds, and in which order, in sums of products that somebody else computes: a
// loop, an instruction, a device's kernel, a library's matrix product. Asked for sums that come out differently in
// different arithmetics, it shows which one it has. A test, not a proof: what was measured holds of the sums that were
// asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "krohn/simulate/arithmetic/arithmetic_name.h"

namespace krohn {

/// The terms are leaves 0 … terms − 1; node i has the number terms + i, its children come before it, and the last node
/// is the sum. Children are ordered by their first term. A node of more than two children adds them at once, as tensor
/// cores do.
struct SummationTree {
  struct Node {
    std::vector<std::uint32_t> children;
  };
  std::uint32_t terms = 0;
  std::vector<Node> nodes;

  bool is_term(std::uint32_t number) const { return number < terms; }
  const Node& node(std::uint32_t number) const { return nodes[number - terms]; }
  /// True if every node adds two numbers.
  bool is_binary() const;
  /// True if term 0 and 1 are added, then term 2 to that, and so on: the order of simulate/arithmetic/apply.h.
  bool is_sequential() const;
};

/// "one after the other", "pairwise", "8 lanes …", or the parentheses of a short sum.
std::string to_string(const SummationTree& tree);

/// The number of terms below the node where terms i ≠ j meet.
using TermsBelow = std::function<std::uint32_t(std::uint32_t i, std::uint32_t j)>;

/// The tree in which `below` holds; nothing where there is none. At most n(n − 1)/2 questions. The method is that of
/// FPRev (Xie, Gao, Zhang & Wu 2024): the terms, by what `below` says of them and term 0, are the branches that meet
/// its way to the root.
std::optional<SummationTree> summation_tree(std::uint32_t terms, const TermsBelow& below);

// Sums of products as the arithmetics of simulate/arithmetic/arithmetic.h take them, in
// any order, and the sums on which arithmetics differ.

struct Factors {
  std::vector<double> left, right;  ///< of equal length, numbers of one format
};

/// The sum as `arithmetic` takes it in the order of a binary tree: a term that joins a sum is added with add_product,
/// and of two terms the first (or, with `last_first`, the second) is rounded on its own.
double stated_sum(ArithmeticName arithmetic, const SummationTree& order, const Factors& factors, bool last_first);

/// Sums that round: factors of all their digits, or few and small ones, of one or of many exponents, cancelling or not,
/// down to subnormal numbers. The same for the same seed.
std::vector<Factors> rounding_sums(Precision format, std::uint32_t terms, std::uint64_t count, std::uint64_t seed);

/// Sums whose partial sums, of any terms, all are numbers of `format`: multiples of a grain whose absolute values add
/// up to at most 2^digits grains, the grain anywhere from the least positive number (with `normal`: the least normal
/// one) on; and the exact sums.
struct ExactSum {
  Factors factors;
  double sum = 0;
};
std::vector<ExactSum> exact_sums(Precision format, std::uint32_t terms, std::uint64_t count, std::uint64_t seed,
                                 bool normal);

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

// The parts of this processor that can be probed.

/// Something that takes sums of products, and the format of its numbers.
struct Summer {
  std::string name;
  Precision format;
  SumOfProducts sum;
};

/// Loops of separate and of fused operations in fp64 and fp32, and the dot products of bf16 where the processor has
/// them (AVX512_BF16, which flushes subnormal numbers).
std::vector<Summer> processor_summers();

}  // namespace krohn
