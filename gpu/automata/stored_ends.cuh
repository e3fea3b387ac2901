// gpu/automata/stored_ends.cuh — a stored word in slices, each read from every state by itself: for automata whose maps
// neither registers nor a small monoid hold. For the processor and for CUDA devices.
#pragma once

#include <cstdint>

#include "krohn/gpu/automata/run_elements.cuh"

namespace krohn {

/// The word, cut into slices of whole bytes, and the automaton as entry[state · base + symbol].
struct StoredSlices {
  const PackedVector* word = nullptr;
  std::uint64_t bytes = 0, bytes_per_slice = 1;
  const std::uint32_t* table = nullptr;
  ByteCuts cut;

  /// Calls body(byte, number of the byte) for the bytes of a slice, in order.
  template <class Body>
  KROHN_HOST_DEVICE void for_bytes(std::uint64_t slice, Body&& body) const {
    const std::uint64_t first = slice * bytes_per_slice;
    const std::uint64_t last = first + bytes_per_slice < bytes ? first + bytes_per_slice : bytes;
    for (std::uint64_t i = first; i < last; ++i)
      body(word[i / PackedVector::kBytes].byte(static_cast<std::uint32_t>(i % PackedVector::kBytes)), i);
  }
  KROHN_HOST_DEVICE std::uint32_t next(std::uint32_t state, std::uint32_t byte) const {
    return read_byte([this](std::uint32_t at) { return table[at]; }, cut, state, byte);
  }
};

/// Item i: slice i / states from state i mod states.
struct ReadSliceEnds {
  StoredSlices slices;
  std::uint32_t states = 1;
  std::uint32_t* ends = nullptr;

  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const {
    auto state = static_cast<std::uint32_t>(item % states);
    slices.for_bytes(item / states, [&](std::uint32_t byte, std::uint64_t) { state = slices.next(state, byte); });
    ends[item] = state;
  }
};

/// Item i writes the states after every letter of slice i, from starts[i]; every letter is a symbol.
struct WriteSliceStates {
  StoredSlices slices;
  const std::uint32_t* starts = nullptr;
  std::uint8_t* states = nullptr;

  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const {
    std::uint32_t state = starts[item];
    slices.for_bytes(item, [&](std::uint32_t byte, std::uint64_t i) {
      std::uint64_t symbols = slices.cut.cuts[byte];
      for (std::uint32_t s = 0; s < slices.cut.per_byte; ++s, symbols >>= 8) {
        state = slices.table[state * slices.cut.base + static_cast<std::uint32_t>(symbols & 0xff)];
        states[i * slices.cut.per_byte + s] = static_cast<std::uint8_t>(state);
      }
    });
  }
};

}  // namespace krohn
