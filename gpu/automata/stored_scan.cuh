// gpu/automata/stored_scan.cuh — one long word that lies in memory through an automaton, in one pass over it: a scan
// over function composition. A block of threads reads a tile, every thread a run of it; what the runs do to all states
// is composed by 32 threads. For the state at the end, a block keeps what its tiles do, and nothing waits. For the
// states at all positions, a tile's start is found by decoupled look-back (Merrill & Garland 2016): a tile first tells
// what it does, then looks back over the tiles before it until one has told its last state, and tells its own.
//
// The functions are the same on the processor and on CUDA devices: a block is a `Threads` of
// gpu/device/threads.cuh.
#pragma once

#include <cstddef>
#include <cstdint>

#include "krohn/gpu/automata/run_elements.cuh"
#include "krohn/gpu/device/threads.cuh"

namespace krohn {

inline constexpr std::uint32_t kTileThreads = 256, kRunBytes = 64, kTileBytes = kTileThreads * kRunBytes;
inline constexpr std::uint32_t kRunVectors = kRunBytes / PackedVector::kBytes;
inline constexpr std::uint32_t kRakes = 32, kRakeRuns = kTileThreads / kRakes;
inline constexpr std::uint32_t kMaxSharedSteps = 16 * 1024;  ///< bytes of the states after bytes, in a block's memory

/// The messages between tiles. A tile's total is written before its status says so.
namespace tile_status {
inline constexpr std::uint32_t kNothing = 0, kTotal = 1,
                               kState = 2;  ///< kState + the state after the tile's last letter
}

KROHN_HOST_DEVICE inline void tell(std::uint32_t* status, std::uint32_t value) {
#ifdef __CUDA_ARCH__
  __threadfence();
  *static_cast<volatile std::uint32_t*>(status) = value;
#else
  *status = value;
#endif
}

/// Waits until the tile has told anything; one with a lower number is being read, or has been.
KROHN_HOST_DEVICE inline std::uint32_t ask(const std::uint32_t* status) {
#ifdef __CUDA_ARCH__
  std::uint32_t value = tile_status::kNothing;
  while ((value = *static_cast<const volatile std::uint32_t*>(status)) == tile_status::kNothing) __nanosleep(20);
  __threadfence();
  return value;
#else
  return *status;
#endif
}

/// *at ← max(*at, value), in a block's shared memory.
KROHN_HOST_DEVICE inline void take_greatest(std::uint32_t* at, std::uint32_t value) {
  KROHN_EITHER(atomicMax(at, value), *at = value > *at ? value : *at);
}

/// The shared memory of a block, beside its table. Aligned to 16 bytes.
template <class Element>
struct alignas(16) TileMemory {
  Element runs[kTileThreads];
  Element rakes[2][kRakes];  ///< in the second, after `compose_runs`: everything up to a rake's last run
  Element window[kTileThreads], window_rakes[2][kRakes];
  Element carry;
  std::uint32_t starts[kTileThreads];
  std::uint32_t start, nearest, found;
};

/// The states after every letter of a packed byte, a byte each, in entries of 2^log_width bytes: entry state · base +
/// byte, of the state before it.
struct ByteStates {
  const std::uint32_t* table = nullptr;
  std::uint32_t table_bytes = 0, log_width = 3, base = 256, letters = 1;  ///< letters to a byte

  /// From the table, wherever it lies.
  KROHN_HOST_DEVICE std::uint64_t after(const unsigned char* from, std::uint32_t state, std::uint32_t byte) const {
    const std::uint32_t entry = state * base + byte;
    if (log_width == 0) return from[entry];
    if (log_width == 1) return reinterpret_cast<const std::uint16_t*>(from)[entry];
    if (log_width == 2) return reinterpret_cast<const std::uint32_t*>(from)[entry];
    return reinterpret_cast<const std::uint64_t*>(from)[entry];
  }
};

/// A vector store of states, a byte each.
struct alignas(16) StatesVector {
  static constexpr std::uint32_t kStates = 16;

  std::uint64_t words[2];
};

/// The places where a block gathers the states that it writes, and reads the states after bytes.
struct StateWriter {
  StatesVector* gathered;
  const unsigned char* steps;
};

template <class Algebra>
struct StoredScan {
  using Element = typename Algebra::Element;
  using Memory = TileMemory<Element>;

  Algebra algebra;
  bool in_shared = true;  ///< the algebra's table is copied into the shared memory of a block
  const PackedVector* word = nullptr;
  std::uint64_t bytes = 0;  ///< whole packed bytes
  std::uint32_t start = 0;
  // For the end: what the tiles of each block do.
  Element* block_totals = nullptr;
  // For all states.
  std::uint32_t* status = nullptr;  ///< by tile, kNothing at first
  Element* totals = nullptr;        ///< by tile
  std::uint32_t* next_tile = nullptr;
  ByteStates steps;
  StatesVector* states = nullptr;

  KROHN_HOST_DEVICE std::uint64_t tiles() const { return (bytes + kTileBytes - 1) / kTileBytes; }

  /// Bytes of a block's table, of its states after bytes, of the states that it gathers to write, and of its memory in
  /// all.
  KROHN_HOST_DEVICE std::uint32_t table_size() const {
    return in_shared ? algebra.layout.size(algebra.table_bytes) : 0;
  }
  KROHN_HOST_DEVICE std::uint32_t steps_size() const {
    return states != nullptr && steps.table_bytes <= kMaxSharedSteps ? steps.table_bytes : 0;
  }
  KROHN_HOST_DEVICE std::uint32_t gathered_size() const {
    return states != nullptr ? kTileThreads * steps.letters * static_cast<std::uint32_t>(sizeof(StatesVector)) : 0;
  }
  KROHN_HOST_DEVICE std::uint32_t shared_size() const {
    return static_cast<std::uint32_t>(sizeof(Memory)) + table_size() + gathered_size() + steps_size();
  }

  /// The two of a block in the memory that follows the algebra's table.
  KROHN_HOST_DEVICE StateWriter writer(unsigned char* behind_table) const {
    auto* const gathered = reinterpret_cast<StatesVector*>(behind_table);
    return {gathered, steps_size() > 0 ? behind_table + gathered_size()
                                       : reinterpret_cast<const unsigned char*>(steps.table)};
  }
  /// Copies the table of states after bytes there, where it fits.
  template <class Threads>
  KROHN_HOST_DEVICE void load_steps(const Threads& threads, unsigned char* behind_table) const {
    auto* const to = reinterpret_cast<std::uint32_t*>(behind_table + gathered_size());
    threads.each([&](std::uint32_t thread) {
      for (std::uint32_t i = thread; i < steps_size() / 4; i += kTileThreads) to[i] = steps.table[i];
    });
  }

  /// Copies the algebra's table into the block's memory, where it fits; where it is read.
  template <class Threads>
  KROHN_HOST_DEVICE const unsigned char* load_table(const Threads& threads, unsigned char* shared) const {
    if (!in_shared) return reinterpret_cast<const unsigned char*>(algebra.table);
    const std::uint32_t words = algebra.layout.size(algebra.table_bytes) / 4;
    threads.each([&](std::uint32_t thread) {
      for (std::uint32_t i = thread; i < words; i += kTileThreads) {
        const std::uint32_t source = algebra.layout.source(i);
        if (4 * source < algebra.table_bytes) reinterpret_cast<std::uint32_t*>(shared)[i] = algebra.table[source];
      }
    });
    return shared;
  }

  /// Writes the tile's map to memory.rakes[1][kRakes − 1], and its parts' maps beside it.
  template <class Threads>
  KROHN_HOST_DEVICE void read_tile(const Threads& threads, const unsigned char* shared, Memory& memory,
                                   std::uint64_t tile) const {
    threads.each([&](std::uint32_t thread) {
      const std::uint64_t first = tile * kTileBytes + std::uint64_t{thread} * kRunBytes;
      const std::uint64_t left = first < bytes ? bytes - first : 0;
      const auto count = static_cast<std::uint32_t>(left < kRunBytes ? left : kRunBytes);
      memory.runs[thread] = algebra.read(shared, word, first, count, thread);
    });
    compose_runs(threads, memory.runs, memory.rakes);
  }

  /// Blocks read tiles [first, last); the last one's total is kept in block_totals[block].
  template <class Threads>
  KROHN_HOST_DEVICE void read_block(const Threads& threads, const unsigned char* shared, Memory& memory,
                                    std::uint32_t block, std::uint64_t first, std::uint64_t last) const {
    threads.each([&](std::uint32_t thread) {
      if (thread == 0) memory.carry = algebra.identity();
    });
    for (std::uint64_t tile = first; tile < last; ++tile) {
      read_tile(threads, shared, memory, tile);
      threads.each([&](std::uint32_t thread) {
        if (thread == 0) memory.carry = algebra.compose(memory.carry, memory.rakes[1][kRakes - 1]);
      });
    }
    threads.each([&](std::uint32_t thread) {
      if (thread == 0) block_totals[block] = memory.carry;
    });
  }

  /// After read_tile: tells what the tile does.
  template <class Threads>
  KROHN_HOST_DEVICE void tell_total(const Threads& threads, const Memory& memory, std::uint64_t tile) const {
    threads.each([&](std::uint32_t thread) {
      if (thread != 0) return;
      const Element& total = memory.rakes[1][kRakes - 1];
      totals[tile] = total;
      tell(status + tile, tile == 0 ? tile_status::kState + algebra.apply(total, start) : tile_status::kTotal);
    });
  }

  /// Looks back for the state in which the tile starts, memory.start, and tells the one in which it ends.
  template <class Threads>
  KROHN_HOST_DEVICE void look_back(const Threads& threads, Memory& memory, std::uint64_t tile) const {
    threads.each([&](std::uint32_t thread) {
      if (thread != 0) return;
      memory.carry = algebra.identity();
      memory.start = start;
      memory.found = tile == 0 ? 1 : 0;
    });
    for (std::uint64_t end = tile; memory.found == 0; end -= kTileThreads) {
      threads.each([&](std::uint32_t thread) {
        if (thread == 0) memory.nearest = 0;
      });
      read_window(threads, memory, end);
      compose_runs(threads, memory.window, memory.window_rakes);
      threads.each([&](std::uint32_t thread) {
        if (thread != 0) return;
        memory.carry = algebra.compose(memory.window_rakes[1][kRakes - 1], memory.carry);
        if (memory.nearest == 0) return;
        const std::uint32_t state = ask(status + (end - kTileThreads + memory.nearest - 1)) - tile_status::kState;
        memory.start = algebra.apply(memory.carry, state);
        memory.found = 1;
      });
    }
    threads.each([&](std::uint32_t thread) {
      if (thread == 0 && tile > 0)
        tell(status + tile, tile_status::kState + algebra.apply(memory.rakes[1][kRakes - 1], memory.start));
    });
  }

  /// Writes the states after every letter of the tile, from memory.start: those of one vector of every run at a time,
  /// gathered first, so that threads beside each other write vectors beside each other.
  template <class Threads>
  KROHN_HOST_DEVICE void write_tile(const Threads& threads, Memory& memory, const StateWriter& writer,
                                    std::uint64_t tile) const {
    threads.each([&](std::uint32_t rake) {
      if (rake >= kRakes) return;
      std::uint32_t state = rake == 0 ? memory.start : algebra.apply(memory.rakes[1][rake - 1], memory.start);
      for (std::uint32_t run = rake * kRakeRuns; run < (rake + 1) * kRakeRuns; ++run) {
        memory.starts[run] = state;
        state = algebra.apply(memory.runs[run], state);
      }
    });
    const std::uint64_t vectors = (bytes * steps.letters + StatesVector::kStates - 1) / StatesVector::kStates;
    for (std::uint32_t part = 0; part < kRunVectors; ++part) {
      threads.each([&](std::uint32_t thread) {
        const std::uint64_t vector = (tile * kTileThreads + thread) * kRunVectors + part;
        memory.starts[thread] = gather_states(writer, vector, thread, memory.starts[thread]);
      });
      threads.each([&](std::uint32_t thread) {
        std::uint32_t run = thread / steps.letters, piece = thread % steps.letters;
        for (std::uint32_t i = 0; i < steps.letters; ++i) {
          const std::uint64_t to =
              ((tile * kTileThreads + run) * kRunVectors + part) * steps.letters + piece;
          if (to < vectors) states[to] = writer.gathered[place_of(run, piece)];
          run += kTileThreads / steps.letters;
          piece += kTileThreads % steps.letters;
          if (piece >= steps.letters) piece -= steps.letters, ++run;
        }
      });
    }
  }

 private:
  template <class Threads>
  KROHN_HOST_DEVICE void compose_runs(const Threads& threads, const Element* runs, Element (*rakes)[kRakes]) const {
    threads.each([&](std::uint32_t rake) {
      if (rake >= kRakes) return;
      Element total = runs[rake * kRakeRuns];
      for (std::uint32_t i = 1; i < kRakeRuns; ++i) total = algebra.compose(total, runs[rake * kRakeRuns + i]);
      rakes[0][rake] = total;
    });
    std::uint32_t from = 0;
    for (std::uint32_t distance = 1; distance < kRakes; distance *= 2, from = 1 - from)
      threads.each([&](std::uint32_t rake) {
        if (rake >= kRakes) return;
        const Element& own = rakes[from][rake];
        rakes[1 - from][rake] = rake < distance ? own : algebra.compose(rakes[from][rake - distance], own);
      });
  }

  /// The totals of tiles [end − kTileThreads, end) that come after the nearest one whose last state is known.
  template <class Threads>
  KROHN_HOST_DEVICE void read_window(const Threads& threads, Memory& memory, std::uint64_t end) const {
    threads.each([&](std::uint32_t thread) {
      if (end + thread < kTileThreads) return;  // before the first tile
      if (ask(status + (end + thread - kTileThreads)) >= tile_status::kState)
        take_greatest(&memory.nearest, thread + 1);
    });
    threads.each([&](std::uint32_t thread) {
      memory.window[thread] = algebra.identity();
      if (thread < memory.nearest || end + thread < kTileThreads) return;
      // The total was told before the status; it may have changed to a state since, and the total stays.
      copy_told(totals + (end + thread - kTileThreads), memory.window + thread);
    });
  }

  /// Another block wrote it: not from a cache of this one.
  KROHN_HOST_DEVICE static void copy_told(const Element* from, Element* to) {
    static_assert(sizeof(Element) % 4 == 0);
    const auto* words = reinterpret_cast<const volatile std::uint32_t*>(from);
    for (std::uint32_t i = 0; i < sizeof(Element) / 4; ++i) reinterpret_cast<std::uint32_t*>(to)[i] = words[i];
  }

  /// The place where a run's piece is gathered: pieces of runs beside each other are in different banks.
  KROHN_HOST_DEVICE std::uint32_t place_of(std::uint32_t run, std::uint32_t piece) const {
    return run * steps.letters + (piece + run) % steps.letters;
  }

  /// Gathers the states after every letter of a vector of the word, from `state`; the last one.
  KROHN_HOST_DEVICE std::uint32_t gather_states(const StateWriter& writer, std::uint64_t vector, std::uint32_t run,
                                                std::uint32_t state) const {
    const std::uint64_t first = vector * PackedVector::kBytes;
    if (first >= bytes) return state;
    const std::uint64_t left = bytes - first;
    const auto count = static_cast<std::uint32_t>(left < PackedVector::kBytes ? left : PackedVector::kBytes);
    PackedVector here = word[vector];
    StatesVector held{};
    std::uint32_t bits = 0, piece = 0;  // of `held`, and which it is
    const std::uint32_t more = 8 * steps.letters;
    KROHN_DO_NOT_UNROLL
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint64_t after = steps.after(writer.steps, state, here.byte(0));
      // The next byte comes first: no index into registers.
      here.words[0] = here.words[0] >> 8 | here.words[1] << 24;
      here.words[1] = here.words[1] >> 8 | here.words[2] << 24;
      here.words[2] = here.words[2] >> 8 | here.words[3] << 24;
      here.words[3] >>= 8;
      state = static_cast<std::uint32_t>(after >> (more - 8) & 0xff);
      if (bits < 64) {
        held.words[0] |= after << bits;
        if (bits + more > 64) held.words[1] = after >> (64 - bits);
      } else {
        held.words[1] |= after << (bits - 64);
      }
      bits += more;
      if (bits < 128) continue;
      writer.gathered[place_of(run, piece++)] = held;
      bits -= 128;
      held.words[0] = bits == 0 ? 0 : after >> (more - bits);
      held.words[1] = 0;
    }
    if (bits > 0) writer.gathered[place_of(run, piece)] = held;
    return state;
  }
};

#ifdef KROHN_WITH_CUDA
/// Starts `blocks` blocks for the end of a word; block_totals has room for them.
template <class Algebra>
void cuda_read_stored(const StoredScan<Algebra>& scan, std::uint32_t blocks);
/// Starts the blocks that write all states.
template <class Algebra>
void cuda_write_states(const StoredScan<Algebra>& scan);
/// Blocks that fill the device.
template <class Algebra>
std::uint32_t cuda_stored_blocks(const StoredScan<Algebra>& scan);
#endif

// A stored word in slices, each read from every state by itself: for automata whose maps neither registers nor a small
// monoid hold. For the processor and for CUDA devices.

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
