// gpu/automata/run_elements.cuh — what a run of packed letters (simulate/words/word.h) does to all states: as a
// map held in registers, or as an element of the transition monoid. For the processor and for CUDA devices.
#pragma once

#include <cstddef>
#include <cstdint>

#include "krohn/gpu/automata/word_symbols.cuh"

namespace krohn {

/// A vector load of a packed word: byte i is bits 8·(i mod 4) … of word i / 4.
struct alignas(16) PackedVector {
  static constexpr std::uint32_t kBytes = 16;

  std::uint32_t words[4];

  KROHN_HOST_DEVICE std::uint32_t byte(std::uint32_t i) const { return words[i / 4] >> 8 * (i % 4) & 0xff; }
};

/// How a table lies in a block's memory of 32 banks of 4 bytes: in 128 / 2^log_width copies, each in banks of its own.
/// Threads that read different copies never wait for each other's banks.
struct BankedLayout {
  static constexpr std::uint32_t kRow = 128;

  std::uint32_t log_width = 7;

  KROHN_HOST_DEVICE std::uint32_t width() const { return 1U << log_width; }
  /// Where byte `at` of the table is in the copy of a thread. Entries are at multiples of their size, at most width().
  KROHN_HOST_DEVICE std::uint32_t offset(std::uint32_t at, std::uint32_t thread) const {
    return ((at << (7 - log_width)) & ~(kRow - 1)) | (at & (width() - 1)) | ((thread << log_width) & (kRow - 1));
  }
  /// The word of the table that word `i` of its copies holds.
  KROHN_HOST_DEVICE std::uint32_t source(std::uint32_t i) const {
    return (i / 32 * width() + (4 * i) % kRow % width()) / 4;
  }
  /// Bytes of all copies.
  KROHN_HOST_DEVICE std::uint32_t size(std::uint32_t table_bytes) const {
    return (table_bytes + width() - 1) / width() * kRow;
  }
};

/// Digit i of the selector, in base 16, gives byte i: the byte of the eight in low, high that its last three bits name,
/// or eight copies of that byte's highest bit where the digit is 8 or more.
KROHN_HOST_DEVICE inline std::uint32_t select_or_clear(std::uint32_t low, std::uint32_t high, std::uint32_t selector) {
#ifdef __CUDA_ARCH__
  std::uint32_t selected;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(selected) : "r"(low), "r"(high), "r"(selector));
  return selected;
#else
  const std::uint64_t bytes = std::uint64_t{high} << 32 | low;
  std::uint32_t selected = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t digit = selector >> 4 * i & 0xf;
    const auto byte = static_cast<std::uint32_t>(bytes >> 8 * (digit & 7) & 0xff);
    selected |= (digit < 8 ? byte : (byte >> 7) * 0xff) << 8 * i;
  }
  return selected;
#endif
}

/// Four bytes below 8 as the digits of a selector.
KROHN_HOST_DEVICE constexpr std::uint32_t as_digits(std::uint32_t bytes) {
  bytes = (bytes | bytes >> 4) & 0x00ff00ffU;
  return (bytes | bytes >> 8) & 0xffffU;
}

/// The choices of a map that comes before another one, of at most 4 · kWords states: for every pair of words of the
/// other map and every four states a selector. States whose image is in another pair have digits of 8 and more: a
/// selection gives 0 for them, so that the pairs' selections need only be joined.
template <std::uint32_t kWords>
struct alignas(kWords == 2 ? 4 : 16) MapChoices {
  static constexpr std::uint32_t kPairs = kWords / 2;

  std::uint32_t selectors[kPairs * kPairs];  ///< of pair p: kPairs words, two selectors each
};

/// The selector of states 4g … 4g + 3 on pair p, from their images.
KROHN_HOST_DEVICE constexpr std::uint32_t selector_on_pair(std::uint32_t images, std::uint32_t pair) {
  const std::uint32_t other = (images >> 3 & 0x03030303U) ^ pair * 0x01010101U;
  return as_digits(images & 0x07070707U) | as_digits((other | other >> 1) & 0x01010101U) * 8;
}

template <std::uint32_t kWords>
KROHN_HOST_DEVICE MapChoices<kWords> choices_of(const PackedMap<kWords>& map) {
  constexpr std::uint32_t kPairs = MapChoices<kWords>::kPairs;
  MapChoices<kWords> choices;
  KROHN_UNROLL
  for (std::uint32_t p = 0; p < kPairs; ++p) KROHN_UNROLL
  for (std::uint32_t h = 0; h < kPairs; ++h)
    choices.selectors[p * kPairs + h] =
        selector_on_pair(map.words[2 * h], p) | selector_on_pair(map.words[2 * h + 1], p) << 16;
  return choices;
}

/// First what the choices say, then the map.
template <std::uint32_t kWords>
KROHN_HOST_DEVICE PackedMap<kWords> choose_before(const PackedMap<kWords>& map, const MapChoices<kWords>& choices) {
  constexpr std::uint32_t kPairs = MapChoices<kWords>::kPairs;
  PackedMap<kWords> out;
  KROHN_UNROLL
  for (std::uint32_t g = 0; g < kWords; ++g) {
    out.words[g] = 0;
    KROHN_UNROLL
    for (std::uint32_t p = 0; p < kPairs; ++p)
      out.words[g] |= select_or_clear(map.words[2 * p], map.words[2 * p + 1],
                                      choices.selectors[p * kPairs + g / 2] >> 16 * (g % 2));
  }
  return out;
}

// An algebra has a type Element, `identity()`, `compose(first, second)`, `apply(element, state)`, and
// `read(table, word, first, count, thread)`: the element of `count` packed bytes from byte `first`, a multiple of 16,
// where `table` is its table in the layout `layout`, of table_bytes before copying.

/// Maps of at most 4 · kWords states, composed from the last byte to the first: the choices of a byte are known
/// beforehand, so that a thread waits for one selection a byte only.
template <std::uint32_t kWords>
struct MapAlgebra {
  using Element = PackedMap<kWords>;
  using Choices = MapChoices<kWords>;

  BankedLayout layout;
  std::uint32_t table_bytes = 0;         ///< Choices, by packed byte
  const std::uint32_t* table = nullptr;  ///< in the place's memory, without copies

  KROHN_HOST_DEVICE static Element identity() { return Element::identity(); }
  KROHN_HOST_DEVICE static Element compose(const Element& first, const Element& second) {
    return choose_before(second, choices_of(first));
  }
  KROHN_HOST_DEVICE static std::uint32_t apply(const Element& map, std::uint32_t state) {
    return map.words[state / 4] >> 8 * (state % 4) & 0xff;
  }

  KROHN_HOST_DEVICE Element read(const unsigned char* shared, const PackedVector* word, std::uint64_t first,
                                 std::uint32_t count, std::uint32_t thread) const {
    Element map = identity();
    std::uint32_t vector = (count + PackedVector::kBytes - 1) / PackedVector::kBytes;
    const PackedVector* at = word + first / PackedVector::kBytes;
    if (const std::uint32_t rest = count % PackedVector::kBytes; rest != 0) {
      const PackedVector last = at[--vector];
      KROHN_UNROLL
      for (std::uint32_t i = PackedVector::kBytes; i-- > 0;)
        if (i < rest) map = choose_before(map, choices(shared, last.byte(i), thread));
    }
    if (vector == 0) return map;
    PackedVector next = at[vector - 1];
    KROHN_DO_NOT_UNROLL
    while (vector-- > 0) {
      const PackedVector here = next;
      if (vector > 0) next = at[vector - 1];  // on its way while this one is read
      KROHN_UNROLL
      for (std::uint32_t i = PackedVector::kBytes; i-- > 0;)
        map = choose_before(map, choices(shared, here.byte(i), thread));
    }
    return map;
  }

 private:
  KROHN_HOST_DEVICE Choices choices(const unsigned char* shared, std::uint32_t byte, std::uint32_t thread) const {
    // The smallest choices always have all their copies: a row a byte.
    const std::uint32_t at = kWords == 2 ? byte * BankedLayout::kRow + thread * 4 % BankedLayout::kRow
                                         : layout.offset(byte * sizeof(Choices), thread);
    return *reinterpret_cast<const Choices*>(shared + at);
  }
};

/// A packed byte cut into symbols of fewer letters: byte i of cuts[b] is symbol i of byte b.
struct ByteCuts {
  const std::uint64_t* cuts = nullptr;
  std::uint32_t per_byte = 1, base = 256;
};

/// The state, or element, after the symbols of one packed byte: entry[state · base + symbol].
template <class Table>
KROHN_HOST_DEVICE std::uint32_t read_byte(const Table& table, const ByteCuts& cut, std::uint32_t state,
                                          std::uint32_t byte) {
  if (cut.per_byte == 1) return table(state * cut.base + byte);
  std::uint64_t symbols = cut.cuts[byte];
  KROHN_DO_NOT_UNROLL
  for (std::uint32_t i = 0; i < cut.per_byte; ++i, symbols >>= 8)
    state = table(state * cut.base + static_cast<std::uint32_t>(symbols & 0xff));
  return state;
}

/// Elements of the transition monoid by number, 0 the identity: a byte multiplies from the right. Entry is what holds a
/// number.
template <class Entry>
struct ElementAlgebra {
  using Element = std::uint32_t;

  BankedLayout layout;
  std::uint32_t table_bytes = 0;
  const std::uint32_t* table = nullptr;  ///< entries of the right Cayley graph by symbol
  ByteCuts cut;
  const std::uint16_t* products = nullptr;  ///< products[first · elements + second]
  const std::uint32_t* images = nullptr;    ///< images[element · states + state]
  std::uint32_t elements = 1, states = 1;

  KROHN_HOST_DEVICE static Element identity() { return 0; }
  KROHN_HOST_DEVICE Element compose(Element first, Element second) const {
    return products[std::size_t{first} * elements + second];
  }
  KROHN_HOST_DEVICE std::uint32_t apply(Element element, std::uint32_t state) const {
    return images[std::size_t{element} * states + state];
  }

  KROHN_HOST_DEVICE Element read(const unsigned char* shared, const PackedVector* word, std::uint64_t first,
                                 std::uint32_t count, std::uint32_t thread) const {
    Element element = identity();
    const PackedVector* at = word + first / PackedVector::kBytes;
    const auto entry = [&](std::uint32_t i) {
      const auto offset = layout.offset(i * static_cast<std::uint32_t>(sizeof(Entry)), thread);
      return std::uint32_t{*reinterpret_cast<const Entry*>(shared + offset)};
    };
    std::uint32_t vectors = count / PackedVector::kBytes;
    if (vectors > 0) {
      PackedVector next = *at;
      KROHN_DO_NOT_UNROLL
      while (vectors-- > 0) {
        const PackedVector here = next;
        ++at;
        if (vectors > 0) next = *at;  // on its way while this one is read
        KROHN_UNROLL
        for (std::uint32_t i = 0; i < PackedVector::kBytes; ++i) element = read_byte(entry, cut, element, here.byte(i));
      }
    }
    if (const std::uint32_t rest = count % PackedVector::kBytes; rest != 0) {
      const PackedVector last = *at;
      KROHN_UNROLL
      for (std::uint32_t i = 0; i < PackedVector::kBytes; ++i)
        if (i < rest) element = read_byte(entry, cut, element, last.byte(i));
    }
    return element;
  }
};

}  // namespace krohn
