#include "krohn/groups/base/random.h"

#include <cassert>

namespace krohn {
namespace {

__extension__ typedef unsigned __int128 Wide;

}  // namespace

std::uint64_t Random::next() {
  std::uint64_t x = state_ += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

std::uint64_t Random::below(std::uint64_t bound) {
  assert(bound > 0);
  const std::uint64_t threshold = (0 - bound) % bound;
  for (;;) {
    const Wide product = static_cast<Wide>(next()) * bound;
    if (static_cast<std::uint64_t>(product) >= threshold) return static_cast<std::uint64_t>(product >> 64);
  }
}

}  // namespace krohn
