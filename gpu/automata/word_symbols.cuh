// gpu/automata/word_symbols.cuh — random words read several letters at a time: as states, or as what they do to all
// states. For the processor and for CUDA devices.
#pragma once

#include <cstdint>

#include "krohn/simulate/words/random_letters.h"

namespace krohn {

/// A block of a random word (simulate/words/random_letters.h) as `per_block` symbols of `stride` letters each: the
/// digits of its fraction in base `base`, the number of letters to the power of the stride.
struct SymbolCut {
  std::uint32_t letters = 1, stride = 1, base = 1, per_block = 1;
  std::uint64_t mask = ~std::uint64_t{0};  ///< the bits of a block that are its fraction

  KROHN_HOST_DEVICE std::uint64_t fraction(std::uint64_t key, std::uint64_t block) const {
    return random_block(key, block) & mask;
  }
  KROHN_HOST_DEVICE std::uint32_t next(std::uint64_t& fraction) const {
    if (base != 256) return next_letter(fraction, base);
    const auto symbol = static_cast<std::uint32_t>(fraction >> 56);
    fraction <<= 8;
    return symbol;
  }
};

/// `stride` divides the letters that a packed byte holds; 1 for more than 256 letters.
KROHN_HOST_DEVICE constexpr SymbolCut cut_words(std::uint32_t letters, std::uint32_t stride) {
  SymbolCut cut;
  cut.letters = letters;
  cut.stride = stride;
  for (std::uint32_t i = 0; i < stride; ++i) cut.base *= letters;
  cut.per_block = letters_per_block(letters) / stride;
  if (letters <= 256 && bytes_per_block(letters) != 8) cut.mask = ~std::uint64_t{0xff};
  return cut;
}

/// The state after `count` blocks from block `first` on. table[state · base + symbol] is the next state. O(symbols).
template <class Entry>
KROHN_HOST_DEVICE std::uint32_t read_blocks(const Entry* table, const SymbolCut& cut, std::uint64_t key,
                                            std::uint64_t first, std::uint64_t count, std::uint32_t state) {
  for (std::uint64_t block = first; block < first + count; ++block) {
    std::uint64_t fraction = cut.fraction(key, block);
    for (std::uint32_t i = 0; i < cut.per_block; ++i)
      state = table[std::uint64_t{state} * cut.base + cut.next(fraction)];
  }
  return state;
}

/// The state after the first `length` letters of a word; `letter_table` has one letter a step.
template <class Entry>
KROHN_HOST_DEVICE std::uint32_t read_word(const Entry* table, const std::uint32_t* letter_table, const SymbolCut& cut,
                                          std::uint64_t key, std::uint64_t length, std::uint32_t state) {
  const std::uint32_t per_block = cut.stride * cut.per_block;
  const std::uint64_t blocks = length / per_block;
  state = read_blocks(table, cut, key, 0, blocks, state);
  std::uint64_t fraction = cut.fraction(key, blocks);
  for (std::uint64_t rest = length % per_block; rest > 0; --rest)
    state = letter_table[std::uint64_t{state} * cut.letters + next_letter(fraction, cut.letters)];
  return state;
}

/// Byte i of the result is the byte of the eight in low, high that digit i of `selector`, in base 16, names.
KROHN_HOST_DEVICE inline std::uint32_t select_bytes(std::uint32_t low, std::uint32_t high, std::uint32_t selector) {
#ifdef __CUDA_ARCH__
  return __byte_perm(low, high, selector);
#else
  const std::uint64_t bytes = std::uint64_t{high} << 32 | low;
  std::uint32_t selected = 0;
  for (std::uint32_t i = 0; i < 4; ++i)
    selected |= static_cast<std::uint32_t>(bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
  return selected;
#endif
}

/// A map of at most 4 · kWords states: byte i of the words is where state i goes. kWords is 2, 4 or 8.
template <std::uint32_t kWords>
struct PackedMap {
  std::uint32_t words[kWords];

  KROHN_HOST_DEVICE static PackedMap identity() {
    PackedMap map;
    KROHN_UNROLL
    for (std::uint32_t g = 0; g < kWords; ++g) map.words[g] = 0x03020100U + 0x04040404U * g;
    return map;
  }
};

/// A symbol's map, ready to come before another one: for four states each, the images' last three bits as a selector
/// and the bits above them, which name one of kWords / 2 pairs of words, as bytes.
template <std::uint32_t kWords>
struct alignas(16) SymbolMap {
  std::uint32_t selectors[kWords], pairs[kWords];
};

/// First the symbol, then the map. A selection of bytes needs its choices as digits and gives bytes, so that a map
/// grows from its last symbol to its first: the symbols' choices are known beforehand.
template <std::uint32_t kWords>
KROHN_HOST_DEVICE PackedMap<kWords> compose_before(const PackedMap<kWords>& map, const SymbolMap<kWords>& symbol) {
  PackedMap<kWords> out;
  KROHN_UNROLL
  for (std::uint32_t g = 0; g < kWords; ++g) {
    std::uint32_t chosen[kWords / 2];
    KROHN_UNROLL
    for (std::uint32_t p = 0; p < kWords / 2; ++p)
      chosen[p] = select_bytes(map.words[2 * p], map.words[2 * p + 1], symbol.selectors[g]);
    std::uint32_t bit = 0;
    KROHN_UNROLL
    for (std::uint32_t width = kWords / 2; width > 1; width /= 2) {
      const std::uint32_t upper = (symbol.pairs[g] >> bit++ & 0x01010101U) * 255;
      KROHN_UNROLL
      for (std::uint32_t p = 0; p < width / 2; ++p) chosen[p] = (chosen[2 * p] & ~upper) | (chosen[2 * p + 1] & upper);
    }
    out.words[g] = chosen[0];
  }
  return out;
}

/// The map of blocks first … first + count − 1 on all states. Symbols are packed bytes, so at most eight to a block.
template <std::uint32_t kWords>
KROHN_HOST_DEVICE PackedMap<kWords> compose_blocks(const SymbolMap<kWords>* maps, const SymbolCut& cut,
                                                   std::uint64_t key, std::uint64_t first, std::uint64_t count) {
  constexpr std::uint32_t kMax = 8;
  auto map = PackedMap<kWords>::identity();
  for (std::uint64_t block = first + count; block-- > first;) {
    std::uint64_t fraction = cut.fraction(key, block);
    std::uint32_t symbols[kMax];
    KROHN_UNROLL
    for (std::uint32_t i = 0; i < kMax; ++i)
      if (i < cut.per_block) symbols[i] = cut.next(fraction);
    KROHN_UNROLL
    for (std::uint32_t i = kMax; i-- > 0;)
      if (i < cut.per_block) map = compose_before(map, maps[symbols[i]]);
  }
  return map;
}

/// One random word in slices of whole blocks, the last one perhaps shorter.
struct WordSlices {
  std::uint64_t key = 0, first_block = 0, blocks = 0, blocks_per_slice = 1, slices = 0;
  std::uint32_t from = 0;  ///< the state before the first block

  KROHN_HOST_DEVICE std::uint64_t begin(std::uint64_t slice) const { return first_block + slice * blocks_per_slice; }
  KROHN_HOST_DEVICE std::uint64_t count(std::uint64_t slice) const {
    const std::uint64_t rest = blocks - slice * blocks_per_slice;
    return rest < blocks_per_slice ? rest : blocks_per_slice;
  }
};

/// Item i of slices · starts: slice i / starts read from state i mod starts.
template <class Entry>
KROHN_HOST_DEVICE void read_slice(const WordSlices& word, const SymbolCut& cut, const Entry* table,
                                  std::uint32_t starts, std::uint64_t item, std::uint32_t* ends) {
  const std::uint64_t slice = item / starts;
  const auto start = static_cast<std::uint32_t>(item % starts);
  ends[item] = read_blocks(table, cut, word.key, word.begin(slice), word.count(slice), start);
}

/// Slice `item` read from the state that the `lead` blocks before it lead to, from anywhere: that state, and the one
/// that the slice ends in. The first slice starts where the word does.
template <class Entry>
KROHN_HOST_DEVICE void read_led_slice(const WordSlices& word, const SymbolCut& cut, const Entry* table,
                                      std::uint64_t lead, std::uint64_t item, std::uint32_t* out) {
  const std::uint64_t begin = word.begin(item), before = item == 0 ? 0 : begin < lead ? begin : lead;
  out[2 * item] = read_blocks(table, cut, word.key, begin - before, before, word.from);
  out[2 * item + 1] = read_blocks(table, cut, word.key, begin, word.count(item), out[2 * item]);
}

/// The map of slice `item` on all states, kWords words of `out`.
template <std::uint32_t kWords>
KROHN_HOST_DEVICE void compose_slice(const WordSlices& word, const SymbolCut& cut, const SymbolMap<kWords>* maps,
                                     std::uint64_t item, std::uint32_t* out) {
  const PackedMap<kWords> map = compose_blocks(maps, cut, word.key, word.begin(item), word.count(item));
  KROHN_UNROLL
  for (std::uint32_t g = 0; g < kWords; ++g) out[item * kWords + g] = map.words[g];
}

}  // namespace krohn
