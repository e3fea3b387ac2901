#include "krohn/simulate/run/symbol_source.h"

#include <cassert>

namespace krohn {

ByteCutter::ByteCutter(Letter letters, std::uint32_t stride)
    : letters_per_byte_(krohn::letters_per_byte(letters)), per_byte_(letters_per_byte_ / stride) {
  assert(stride != 0 && letters_per_byte_ % stride == 0);
  std::uint32_t base = 1;
  for (std::uint32_t i = 0; i < stride; ++i) base *= letters;
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    Symbols& symbols = symbols_.emplace_back();
    std::uint32_t value = byte;
    for (std::size_t symbol = per_byte_; symbol-- > 0; value /= base)
      symbols[symbol] = static_cast<std::uint8_t>(value % base);
  }
}

/// The number of symbols is known to the compiler, so that a byte is one copy.
template <std::size_t kPerByte>
void ByteCutter::cut_fixed(std::span<const std::uint8_t> bytes, std::uint8_t* out) const {
  for (const std::uint8_t byte : bytes) {
    std::memcpy(out, symbols_[byte].data(), kPerByte);
    out += kPerByte;
  }
}

void ByteCutter::cut(std::span<const std::uint8_t> bytes, std::span<std::uint8_t> out) const {
  switch (per_byte_) {
    case 1:
      return cut_fixed<1>(bytes, out.data());
    case 2:
      return cut_fixed<2>(bytes, out.data());
    case 3:
      return cut_fixed<3>(bytes, out.data());
    case 4:
      return cut_fixed<4>(bytes, out.data());
    case 5:
      return cut_fixed<5>(bytes, out.data());
    default:
      return cut_fixed<8>(bytes, out.data());
  }
}

}  // namespace krohn
