// simulate/probe/stated_sums.h — sums of products as the arithmetics of simulate/arithmetic/arithmetic.h take them, in
// any order, and the sums on which arithmetics differ.
#pragma once

#include <cstdint>
#include <vector>

#include "krohn/simulate/arithmetic/arithmetic_name.h"
#include "krohn/simulate/probe/summation_tree.h"

namespace krohn {

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

}  // namespace krohn
