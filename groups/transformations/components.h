// groups/transformations/components.h — strongly connected components of a transition table.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace krohn {

/// The component of every node of the graph node → table[node · letters + letter]. Components are numbered so that
/// every edge goes to an equal or smaller number (sinks first). Iterative, O(nodes · letters).
std::vector<std::uint32_t> strong_components(std::uint32_t nodes, std::uint32_t letters,
                                             std::span<const std::uint32_t> table);

}  // namespace krohn
