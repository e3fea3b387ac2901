// groups/base/blocks.h — a growing array in blocks that never move: appending copies nothing, so peak memory is what is
// held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace krohn {

template <class T>
class Blocks {
 public:
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return blocks_[i >> kBits][i & kMask]; }
  const T& operator[](std::size_t i) const { return blocks_[i >> kBits][i & kMask]; }
  void push_back(T value) {
    if ((size_ & kMask) == 0) blocks_.push_back(std::make_unique_for_overwrite<T[]>(std::size_t{1} << kBits));
    (*this)[size_++] = value;
  }
  std::uint64_t bytes() const { return blocks_.size() * (sizeof(T) << kBits); }

 private:
  static constexpr unsigned kBits = 16;
  static constexpr std::size_t kMask = (std::size_t{1} << kBits) - 1;
  std::size_t size_ = 0;
  std::vector<std::unique_ptr<T[]>> blocks_;
};

}  // namespace krohn
