#include "krohn/automata/monoid/complexity.h"

#include <algorithm>
#include <vector>

namespace krohn {
namespace {

/// The most classes with a group on a chain, by counting off those that nothing uncounted is above.
std::uint64_t depth(std::span<const DClass> classes) {
  std::vector<std::uint32_t> above(classes.size(), 0), queue;
  for (const DClass& box : classes)
    for (const std::uint32_t lower : box.below) ++above[lower];
  for (std::uint32_t d = 0; d < classes.size(); ++d)
    if (above[d] == 0) queue.push_back(d);
  std::vector<std::uint64_t> length(classes.size(), 0);
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const DClass& box = classes[queue[i]];
    length[queue[i]] += box.regular && box.group_order > 1;
    most = std::max(most, length[queue[i]]);
    for (const std::uint32_t lower : box.below) {
      length[lower] = std::max(length[lower], length[queue[i]]);
      if (--above[lower] == 0) queue.push_back(lower);
    }
  }
  return most;
}

}  // namespace

ComplexityBounds complexity_bounds(const GreenStructure& green, Point degree) {
  const std::uint64_t chain = depth(green.d_classes());
  if (chain == 0) return {0, 0, "aperiodic", "aperiodic"};
  Integer all = 1;
  for (Point i = 0; i < degree; ++i) all *= degree;
  if (green.size() == all) {
    const std::string why = "all maps of the states";
    return {degree - 1, degree - 1, why, why};
  }
  return {1, chain, "not aperiodic", "classes with groups on a chain of the J-order (Tilson)"};
}

}  // namespace krohn
