// simulate/words/huge_page_allocator.h — memory for tables that are read at random: on large pages, where the system
// has them.
#pragma once

#include <cstddef>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace krohn {

/// An allocator for std::vector. A table of half a megabyte on pages of 4 kB costs a search for the page at most loads;
/// from 256 kB on, memory is therefore aligned to 2 MB and Linux is asked for pages of that size. It may refuse.
template <class T>
struct HugePageAllocator {
  using value_type = T;
  static constexpr std::size_t kPage = std::size_t{1} << 21, kFrom = std::size_t{1} << 18, kLine = 64;

  HugePageAllocator() = default;
  template <class U>
  HugePageAllocator(const HugePageAllocator<U>&) {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = rounded(count);
    void* const memory = ::operator new(bytes, alignment(bytes));
#if defined(__linux__)
    if (bytes >= kPage) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) { ::operator delete(memory, alignment(rounded(count))); }

  friend bool operator==(const HugePageAllocator&, const HugePageAllocator&) { return true; }

 private:
  /// Whole pages, so that no other data shares the last one.
  static std::size_t rounded(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    return bytes < kFrom ? bytes : (bytes + kPage - 1) / kPage * kPage;
  }
  static std::align_val_t alignment(std::size_t bytes) { return std::align_val_t{bytes < kPage ? kLine : kPage}; }
};

}  // namespace krohn
