#include "krohn/groups/base/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace krohn {
namespace {

std::string separated(std::string digits) {
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

}  // namespace

std::string with_thousands(std::uint64_t count) { return separated(std::to_string(count)); }

std::string counted(std::string_view digits, std::string_view what, std::string_view plural) {
  return fmt::format("{} {}{}", separated(std::string(digits)), what, digits == "1" ? "" : plural);
}

std::string counted(std::uint64_t count, std::string_view what, std::string_view plural) {
  return counted(std::to_string(count), what, plural);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  return cost[a.size()][b.size()];
}

std::vector<std::string> near_misses(std::string_view name, std::span<const std::string> known) {
  constexpr std::size_t kLongest = 64;  // nobody meant a known name by a longer one, and the table is quadratic
  if (name.size() > kLongest) return {};
  struct Candidate {
    std::size_t distance;
    std::string name;
  };
  const std::size_t told = name.size() - std::min(name.find_first_not_of('-'), name.size());  // "--time" tells four
  const std::size_t allowed = told <= 1 ? 0 : told <= 3 ? 1 : told <= 7 ? 2 : 3;
  std::vector<Candidate> near;
  for (const std::string& candidate : known)
    if (const std::size_t distance = edit_distance(name, candidate); distance <= allowed)
      near.push_back({distance, candidate});
  if (near.empty() && name.size() >= 2)
    for (const std::string& candidate : known)
      if (candidate.starts_with(name)) near.push_back({candidate.size() - name.size(), candidate});
  std::stable_sort(near.begin(), near.end(),
                   [](const Candidate& a, const Candidate& b) { return a.distance < b.distance; });
  std::vector<std::string> names;
  for (std::size_t i = 0; i < near.size() && i < 3; ++i) names.push_back(near[i].name);
  return names;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> known) {
  const std::vector<std::string> near = near_misses(name, known);
  if (near.empty()) return {};
  std::string text = " Did you mean ";
  for (std::size_t i = 0; i < near.size(); ++i) text += (i ? " or \"" : "\"") + near[i] + "\"";
  return text + "?";
}

}  // namespace krohn
