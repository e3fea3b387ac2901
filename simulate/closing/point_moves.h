// simulate/closing/point_moves.h — where letters lead from the points of a learned code, and which points only begin.
#pragma once

#include <cstdint>
#include <vector>

#include "krohn/simulate/closing/integer_code.h"

namespace krohn {

inline constexpr std::uint32_t kNoPoint = UINT32_MAX;

struct PointMoves {
  std::vector<std::vector<std::uint32_t>> next;  ///< next[letter][point], kNoPoint where no move is known
  /// Itself, where some letter leads to the point. Of the others, such as the state before a word where the empty word
  /// is not asked about, the first point that some letter leads to and that every letter moves alike; kNoPoint where
  /// there is none.
  std::vector<std::uint32_t> like;

  /// No letter leads to it, and another point says all that it does.
  bool is_repeated(std::size_t point) const { return like[point] != point && like[point] != kNoPoint; }
};

/// O(letters · points²).
PointMoves point_moves(const std::vector<LearnedCode::Move>& moves, std::size_t letters, std::size_t points);

}  // namespace krohn
