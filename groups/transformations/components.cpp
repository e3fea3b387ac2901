#include "krohn/groups/transformations/components.h"

#include <algorithm>

#include "krohn/groups/time_limit.h"

namespace krohn {

/// Tarjan (1972) with a stack of its own, on the table itself: Boost.Graph would want a copy of every edge, of which
/// there may be tens of millions, in 50 bytes.
std::vector<std::uint32_t> strong_components(std::uint32_t nodes, std::uint32_t letters,
                                             std::span<const std::uint32_t> table) {
  constexpr std::uint32_t kNone = UINT32_MAX;
  struct Visit {
    std::uint32_t node, letter;
  };
  std::vector<std::uint32_t> component(nodes, kNone), number(nodes, kNone), least(nodes), open;
  std::vector<Visit> path;
  std::uint32_t met = 0, components = 0;
  const auto enter = [&](std::uint32_t node) {
    if (met % 65'536 == 65'535) TimeLimit::check();
    number[node] = least[node] = met++;
    open.push_back(node);
    path.push_back({node, 0});
  };
  for (std::uint32_t root = 0; root < nodes; ++root) {
    if (number[root] == kNone) enter(root);
    while (!path.empty()) {
      auto& [node, letter] = path.back();
      if (letter < letters) {
        const std::uint32_t to = table[std::size_t{node} * letters + letter++];
        if (number[to] == kNone)
          enter(to);
        else if (component[to] == kNone)
          least[node] = std::min(least[node], number[to]);
        continue;
      }
      const std::uint32_t done = node;
      path.pop_back();
      if (!path.empty()) least[path.back().node] = std::min(least[path.back().node], least[done]);
      if (least[done] != number[done]) continue;
      while (component[done] == kNone) {
        component[open.back()] = components;
        open.pop_back();
      }
      ++components;
    }
  }
  return component;
}

}  // namespace krohn
