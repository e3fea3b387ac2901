// groups/base/number_text.h — numbers in texts.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace krohn {

/// The number that the whole text spells. Nothing where it spells none, or one that `Number` does not hold; a blank or
/// a plus sign spells none, and with a minus sign none without one.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace krohn
