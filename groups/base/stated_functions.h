// groups/base/stated_functions.h — exponentials, logarithms, powers, sines and cosines by stated operations: the same
// bits on every machine. The C library's are not: it takes other instructions on other processors, and its last bits
// differ between them and between its versions.
//
// Only sums, products and quotients of doubles, each rounded by itself, and integers. Where double does not hold enough
// a number is a sum of two (Dekker 1971). Every result but those of `tanh`, within 3, is within 0.6 units in the last
// place of the true value, all but those of `exp` and `expm1` within 0.501; special values are those of IEEE 754-2019,
// 9.2.
#pragma once

namespace krohn::stated {

double exp(double x);
double expm1(double x);  ///< e^x − 1
double tanh(double x);
/// NaN below 0, −∞ at 0.
double log(double x);
double log1p(double x);  ///< log(1 + x)
/// x^y for x ≥ 0 (NaN below): e^(y log x).
double pow(double x, double y);
/// For any angle in radians, however large.
double cos(double x);
double sin(double x);
/// The angle of (x, y) in [−π, π]; 0 for (0, 0). The coordinates are finite and of a size that a state has, 10^±100.
double atan2(double y, double x);

}  // namespace krohn::stated
