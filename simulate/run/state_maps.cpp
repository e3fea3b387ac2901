#include "krohn/simulate/run/state_maps.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <utility>

#include "krohn/simulate/words/word.h"

#if defined(__x86_64__)
#endif

namespace krohn {

StateMapTable::StateMapTable(const Dfa& dfa, Instructions instructions)
    : states_(dfa.states()),
      width_(states_ <= 16   ? 16
             : states_ <= 64 ? 64
                             : 128) {
  assert(fits(dfa.states(), dfa.letters()));
  // Maps of one letter more from maps of one letter less, with the new letter as the last digit.
  decltype(maps_) shorter(width_, 0);
  for (State state = 0; state < states_; ++state) shorter[state] = static_cast<std::uint8_t>(state);
  for (std::uint32_t length = 1; length <= letters_per_byte(dfa.letters()); ++length) {
    maps_.assign(shorter.size() * dfa.letters(), 0);
    for (std::size_t i = 0; i < maps_.size(); ++i)
      if (i % width_ < states_) {
        const std::size_t number = i / width_;
        const auto letter = static_cast<Letter>(number % dfa.letters());
        const State before = shorter[number / dfa.letters() * width_ + i % width_];
        maps_[i] = static_cast<std::uint8_t>(dfa.next(before, letter));
      }
    shorter = maps_;
  }
  kernel_ = kernel_for(instructions);
}

StateMap StateMapTable::identity() const {
  StateMap map{};
  for (State state = 0; state < states_; ++state) map[state] = static_cast<std::uint8_t>(state);
  return map;
}

void StateMapTable::compose_portably(const Parts& parts, std::size_t count, Maps& maps) const {
  for (std::size_t part = 0; part < kParts; ++part)
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint8_t* const step = maps_.data() + parts[part][i] * width_;
      for (State state = 0; state < states_; ++state) maps[part][state] = step[maps[part][state]];
    }
}

#if defined(__x86_64__)

StateMapTable::Kernel StateMapTable::kernel_for(Instructions instructions) const {
  if (!is_accelerated(states_, instructions)) return &StateMapTable::compose_portably;
  if (width_ == 16) return &StateMapTable::compose_by_16;
  return width_ == 64 ? &StateMapTable::compose_by_64 : &StateMapTable::compose_by_128;
}

__attribute__((target("ssse3"))) void StateMapTable::compose_by_16(const Parts& parts, std::size_t count,
                                                                   Maps& maps) const {
  __m128i current[kParts];
  for (std::size_t part = 0; part < kParts; ++part)
    current[part] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(maps[part].data()));
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t part = 0; part < kParts; ++part) {
      const std::uint8_t* const step = maps_.data() + parts[part][i] * std::size_t{16};
      current[part] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(step)), current[part]);
    }
  for (std::size_t part = 0; part < kParts; ++part)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(maps[part].data()), current[part]);
}

__attribute__((target("avx512f,avx512vbmi"))) void StateMapTable::compose_by_64(const Parts& parts, std::size_t count,
                                                                                Maps& maps) const {
  // The unmasked intrinsic makes GCC 12 warn of its own header's undefined operand.
  constexpr __mmask64 kAllLanes = ~__mmask64{0};
  __m512i current[kParts];
  for (std::size_t part = 0; part < kParts; ++part) current[part] = _mm512_loadu_si512(maps[part].data());
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t part = 0; part < kParts; ++part) {
      const std::uint8_t* const step = maps_.data() + parts[part][i] * std::size_t{64};
      current[part] = _mm512_maskz_permutexvar_epi8(kAllLanes, current[part], _mm512_loadu_si512(step));
    }
  for (std::size_t part = 0; part < kParts; ++part) _mm512_storeu_si512(maps[part].data(), current[part]);
}

/// A map of 128 states is two vectors, and one instruction looks 64 entries up in both.
__attribute__((target("avx512f,avx512vbmi"))) void StateMapTable::compose_by_128(const Parts& parts, std::size_t count,
                                                                                 Maps& maps) const {
  __m512i low[kParts], high[kParts];
  for (std::size_t part = 0; part < kParts; ++part) {
    low[part] = _mm512_loadu_si512(maps[part].data());
    high[part] = _mm512_loadu_si512(maps[part].data() + 64);
  }
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t part = 0; part < kParts; ++part) {
      const std::uint8_t* const step = maps_.data() + parts[part][i] * std::size_t{128};
      const __m512i step_low = _mm512_loadu_si512(step), step_high = _mm512_loadu_si512(step + 64);
      low[part] = _mm512_permutex2var_epi8(step_low, low[part], step_high);
      high[part] = _mm512_permutex2var_epi8(step_low, high[part], step_high);
    }
  for (std::size_t part = 0; part < kParts; ++part) {
    _mm512_storeu_si512(maps[part].data(), low[part]);
    _mm512_storeu_si512(maps[part].data() + 64, high[part]);
  }
}

#else

StateMapTable::Kernel StateMapTable::kernel_for(Instructions) const { return &StateMapTable::compose_portably; }

#endif

namespace {

/// The largest multiplier of x86-64 addresses is eight.
constexpr std::uint32_t kFreeScale = 3;
/// Tables of two-byte entries that leave room for the words in a first-level cache of 32 kB.
constexpr std::uint64_t kSmallTable = std::uint64_t{1} << 14;

/// One byte where states fit, or two where the table stays small and an entry can hold its row's address.
std::uint32_t entry_size_for(State states, std::uint64_t width) {
  if (states > 65'536) return 4;
  return states > 256 || states * width * 2 <= kSmallTable ? 2 : 1;
}

std::uint64_t padded_width(Letter letters, std::uint32_t stride) {
  const std::uint64_t width = StrideTable::entries(1, letters, stride);
  return width > (std::uint64_t{1} << 40) ? UINT64_MAX : std::bit_ceil(std::max<std::uint64_t>(width, 1));
}

/// The loops for entries of one type. `kScale` is the scale when it is known to the compiler, otherwise −1.
template <class Entry, int kScale>
struct Loop {
  const std::byte* table;
  std::uint32_t scale;

  template <class Symbol>
  Entry next(Entry entry, Symbol symbol) const {
    const std::byte* const column = table + std::size_t{symbol} * sizeof(Entry);
    Entry target;
    std::memcpy(&target, column + (std::size_t{entry} << (kScale >= 0 ? static_cast<std::uint32_t>(kScale) : scale)),
                sizeof target);
    return target;
  }
};

}  // namespace

std::uint64_t StrideTable::entries(State states, Letter letters, std::uint32_t stride) {
  std::uint64_t result = states;
  for (std::uint32_t i = 0; i < stride; ++i) {
    if (letters != 0 && result > UINT64_MAX / letters) return UINT64_MAX;
    result *= letters;
  }
  return result;
}

std::uint64_t StrideTable::bytes(State states, Letter letters, std::uint32_t stride) {
  const std::uint64_t width = padded_width(letters, stride);
  if (width > UINT64_MAX / 4 / states) return UINT64_MAX;
  return states * width * entry_size_for(states, width);
}

StrideTable::StrideTable(const Dfa& dfa, std::uint32_t stride) : stride_(stride), entry_size_(0) {
  assert(stride >= 1 && bytes(dfa.states(), dfa.letters(), stride) < std::uint64_t{1} << 34);
  std::vector<State> targets;
  for (State state = 0; state < dfa.states(); ++state) targets.push_back(state);
  // Words of one letter more: the last digit is the new letter.
  for (std::uint32_t length = 1; length <= stride; ++length) {
    std::vector<State> longer;
    longer.reserve(targets.size() * dfa.letters());
    for (const State before : targets)
      for (const State after : dfa.row(before)) longer.push_back(after);
    targets = std::move(longer);
  }
  const std::size_t width = padded_width(dfa.letters(), stride);
  entry_size_ = entry_size_for(dfa.states(), width);
  const auto row_bits = static_cast<std::uint32_t>(std::countr_zero(width * entry_size_));
  const std::uint32_t state_bits = static_cast<std::uint32_t>(std::bit_width(dfa.states() - 1));
  room_ = std::min(row_bits - std::min(row_bits, kFreeScale), 8 * entry_size_ - state_bits);
  scale_ = row_bits - room_;
  table_.resize(dfa.states() * width * entry_size_);
  if (entry_size_ == 1) fill<std::uint8_t>(targets, width);
  if (entry_size_ == 2) fill<std::uint16_t>(targets, width);
  if (entry_size_ == 4) fill<std::uint32_t>(targets, width);
}

template <class Entry>
void StrideTable::fill(const std::vector<State>& targets, std::size_t width) {
  const std::size_t states = table_.size() / (width * sizeof(Entry)), used = targets.size() / states;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto entry = static_cast<Entry>(targets[i] << room_);
    std::memcpy(table_.data() + (i / used * width + i % used) * sizeof(Entry), &entry, sizeof entry);
  }
}

template <class Body>
void StrideTable::with_loop(Body&& body) const {
  const auto with_entry = [&](auto entry) {
    using Entry = decltype(entry);
    if (scale_ == kFreeScale)
      body(Loop<Entry, static_cast<int>(kFreeScale)>{table_.data(), scale_}, entry);
    else
      body(Loop<Entry, -1>{table_.data(), scale_}, entry);
  };
  if (entry_size_ == 1) return with_entry(std::uint8_t{});
  if (entry_size_ == 2) return with_entry(std::uint16_t{});
  with_entry(std::uint32_t{});
}

template <class Symbol>
State StrideTable::run_one(std::span<const Symbol> symbols, State state) const {
  with_loop([&](auto loop, auto entry) {
    entry = static_cast<decltype(entry)>(state << room_);
    for (const Symbol symbol : symbols) entry = loop.next(entry, symbol);
    state = State{entry} >> room_;
  });
  return state;
}

template <class Symbol>
void StrideTable::run_streams(const std::array<const Symbol*, kStreams>& streams, std::size_t count,
                              Streams& states) const {
  with_loop([&](auto loop, auto entry) {
    using Entry = decltype(entry);
    std::array<Entry, kStreams> current;  // a copy that no store can alias, so that it stays in registers
    for (std::size_t stream = 0; stream < kStreams; ++stream)
      current[stream] = static_cast<Entry>(states[stream] << room_);
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t stream = 0; stream < kStreams; ++stream)
        current[stream] = loop.next(current[stream], streams[stream][i]);
    for (std::size_t stream = 0; stream < kStreams; ++stream) states[stream] = State{current[stream]} >> room_;
  });
}

State StrideTable::run(std::span<const std::uint8_t> symbols, State state) const { return run_one(symbols, state); }
State StrideTable::run(std::span<const Letter> symbols, State state) const { return run_one(symbols, state); }

void StrideTable::run(const std::array<const std::uint8_t*, kStreams>& streams, std::size_t count,
                      Streams& states) const {
  run_streams(streams, count, states);
}
void StrideTable::run(const std::array<const Letter*, kStreams>& streams, std::size_t count, Streams& states) const {
  run_streams(streams, count, states);
}

std::optional<MonoidGraph> monoid_graph(const Dfa& dfa, std::uint64_t max_elements) {
  constexpr std::uint64_t kLargestDegree = 65'536;
  if (max_elements < 2 || dfa.states() > kLargestDegree) return std::nullopt;
  std::vector<Transformation> generators;
  for (Letter letter = 0; letter < dfa.letters(); ++letter) generators.push_back(dfa.letter_map(letter));
  TransformationMonoid::Options options;
  options.max_elements = max_elements;
  TransformationMonoid monoid = TransformationMonoid::enumerate(generators, dfa.states(), options);
  if (!monoid.complete()) return std::nullopt;
  std::vector<State> table;
  for (State element = 0; element < monoid.size(); ++element)
    for (Letter letter = 0; letter < dfa.letters(); ++letter) table.push_back(monoid.right(element, letter));
  Dfa graph = Dfa::acceptor(dfa.alphabet(), std::move(table), 0, std::vector<bool>(monoid.size(), true));
  return MonoidGraph{std::move(monoid), std::move(graph)};
}

}  // namespace krohn
