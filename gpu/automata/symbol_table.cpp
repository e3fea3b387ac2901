#include "krohn/gpu/automata/symbol_table.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "krohn/gpu/device/device.h"
#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

std::uint64_t bytes_of(const Dfa& dfa, const SymbolCut& cut, std::uint32_t entry_size) {
  return std::uint64_t{dfa.states()} * cut.base * entry_size;
}

SymbolCut best_cut(const Dfa& dfa, std::uint32_t entry_size, std::uint64_t shared_bytes) {
  const Letter letters = dfa.letters();
  const std::uint32_t per_byte = letters > 256 ? 1 : letters_per_byte(letters);
  for (const std::uint64_t most : {shared_bytes, SymbolTable::kGlobalBytes})
    for (std::uint32_t stride = per_byte; stride >= 1; --stride)
      if (const SymbolCut cut = cut_words(letters, stride);
          per_byte % stride == 0 && bytes_of(dfa, cut, entry_size) <= most)
        return cut;
  return cut_words(letters, 1);
}

}  // namespace

State read_symbol(const Dfa& dfa, const SymbolCut& cut, State state, std::uint32_t symbol) {
  std::array<Letter, 8> digits;  // no byte holds more letters
  for (std::uint32_t i = cut.stride; i-- > 0; symbol /= cut.letters) digits[i] = symbol % cut.letters;
  for (std::uint32_t i = 0; i < cut.stride; ++i) state = dfa.next(state, digits[i]);
  return state;
}

SymbolTable::SymbolTable(const Dfa& dfa, std::uint64_t shared_bytes)
    : states(dfa.states()), shared_bytes(shared_bytes) {
  if (dfa.letters() == 0) throw InputError("a random word needs an alphabet of at least one letter");
  if (std::uint64_t{states} * dfa.letters() > UINT32_MAX)
    throw NotOnDevice(
        fmt::format("{} states × {} letters are more transitions than a device's table holds; take "
                    "--device cpu",
                    states, dfa.letters()));
  entry_size = states <= 256 ? 1 : states <= 65'536 ? 2 : 4;
  cut = best_cut(dfa, entry_size, shared_bytes);
  entries.resize(bytes_of(dfa, cut, entry_size));
  std::byte* to = entries.data();
  for (State state = 0; state < states; ++state)
    for (std::uint32_t symbol = 0; symbol < cut.base; ++symbol, to += entry_size) {
      const State target = read_symbol(dfa, cut, state, symbol);
      std::memcpy(to, &target, entry_size);  // the low bytes: devices and their hosts are little-endian
    }
}

}  // namespace krohn
