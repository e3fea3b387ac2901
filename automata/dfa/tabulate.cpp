#include "krohn/automata/dfa/tabulate.h"

#include <fmt/format.h>

#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"

namespace krohn {

void check_table_size(std::string_view what, std::uint64_t states, std::uint64_t letters, const TableLimit& limit) {
  // Saturated sizes are printed as what they are at least.
  const std::string count = states == UINT64_MAX ? "more than 10^19" : std::to_string(states);
  if (states > limit.max_states)
    throw LimitError(
        fmt::format("{} has {}; the limit is {} (--max-states)", what, counted(count, "state"), limit.max_states));
  if (saturating_product(states, letters) > limit.max_entries)
    throw LimitError(fmt::format("{} has {} and {}; a table of at most {} entries is built", what,
                                 counted(states, "state"), counted(letters, "letter"), limit.max_entries));
}

std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

std::uint64_t saturating_power(std::uint64_t base, std::uint64_t exponent) {
  if (base <= 1) return exponent == 0 ? 1 : base;
  std::uint64_t power = 1;
  for (; exponent > 0 && power != UINT64_MAX; --exponent) power = saturating_product(power, base);
  return power;
}

std::vector<std::string> numerals(std::uint64_t count) {
  std::vector<std::string> names;
  names.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

}  // namespace krohn
