// simulate/many/pair_pieces.h — the pairs, or what is known of them, that a rank holds of a numbering that all share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace krohn {

/// Ranges of numbers, and `width` values for each number in them.
template <class Value>
class NumberedPieces {
 public:
  struct Piece {
    std::uint64_t first = 0, count = 0, offset = 0;  ///< `offset` in units of `width` values
  };

  explicit NumberedPieces(std::size_t width) : width_(width) {}

  void append(std::uint64_t first, std::span<const Value> values) {
    const std::uint64_t count = values.size() / width_, offset = values_.size() / width_;
    if (count == 0) return;
    values_.insert(values_.end(), values.begin(), values.end());
    const Piece last = pieces_.empty() ? Piece{} : pieces_.back();
    if (last.count > 0 && last.first + last.count == first && last.offset + last.count == offset)
      pieces_.back().count += count;
    else
      pieces_.push_back({first, count, offset});
  }

  /// After pieces came in any order: makes `overlapping` and `find` work.
  void sort() { std::ranges::sort(pieces_, {}, &Piece::first); }

  void clear() {
    pieces_.clear();
    values_.clear();
  }

  /// Calls `take(first, values)` for what is held of [begin, end), in order.
  template <class Take>
  void overlapping(std::uint64_t begin, std::uint64_t end, Take&& take) const {
    auto piece = std::ranges::upper_bound(pieces_, begin, {}, &Piece::first);
    if (piece != pieces_.begin()) --piece;
    for (; piece != pieces_.end() && piece->first < end; ++piece) {
      const std::uint64_t from = std::max(begin, piece->first), to = std::min(end, piece->first + piece->count);
      if (from >= to) continue;
      take(from, std::span<const Value>(values_).subspan((piece->offset + from - piece->first) * width_,
                                                         (to - from) * width_));
    }
  }

  std::uint64_t bytes() const { return pieces_.capacity() * sizeof(Piece) + values_.capacity() * sizeof(Value); }

 private:
  std::size_t width_;
  std::vector<Piece> pieces_;
  std::vector<Value> values_;
};

}  // namespace krohn
