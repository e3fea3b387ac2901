#include "krohn/groups/transformations/components.h"

#include <algorithm>

namespace krohn {

// Pearce's variant of Tarjan's algorithm with an explicit stack: `rank` holds the visiting order while a node is open
// and its component, counted down from the top, once it is closed.
std::vector<std::uint32_t> strong_components(std::uint32_t nodes, std::uint32_t letters,
                                             std::span<const std::uint32_t> table) {
  struct Frame {
    std::uint32_t node;
    std::uint32_t edge;
    bool root;
  };
  std::vector<std::uint32_t> rank(nodes, 0);
  std::vector<std::uint32_t> component(nodes, 0);
  std::vector<bool> closed(nodes, false);
  std::vector<std::uint32_t> open;
  std::vector<Frame> frames;
  std::uint32_t next_rank = 1, next_component = 0;
  for (std::uint32_t start = 0; start < nodes; ++start) {
    if (rank[start] != 0) continue;
    rank[start] = next_rank++;
    frames.push_back({start, 0, true});
    while (!frames.empty()) {
      Frame& frame = frames.back();
      if (frame.edge < letters) {
        const std::uint32_t to = table[std::size_t{frame.node} * letters + frame.edge];
        if (rank[to] == 0) {
          rank[to] = next_rank++;
          frames.push_back({to, 0, true});
          continue;
        }
        if (!closed[to] && rank[to] < rank[frame.node]) {
          rank[frame.node] = rank[to];
          frame.root = false;
        }
        ++frame.edge;
        continue;
      }
      const std::uint32_t node = frame.node;
      const bool root = frame.root;
      frames.pop_back();
      if (!root) {
        open.push_back(node);
        continue;
      }
      // Every open node above this one in the stack was reached from it, and has at least its rank.
      while (!open.empty() && rank[open.back()] >= rank[node]) {
        closed[open.back()] = true;
        component[open.back()] = next_component;
        open.pop_back();
      }
      closed[node] = true;
      component[node] = next_component++;
    }
  }
  return component;
}

}  // namespace krohn
