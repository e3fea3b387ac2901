// simulate/arithmetic/numbers.h — lists of numbers as layers pass them on.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

namespace krohn {

/// Memory at the beginning of a cache line. A block given back is kept for who next takes one of its size in the same
/// thread: a step of training takes the same ones every time, and the system would fill them with zeros anew.
void* take_block(std::size_t bytes);
void give_block(void* block, std::size_t bytes) noexcept;

/// Memory at the beginning of a cache line, so that no vector of numbers lies across two; numbers that nobody gave a
/// value have none.
template <class Number>
struct LineAllocator {
  using value_type = Number;

  LineAllocator() = default;
  template <class Other>
  LineAllocator(const LineAllocator<Other>&) {}

  Number* allocate(std::size_t count) { return static_cast<Number*>(take_block(count * sizeof(Number))); }
  void deallocate(Number* memory, std::size_t count) { give_block(memory, count * sizeof(Number)); }
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

/// As `Numbers(n, 0)`, in the widest stores that there are.
template <class Number>
Numbers<Number> zeros(std::size_t count) {
  Numbers<Number> result(count);
  if (count > 0) std::memset(result.data(), 0, count * sizeof(Number));
  return result;
}

/// A part of a gradient that is a product of few rows, as a model hands it to the optimiser (to write it out would take
/// longer than to make it): by a matrix of rows × columns parameters, the first of which is parameter `first`,
/// Σ_t left(t, i) right(t, j) by number (i, j). Of no terms: there is none.
template <class Real>
struct OuterGradient {
  std::size_t first = 0, rows = 0, columns = 0, terms = 0;
  Numbers<Real> left, right;
};

}  // namespace krohn

// Made once, in numbers.cpp: where optimisation is low, a list of numbers without a value would count through them.
extern template class std::vector<float, krohn::LineAllocator<float>>;
extern template class std::vector<double, krohn::LineAllocator<double>>;
