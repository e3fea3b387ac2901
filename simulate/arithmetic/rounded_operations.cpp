#include "krohn/simulate/arithmetic/rounded_operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "krohn/simulate/arithmetic/arithmetic.h"

namespace krohn {
namespace {

/// Holds products of two integers of 32 bits, and sums of them.
__extension__ typedef __int128 Wide;

Wide wide(double number) { return static_cast<std::int64_t>(number); }

template <IntegerType kType>
double fitted(Wide exact) {
  constexpr Wide least = kType.least(), greatest = kType.greatest(), values = greatest - least + 1;
  if constexpr (kType.saturates)
    return static_cast<double>(static_cast<std::int64_t>(std::clamp(exact, least, greatest)));
  const Wide above = (exact - least) % values;
  return static_cast<double>(static_cast<std::int64_t>(least + (above < 0 ? above + values : above)));
}

}  // namespace

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

template <IntegerType kType>
RoundedOperations::Table RoundedOperations::table_of_integers() {
  constexpr auto fit = fitted<kType>;
  return {[](long double weight) {
            const bool is_number =
                weight >= kType.least() && weight <= kType.greatest() && std::nearbyint(weight) == weight;
            return is_number ? static_cast<double>(weight) + 0.0 : std::numeric_limits<double>::quiet_NaN();
          },
          [](double a, double b) { return fit(wide(a) * wide(b)); },
          [](double a, double b) { return fit(wide(a) + wide(b)); },
          [](double accumulator, double a, double b) { return fit(wide(accumulator) + wide(a) * wide(b)); },
          [](double value) { return fit(wide(value)); }};
}

RoundedOperations::Table RoundedOperations::table_of(ArithmeticName arithmetic) {
  if (!arithmetic.is_integer())
    return with_arithmetic(arithmetic, [](auto type) { return table_of<decltype(type)>(); });
  const auto tables = []<std::size_t... i>(std::index_sequence<i...>) {
    return std::array{table_of_integers<kIntegerTypes[i]>()...};
  }
  (std::make_index_sequence<kIntegerTypes.size()>());
  return tables[static_cast<std::size_t>(std::ranges::find(kIntegerTypes, arithmetic.integer()) -
                                         kIntegerTypes.begin())];
}

RoundedOperations::RoundedOperations(ArithmeticName arithmetic)
    : arithmetic_(arithmetic), table_(table_of(arithmetic)) {}

void RoundedOperations::refuse(long double weight, const std::string& where) const {
  const IntegerType& type = arithmetic_.integer();
  throw InputError(where,
                   fmt::format("the weight {:.10g} is no integer from {} to {}, and {} has no others; take a "
                               "construction whose weights are integers, more bits or a sign, or fp32 or exact",
                               static_cast<double>(weight), type.least(), type.greatest(), to_string(arithmetic_)));
}

}  // namespace krohn
