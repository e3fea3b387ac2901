#include "krohn/automata/families/family_name.h"

#include <fmt/format.h>

#include <cctype>
#include <regex>

#include "krohn/groups/error.h"

namespace krohn {
namespace {

std::string plain_spelling(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (!std::isspace(byte) && c != '_') text += static_cast<char>(std::tolower(byte));
  }
  return text;
}

std::uint64_t number_of(const std::string& digits, std::string_view name) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 63;
  std::uint64_t value = 0;
  for (const char digit : digits) {
    if (value > kLargest / 10) throw LimitError(fmt::format("name \"{}\": a parameter is larger than 2^63", name));
    value = value * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  return value;
}

/// "types=2,depth=3", "5" or "5,seed=1".
bool read_parameters(const std::string& text, std::string_view name, FamilyName& result) {
  static const std::regex kParameter("(?:([a-z]+)=)?([0-9]+)(?:,|$)");
  auto at = text.cbegin();
  std::smatch match;
  while (at != text.cend()) {
    if (!std::regex_search(at, text.cend(), match, kParameter, std::regex_constants::match_continuous)) return false;
    const std::uint64_t value = number_of(match[2].str(), name);
    if (match[1].matched)
      result.named.emplace_back(match[1].str(), value);
    else if (result.number)
      return false;
    else
      result.number = value;
    at = match[0].second;
  }
  return true;
}

}  // namespace

std::optional<FamilyName> parse_family_name(std::string_view name) {
  constexpr std::size_t kLongestName = 200;  // longer ones are not names, and std::regex recurses
  if (name.size() > kLongestName) return std::nullopt;
  static const std::regex kName("([a-z]+(?:-[a-z]+)*)(?:([0-9]+)|\\(([0-9]+)\\))?((?:-[a-z]+)*)(?::(.+))?");
  const std::string text = plain_spelling(name);
  std::smatch match;
  if (!std::regex_match(text, match, kName)) return std::nullopt;
  FamilyName result;
  result.family = match[1].str() + match[4].str();
  for (const std::size_t group : {2u, 3u})
    if (match[group].matched) result.number = number_of(match[group].str(), name);
  if (match[5].matched && !read_parameters(match[5].str(), name, result)) return std::nullopt;
  return result;
}

}  // namespace krohn
