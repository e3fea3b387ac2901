#include "krohn/simulate/arithmetic/rounded_operations.h"

#include "krohn/simulate/arithmetic/arithmetic.h"

namespace krohn {
template <class A>
RoundedOperations::Table RoundedOperations::table_of() {
  constexpr auto number = from_double<typename A::Number>;
  constexpr auto sum = from_double<typename A::Sum>;
  return {[](long double weight) { return to_double(round_weight<A>(weight)); },
          [](double a, double b) { return to_double(A::product(number(a), sum(b))); },
          [](double a, double b) { return to_double(A::add(sum(a), sum(b))); },
          [](double accumulator, double a, double b) {
            return to_double(A::add_product(sum(accumulator), number(a), sum(b)));
          },
          [](double value) { return to_double(A::store(sum(value))); }};
}

RoundedOperations::RoundedOperations(ArithmeticName arithmetic)
    : table_(with_arithmetic(arithmetic, [](auto type) { return table_of<decltype(type)>(); })) {}

}  // namespace krohn
