#include "krohn/simulate/arithmetic/numbers.h"

#include <array>
#include <bit>

namespace krohn {
namespace {

constexpr std::align_val_t kLine{64};
constexpr std::size_t kOctaves = 18, kParts = 8, kLeast = 64, kMaxKept = std::size_t{64} << 20;

/// Blocks that a thread has given back, by size: 64 bytes to 16 MB, eight sizes an octave.
class Kept {
 public:
  ~Kept();
  void* take(std::size_t place) {
    std::vector<void*>& blocks = blocks_[place];
    if (blocks.empty()) return nullptr;
    void* const block = blocks.back();
    blocks.pop_back();
    bytes_ -= size_at(place);
    return block;
  }
  bool keep(void* block, std::size_t place) {
    if (bytes_ + size_at(place) > kMaxKept) return false;
    blocks_[place].push_back(block);
    bytes_ += size_at(place);
    return true;
  }

  /// Where blocks of at least so many bytes are; past the end where there are none.
  static std::size_t place_of(std::size_t bytes) {
    const std::size_t lines = bytes <= kLeast ? 1 : bytes - 1;
    const std::size_t octave = bytes <= kLeast ? 0 : static_cast<std::size_t>(std::bit_width(lines)) - 7;
    if (octave >= kOctaves) return kOctaves * kParts;
    if (bytes <= kLeast) return 0;
    const std::size_t part = (kLeast << octave) / kParts;
    return octave * kParts + (bytes - (kLeast << octave) + part - 1) / part;
  }
  static std::size_t size_at(std::size_t place) {
    const std::size_t octave = place / kParts;
    return (kLeast << octave) + place % kParts * ((kLeast << octave) / kParts);
  }

 private:
  std::array<std::vector<void*>, kOctaves * kParts> blocks_;
  std::size_t bytes_ = 0;
};

/// Lists may outlive their thread's, or the program's.
thread_local bool is_gone = false;
thread_local Kept kept;

Kept::~Kept() {
  is_gone = true;
  for (const std::vector<void*>& blocks : blocks_)
    for (void* const block : blocks) ::operator delete(block, kLine);
}

}  // namespace

void* take_block(std::size_t bytes) {
  const std::size_t place = Kept::place_of(bytes);
  if (place >= kOctaves * kParts) return ::operator new(bytes, kLine);
  void* const block = is_gone ? nullptr : kept.take(place);
  return block != nullptr ? block : ::operator new(Kept::size_at(place), kLine);
}

void give_block(void* block, std::size_t bytes) noexcept {
  const std::size_t place = Kept::place_of(bytes);
  try {
    if (place < kOctaves * kParts && !is_gone && kept.keep(block, place)) return;
  } catch (...) {  // no memory to remember it in
  }
  ::operator delete(block, kLine);
}

}  // namespace krohn

template class std::vector<float, krohn::LineAllocator<float>>;
template class std::vector<double, krohn::LineAllocator<double>>;
