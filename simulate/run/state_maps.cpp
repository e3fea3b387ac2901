#include "krohn/simulate/run/state_maps.h"

#include <cassert>

#include "krohn/simulate/words/packed_word.h"

#if defined(__x86_64__)
#include <immintrin.h>
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

}  // namespace krohn
