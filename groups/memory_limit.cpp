#include "krohn/groups/memory_limit.h"

#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace krohn {

std::atomic<const MemoryLimit*> MemoryLimit::current = nullptr;

MemoryLimit::MemoryLimit(std::uint64_t bytes, std::string option)
    : bytes_(bytes), option_(std::move(option)), outer_(current.load()) {
  if (bytes_ > 0) current = this;
}

MemoryLimit::~MemoryLimit() { current = outer_; }

std::uint64_t MemoryLimit::held() {
  static const long page = sysconf(_SC_PAGESIZE);
  unsigned long long size = 0, resident = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%llu %llu", &size, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return resident * static_cast<std::uint64_t>(page);
}

bool MemoryLimit::is_met(std::chrono::steady_clock::time_point now) const {
  constexpr std::chrono::steady_clock::duration kBetweenLooks = std::chrono::milliseconds(5);
  const auto at = now.time_since_epoch().count();
  if (at < next_look_.load(std::memory_order_relaxed)) return false;
  next_look_.store(at + kBetweenLooks.count(), std::memory_order_relaxed);
  if (held() <= bytes_) return false;
  malloc_trim(0);  // freed blocks that the allocator keeps are nobody's
  if (held() <= bytes_) return false;
  next_look_.store(0, std::memory_order_relaxed);
  was_met_ = true;
  return true;
}

}  // namespace krohn
