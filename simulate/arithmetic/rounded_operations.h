// simulate/arithmetic/rounded_operations.h — an arithmetic as an object: for code that runs too seldom to be compiled
// once for every type of simulate/arithmetic/arithmetic.h.
#pragma once

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

/// The operations of an arithmetic, bit for bit, on doubles, which hold the numbers of every format exactly. Each is a
/// call through a pointer. Operands must be numbers of the format that the operation takes.
class RoundedOperations {
 public:
  using Number = double;
  using Sum = double;

  /// Throws InputError for `exact`, which does not round.
  explicit RoundedOperations(ArithmeticName arithmetic);

  /// The number of the storage format nearest to a weight (round_weight).
  double round(long double weight) const { return table_.round(weight); }
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

  Table table_;
};

}  // namespace krohn
