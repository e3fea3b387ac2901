// simulate/arithmetic/numbers.h — lists of numbers as layers pass them on.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace krohn {

/// Memory at the beginning of a cache line, so that no vector of numbers lies across two; numbers that nobody gave a
/// value have none.
template <class Number>
struct LineAllocator {
  using value_type = Number;
  static constexpr std::align_val_t kLine{64};

  LineAllocator() = default;
  template <class Other>
  LineAllocator(const LineAllocator<Other>&) {}

  Number* allocate(std::size_t count) { return static_cast<Number*>(::operator new(count * sizeof(Number), kLine)); }
  void deallocate(Number* memory, std::size_t) { ::operator delete(memory, kLine); }
  template <class Other, class... Arguments>
  void construct(Other* at, Arguments&&... arguments) {
    if constexpr (sizeof...(arguments) == 0)
      ::new (static_cast<void*>(at)) Other;
    else
      ::new (static_cast<void*>(at)) Other(std::forward<Arguments>(arguments)...);
  }

  friend bool operator==(const LineAllocator&, const LineAllocator&) { return true; }
};

/// `Numbers(n)` and `resize(n)` leave numbers without a value; `Numbers(n, 0)` and `resize(n, 0)` do not.
template <class Number>
using Numbers = std::vector<Number, LineAllocator<Number>>;

}  // namespace krohn
