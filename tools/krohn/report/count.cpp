#include "tools/krohn/report/count.h"

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "krohn/groups/error.h"

namespace krohn {
namespace {

constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

std::optional<std::uint64_t> multiply(std::uint64_t a, std::uint64_t b) {
  if (b != 0 && a > kLargest / b) return std::nullopt;
  return a * b;
}

std::optional<std::uint64_t> power(std::uint64_t base, std::uint64_t exponent) {
  if (base <= 1) return exponent == 0 ? 1 : base;
  std::optional<std::uint64_t> result = 1;
  for (std::uint64_t i = 0; i < exponent && result; ++i) result = multiply(*result, base);
  return result;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Digits with single underscores between them.
std::optional<std::uint64_t> digits(std::string_view text) {
  if (text.empty() || !is_digit(text.front()) || !is_digit(text.back())) return std::nullopt;
  std::optional<std::uint64_t> value = 0;
  for (std::size_t i = 0; i < text.size() && value; ++i) {
    if (text[i] == '_' && text[i - 1] != '_') continue;
    if (!is_digit(text[i])) return std::nullopt;
    value = multiply(*value, 10);
    const auto digit = static_cast<std::uint64_t>(text[i] - '0');
    if (!value || *value > kLargest - digit) return std::nullopt;
    *value += digit;
  }
  return value;
}

std::optional<std::uint64_t> count_of(std::string_view text) {
  const std::size_t mark = text.find_first_of("eE^");
  const auto base = digits(text.substr(0, mark));
  if (mark == std::string_view::npos || !base) return base;
  const auto exponent = digits(text.substr(mark + 1));
  if (!exponent) return std::nullopt;
  if (text[mark] == '^') return power(*base, *exponent);
  const auto scale = power(10, *exponent);
  return scale ? multiply(*base, *scale) : (*base == 0 ? base : std::nullopt);
}

}  // namespace

std::uint64_t parse_count(std::string_view text, std::string_view what) {
  if (const auto count = count_of(text)) return *count;
  throw InputError(what, fmt::format("\"{}\" is not a count below 2^63; write 1000, 1e8, 10^8 or 1_000_000", text));
}

}  // namespace krohn
