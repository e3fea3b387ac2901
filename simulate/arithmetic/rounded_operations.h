// simulate/arithmetic/rounded_operations.h — an arithmetic as an object: integers, and for code that runs too seldom to
// be compiled once for every type of simulate/arithmetic/arithmetic.h.
//
// Integers: a weight is an integer of the type, or refused. Every operation is exact and brought to the type once, by
// wrapping around or saturating: a·b, acc + b, acc + a·b, and what is stored. A negation is exact and brought to the
// type by the operation that takes it, so that in unsigned integers that saturate acc − a·b stops at 0.
// Every order of sums and products gives the same in integers that wrap around, modulo 2^bits. In those that saturate it
// does not (100 + 100 − 100 is 27 or 100 in 8 bits): the order is that of simulate/arithmetic/apply.h.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "krohn/simulate/arithmetic/arithmetic_name.h"

namespace krohn {

/// Exact, of a double that is a number of the format.
template <class Number>
Number from_double(double number) {
  if constexpr (std::is_floating_point_v<Number>)
    return static_cast<Number>(number);
  else
    return Number(static_cast<float>(number));
}

/// The operations of an arithmetic, bit for bit, on doubles, which hold the numbers of every format and type exactly.
/// Each is a call through a pointer. Operands must be numbers that the operation takes.
class RoundedOperations {
 public:
  using Number = double;
  using Sum = double;
  using Bits = std::uint64_t;

  /// Throws InputError for `exact`, which does not round.
  explicit RoundedOperations(ArithmeticName arithmetic);

  /// The number of the storage format nearest to a weight (round_weight). Of integers the weight itself, NaN where it
  /// is none of them.
  double round(long double weight) const { return table_.round(weight); }
  /// The same. Throws InputError beginning with `where()` for a weight that integers do not have.
  double weight(long double weight, const auto& where) const {
    const double rounded = round(weight);
    if (arithmetic_.is_integer() && rounded != rounded) refuse(weight, where());
    return rounded;
  }
  double load(double number) const { return number; }
  double product(double a, double b) const { return table_.product(a, b); }
  double add(double a, double b) const { return table_.add(a, b); }
  double add_product(double accumulator, double a, double b) const { return table_.add_product(accumulator, a, b); }
  double store(double sum) const { return table_.store(sum); }

 private:
  struct Table {
    double (*round)(long double);
    double (*product)(double, double);
    double (*add)(double, double);
    double (*add_product)(double, double, double);
    double (*store)(double);
  };
  template <class A>
  static Table table_of();
  template <IntegerType kType>
  static Table table_of_integers();
  static Table table_of(ArithmeticName arithmetic);
  [[noreturn]] void refuse(long double weight, const std::string& where) const;

  ArithmeticName arithmetic_;
  Table table_;
};

}  // namespace krohn
