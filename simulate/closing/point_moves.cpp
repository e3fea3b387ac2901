#include "krohn/simulate/closing/point_moves.h"

#include <algorithm>

namespace krohn {

PointMoves point_moves(const std::vector<LearnedCode::Move>& moves, std::size_t letters, std::size_t points) {
  PointMoves found{{letters, std::vector<std::uint32_t>(points, kNoPoint)},
                   std::vector<std::uint32_t>(points, kNoPoint)};
  for (const auto& [from, letter, to] : moves) {
    found.next[letter][static_cast<std::size_t>(from)] = static_cast<std::uint32_t>(to);
    found.like[static_cast<std::size_t>(to)] = static_cast<std::uint32_t>(to);
  }
  const std::vector<std::uint32_t> reached = found.like;
  for (std::uint32_t point = 0; point < points; ++point) {
    if (reached[point] != kNoPoint) continue;
    const auto like = std::ranges::find_if(reached, [&](std::uint32_t other) {
      return other != kNoPoint &&
             std::ranges::all_of(found.next, [&](const auto& images) { return images[point] == images[other]; });
    });
    if (like != reached.end()) found.like[point] = *like;
  }
  return found;
}

}  // namespace krohn
