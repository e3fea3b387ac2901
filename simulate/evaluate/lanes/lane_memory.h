// simulate/evaluate/lanes/lane_memory.h — memory of tables that vectors read.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace krohn {

/// Values from a cache line's beginning on, so that a vector of them never crosses one.
template <class T>
class LaneMemory {
 public:
  LaneMemory() = default;
  explicit LaneMemory(std::size_t size) : lines_((size * sizeof(T) + sizeof(Line) - 1) / sizeof(Line)), size_(size) {}
  explicit LaneMemory(const std::vector<T>& values) : LaneMemory(values.size()) {
    for (std::size_t i = 0; i < values.size(); ++i) data()[i] = values[i];
  }
  T* data() { return reinterpret_cast<T*>(lines_.data()); }
  const T* data() const { return reinterpret_cast<const T*>(lines_.data()); }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> lines_;
  std::size_t size_ = 0;
};

/// Entries to allocate for a table with `count` of them: vectors read whole classes of tables that fit into registers.
inline std::uint32_t stride_of(std::size_t count) {
  if (count <= 128) return static_cast<std::uint32_t>(std::max(std::size_t{16}, std::bit_ceil(count)));
  return static_cast<std::uint32_t>((count + 15) / 16 * 16);
}

/// A table of its own, as long as vectors read it; none where every entry is its own place.
template <class Integer>
LaneMemory<Integer> table_of(std::vector<Integer> entries, bool may_be_none = false) {
  bool is_identity = may_be_none;
  for (std::size_t i = 0; i < entries.size(); ++i) is_identity = is_identity && entries[i] == static_cast<Integer>(i);
  if (is_identity) return {};
  entries.resize(stride_of(entries.size()));
  return LaneMemory<Integer>(entries);
}

}  // namespace krohn
