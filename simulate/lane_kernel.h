// simulate/lane_kernel.h — runs a LaneProgram on the vectors L of one instruction set. Included by one translation unit
// for each; everything is in a namespace of its own there, for no two of them may share a function.
//
// Every stage goes over the coordinates and, for each, over the vectors that make up kLanes, so that there are always
// several independent chains of operations.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simulate/lane_kernels.h"
#include "simulate/lane_program.h"

namespace krohn {
namespace {

/// How a result is rounded to the format that is evaluated in.
template <class L>
struct RoundNothing {
  static typename L::Vector rounded(typename L::Vector a) { return a; }
  static typename L::Vector add_where(typename L::Mask m, typename L::Vector a, typename L::Vector b) {
    return L::add_where(m, a, b);
  }
  static typename L::Vector subtract_where(typename L::Mask m, typename L::Vector a, typename L::Vector b) {
    return L::subtract_where(m, a, b);
  }
};

template <class L>
struct ToFp16 {
  static typename L::Vector rounded(typename L::Vector a) { return L::round_fp16(a); }
};

template <class L>
struct ToBf16 {
  static typename L::Vector rounded(typename L::Vector a) { return L::round_bf16(a); }
};

template <class L, class Format>
struct RoundEach : Format {
  static typename L::Vector add_where(typename L::Mask m, typename L::Vector a, typename L::Vector b) {
    return L::select(m, Format::rounded(L::add(a, b)), a);
  }
  static typename L::Vector subtract_where(typename L::Mask m, typename L::Vector a, typename L::Vector b) {
    return L::select(m, Format::rounded(L::subtract(a, b)), a);
  }
};

/// One program on one block of lanes.
template <class L, class Rounding>
class LaneKernel {
 public:
  using Number = typename L::Number;
  using Integer = LaneIndex<Number>;
  using Vector = typename L::Vector;
  using Index = typename L::Index;
  using Mask = typename L::Mask;
  using Stage = LaneStage<Number>;
  static constexpr std::size_t kVectors = kLanes / L::width;

  LaneKernel(const LaneProgram<Number>& program, const LaneRun<Number>& run) : p_(program), run_(run) {}

  void run() {
    for (std::size_t step = 0; step < run_.steps; ++step) {
      for (std::size_t u = 0; u < kVectors; ++u) action_[u] = L::widen(run_.actions + step * kLanes + u * L::width);
      if (p_.flags != nullptr) look_up_indices(p_.flags, flags_);
      for (std::uint32_t s = 0; s < p_.stage_count; ++s) run_stage(p_.stages[s]);
      if (run_.labels == LaneLabels::kAll)
        decode(run_.actions + step * kLanes, run_.codewords + step * kLanes);
      else if (run_.labels == LaneLabels::kLast && step + 1 == run_.steps)
        decode(run_.actions + step * kLanes, run_.codewords);
    }
  }

 private:
  /// One table at every lane's entry. Tables that fit into a few registers are permuted, others gathered.
  template <class Store>
  void look_up(const Number* table, const Index* at, std::uint32_t entries, Store store) const {
    if (entries <= L::width && entries <= L::in_registers) {
      for (std::size_t u = 0; u < kVectors; ++u) store(u, L::lookup_1(table, at[u]));
    } else if (entries <= 2 * L::width && entries <= L::in_registers) {
      for (std::size_t u = 0; u < kVectors; ++u) store(u, L::lookup_2(table, at[u]));
    } else if (entries <= 4 * L::width && entries <= L::in_registers) {
      for (std::size_t u = 0; u < kVectors; ++u) store(u, L::lookup_4(table, at[u]));
    } else if (entries <= 8 * L::width && entries <= L::in_registers) {
      for (std::size_t u = 0; u < kVectors; ++u) store(u, L::lookup_8(table, at[u]));
    } else {
      for (std::size_t u = 0; u < kVectors; ++u) store(u, L::gather(table, at[u]));
    }
  }

  void look_up(const Number* table, Vector* out) const {
    look_up(table, action_, p_.actions, [out](std::size_t u, Vector a) { out[u] = a; });
  }

  void look_up_indices(const Integer* table, Index* out) const {
    look_up(reinterpret_cast<const Number*>(table), action_, p_.actions,
            [out](std::size_t u, Vector a) { out[u] = L::bits(a); });
  }

  const Number* number_table(const Stage& stage, std::size_t i) const { return stage.numbers + i * p_.stride; }
  const Integer* index_table(const Stage& stage, std::size_t i) const { return stage.indices + i * p_.stride; }

  /// Lane vector u of number e of the state.
  Number* state(std::size_t e, std::size_t u) const { return run_.state + e * kLanes + u * L::width; }
  Number* scratch(std::size_t e, std::size_t u) const { return run_.scratch + e * kLanes + u * L::width; }
  /// Room after that of a whole state: up to 2 · dimension numbers of each lane.
  Number* room(std::size_t e, std::size_t u) const {
    return run_.scratch + (std::size_t{p_.dimension} * p_.columns + e) * kLanes + u * L::width;
  }

  Mask takes_part(const Stage& stage, std::size_t u) const {
    return L::has_bit(flags_[u], static_cast<Integer>(stage.flag));
  }
  Vector where_part(const Stage& stage, std::size_t u, Vector a, Vector otherwise) const {
    return stage.flag == 0 ? a : L::select(takes_part(stage, u), a, otherwise);
  }

  void run_stage(const Stage& stage) {
    switch (stage.kind) {
      case LaneStageKind::kMoves:
        for (std::uint32_t c = 0; c < p_.columns; ++c) move(stage, std::size_t{c} * p_.dimension, c == 0);
        break;
      case LaneStageKind::kReflection:
        stage.has_supports ? reflect<true>(stage) : reflect<false>(stage);
        break;
      case LaneStageKind::kRotation:
        rotate(stage);
        break;
      case LaneStageKind::kDiagonal:
        scale(stage);
        break;
      case LaneStageKind::kDense:
        for (std::uint32_t c = 0; c < p_.columns; ++c) multiply(stage, std::size_t{c} * p_.dimension + stage.first);
        break;
      default:
        for (std::size_t e = 0; e < std::size_t{p_.dimension} * p_.columns; ++e) put(stage, e);
    }
  }

  /// The targets of all sources lie in the room, looked up once for all columns.
  void move(const Stage& stage, std::size_t column, bool look) {
    const std::size_t n = p_.dimension;
    if (look)
      for (std::size_t j = 0; j < n; ++j)
        look_up(reinterpret_cast<const Number*>(index_table(stage, j)), action_, p_.actions,
                [&](std::size_t u, Vector a) { L::store(room(j, u), a); });
    if (look && stage.has_signs)
      for (std::size_t j = 0; j < n; ++j)
        look_up(number_table(stage, (stage.has_sums ? n : 0) + j), action_, p_.actions,
                [&](std::size_t u, Vector a) { L::store(room(n + j, u), a); });
    const std::uint32_t* sources = stage.positions;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t count = *sources++;
      if (stage.has_sums)
        add_sources(stage, column, i, sources, count);
      else
        take_source(stage, column, i, sources, count);
      sources += count;
    }
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t u = 0; u < kVectors; ++u)
        L::store(state(column + i, u),
                 where_part(stage, u, L::load(scratch(column + i, u)), L::load(state(column + i, u))));
  }

  Mask goes_to(std::size_t source, std::size_t target, std::size_t u) const {
    return L::equal(L::bits(L::load(room(source, u))), L::set_index(static_cast<Integer>(target)));
  }

  /// What comes from x_j: ± x_j, without a rounding.
  Vector source(const Stage& stage, std::size_t column, std::size_t j, std::size_t u) const {
    const Vector x = L::load(state(column + j, u));
    return stage.has_signs ? L::multiply(L::load(room(p_.dimension + j, u)), x) : x;
  }

  void take_source(const Stage& stage, std::size_t column, std::size_t i, const std::uint32_t* sources,
                   std::uint32_t count) const {
    Vector y[kVectors];
    for (std::size_t u = 0; u < kVectors; ++u) y[u] = L::set(0);
    for (std::uint32_t s = 0; s < count; ++s)
      for (std::size_t u = 0; u < kVectors; ++u)
        y[u] = L::select(goes_to(sources[s], i, u), source(stage, column, sources[s], u), y[u]);
    for (std::size_t u = 0; u < kVectors; ++u) L::store(scratch(column + i, u), y[u]);
  }

  /// A sum that starts from −0 is the first source itself, for −0 + x = x for every x.
  void add_sources(const Stage& stage, std::size_t column, std::size_t i, const std::uint32_t* sources,
                   std::uint32_t count) const {
    Vector y[kVectors];
    look_up(number_table(stage, i), y);
    for (std::uint32_t s = 0; s < count; ++s)
      for (std::size_t u = 0; u < kVectors; ++u)
        y[u] = Rounding::add_where(goes_to(sources[s], i, u), y[u], source(stage, column, sources[s], u));
    for (std::size_t u = 0; u < kVectors; ++u) L::store(scratch(column + i, u), y[u]);
  }

  /// The keys lie in the room; supports are the bits of a position being in the key of a lane.
  template <bool kSupports>
  void reflect(const Stage& stage) {
    const std::uint32_t count = stage.position_count;
    for (std::uint32_t e = 0; e < count; ++e)
      look_up(number_table(stage, e), action_, p_.actions, [&](std::size_t u, Vector a) { L::store(room(e, u), a); });
    Vector beta[kVectors];
    if (stage.has_beta) look_up(number_table(stage, count), beta);
    for (std::uint32_t c = 0; c < p_.columns; ++c) {
      const std::size_t column = std::size_t{c} * p_.dimension;
      Vector dot[kVectors];
      Index support[kVectors];
      for (std::size_t u = 0; u < kVectors; ++u) dot[u] = L::set(Number(-0.0));
      for (std::uint32_t e = 0; e < count; ++e) {
        if (kSupports && e % kLaneBits == 0) look_up_indices(index_table(stage, e / kLaneBits), support);
        for (std::size_t u = 0; u < kVectors; ++u) {
          const Vector product =
              Rounding::rounded(L::multiply(L::load(room(e, u)), L::load(state(column + stage.positions[e], u))));
          if constexpr (kSupports)
            dot[u] = Rounding::add_where(L::has_bit(support[u], Integer{1} << (e % kLaneBits)), dot[u], product);
          else
            dot[u] = Rounding::rounded(L::add(dot[u], product));
        }
      }
      if (stage.has_beta)
        for (std::size_t u = 0; u < kVectors; ++u) dot[u] = Rounding::rounded(L::multiply(beta[u], dot[u]));
      for (std::uint32_t e = 0; e < count; ++e) {
        if (kSupports && count > kLaneBits && e % kLaneBits == 0)
          look_up_indices(index_table(stage, e / kLaneBits), support);
        for (std::size_t u = 0; u < kVectors; ++u) {
          Number* x = state(column + stage.positions[e], u);
          const Vector product = Rounding::rounded(L::multiply(L::load(room(e, u)), dot[u]));
          if constexpr (kSupports)
            L::store(x, Rounding::subtract_where(L::has_bit(support[u], Integer{1} << (e % kLaneBits)), L::load(x),
                                                 product));
          else
            L::store(x, Rounding::rounded(L::subtract(L::load(x), product)));
        }
      }
    }
  }

  void rotate(const Stage& stage) {
    Vector cosine[kVectors], sine[kVectors];
    look_up(number_table(stage, 0), cosine);
    look_up(number_table(stage, 1), sine);
    for (std::uint32_t c = 0; c < p_.columns; ++c) {
      const std::size_t at = std::size_t{c} * p_.dimension + stage.first;
      for (std::size_t u = 0; u < kVectors; ++u) {
        const Vector x0 = L::load(state(at, u)), x1 = L::load(state(at + 1, u));
        const Vector c0 = Rounding::rounded(L::multiply(cosine[u], x0));
        const Vector s1 = Rounding::rounded(L::multiply(L::negate(sine[u]), x1));
        const Vector s0 = Rounding::rounded(L::multiply(sine[u], x0));
        const Vector c1 = Rounding::rounded(L::multiply(cosine[u], x1));
        L::store(state(at, u), where_part(stage, u, Rounding::rounded(L::add(c0, s1)), x0));
        L::store(state(at + 1, u), where_part(stage, u, Rounding::rounded(L::add(s0, c1)), x1));
      }
    }
  }

  void scale(const Stage& stage) {
    for (std::uint32_t i = 0; i < stage.size; ++i) {
      Vector weight[kVectors];
      look_up(number_table(stage, i), weight);
      for (std::uint32_t c = 0; c < p_.columns; ++c)
        for (std::size_t u = 0; u < kVectors; ++u) {
          Number* at = state(std::size_t{c} * p_.dimension + stage.first + i, u);
          const Vector x = L::load(at);
          L::store(at, where_part(stage, u, Rounding::rounded(L::multiply(weight[u], x)), x));
        }
    }
  }

  /// Row by row, each sum from left to right, starting from its first product.
  void multiply(const Stage& stage, std::size_t at) {
    for (std::uint32_t i = 0; i < stage.size; ++i) {
      Vector y[kVectors];
      for (std::size_t u = 0; u < kVectors; ++u) y[u] = L::set(Number(-0.0));
      for (std::uint32_t j = 0; j < stage.size; ++j)
        look_up(number_table(stage, std::size_t{i} * stage.size + j), action_, p_.actions,
                [&](std::size_t u, Vector weight) {
                  const Vector product = Rounding::rounded(L::multiply(weight, L::load(state(at + j, u))));
                  y[u] = Rounding::rounded(L::add(y[u], product));
                });
      for (std::size_t u = 0; u < kVectors; ++u) L::store(scratch(i, u), y[u]);
    }
    for (std::uint32_t i = 0; i < stage.size; ++i)
      for (std::size_t u = 0; u < kVectors; ++u)
        L::store(state(at + i, u), where_part(stage, u, L::load(scratch(i, u)), L::load(state(at + i, u))));
  }

  /// Zero, + b, or both.
  void put(const Stage& stage, std::size_t e) {
    Vector b[kVectors];
    if (stage.kind == LaneStageKind::kZero)
      for (std::size_t u = 0; u < kVectors; ++u) b[u] = L::set(0);
    else
      look_up(number_table(stage, e), b);
    for (std::size_t u = 0; u < kVectors; ++u) {
      const Vector x = L::load(state(e, u));
      if (stage.kind == LaneStageKind::kAdd) b[u] = Rounding::rounded(L::add(x, b[u]));
      L::store(state(e, u), where_part(stage, u, b[u], x));
    }
  }

  void decode(const std::uint16_t* actions, std::uint16_t* codewords) {
    if (p_.decoding == LaneDecoding::kBits)
      decode_bits(actions, codewords);
    else
      decode_guess(actions, codewords);
  }

  /// Each number is taken for the nearer one of 0 and 1; the bits are the codeword if it exists and is near enough.
  void decode_bits(const std::uint16_t* actions, std::uint16_t* codewords) {
    Index bits[kVectors];
    Vector distance[kVectors];
    for (std::size_t u = 0; u < kVectors; ++u) {
      bits[u] = L::set_index(0);
      distance[u] = L::set(0);
    }
    const std::size_t size = std::size_t{p_.dimension} * p_.columns;
    for (std::size_t e = 0; e < size; ++e)
      for (std::size_t u = 0; u < kVectors; ++u) {
        const Vector x = L::load(state(e, u));
        const Mask one = L::less(L::set(Number(0.5)), x);
        const Vector difference = L::subtract_where(one, x, L::set(1));
        bits[u] = L::set_bit_where(one, bits[u], Integer{1} << e);
        distance[u] = L::add(distance[u], L::multiply(difference, difference));
      }
    Index slot[kVectors], pattern[kVectors];
    for (std::size_t u = 0; u < kVectors; ++u)
      slot[u] = L::shift_right(L::multiply_index(bits[u], p_.multiplier), p_.shift);
    look_up(reinterpret_cast<const Number*>(p_.patterns), slot, p_.slots,
            [&](std::size_t u, Vector a) { pattern[u] = L::bits(a); });
    look_up(reinterpret_cast<const Number*>(p_.codeword_of_slot), slot, p_.slots, [&](std::size_t u, Vector codeword) {
      const Mask near = L::less(distance[u], L::set(p_.accepted));
      L::narrow(codewords + u * L::width, L::bits(codeword));
      resolve_others(L::lanes_of(L::both(near, L::equal(pattern[u], bits[u]))), u, actions, codewords);
    });
  }

  void decode_guess(const std::uint16_t* actions, std::uint16_t* codewords) {
    Index guess[kVectors];
    Vector distance[kVectors];
    for (std::size_t u = 0; u < kVectors; ++u) {
      const Index row = L::multiply_index(action_[u], p_.codewords + 1);
      guess[u] = L::gather_index(p_.guesses, L::add_index(row, L::widen(run_.before + u * L::width)));
      distance[u] = L::set(0);
    }
    const std::size_t size = std::size_t{p_.dimension} * p_.columns;
    for (std::size_t e = 0; e < size; ++e)
      look_up(p_.entries + e * p_.codeword_stride, guess, p_.codewords + 1, [&](std::size_t u, Vector entry) {
        const Vector difference = L::subtract(L::load(state(e, u)), entry);
        distance[u] = L::add(distance[u], L::multiply(difference, difference));
      });
    for (std::size_t u = 0; u < kVectors; ++u) {
      L::narrow(codewords + u * L::width, guess[u]);
      resolve_others(L::lanes_of(L::less(distance[u], L::set(p_.accepted))), u, actions, codewords);
      for (std::size_t i = u * L::width; i < (u + 1) * L::width; ++i) run_.before[i] = codewords[i];
    }
  }

  /// Asks for the codewords of the lanes of vector u that are not certain.
  void resolve_others(std::uint32_t certain, std::size_t u, const std::uint16_t* actions,
                      std::uint16_t* codewords) const {
    constexpr std::uint32_t kAll = static_cast<std::uint32_t>((std::uint64_t{1} << L::width) - 1);
    for (std::uint32_t rest = ~certain & kAll; rest != 0; rest &= rest - 1) {
      const std::size_t lane = u * L::width + static_cast<std::size_t>(__builtin_ctz(rest));
      codewords[lane] = run_.resolve(run_.owner, lane, actions[lane]);
    }
  }

  const LaneProgram<Number>& p_;
  const LaneRun<Number>& run_;
  Index action_[kVectors], flags_[kVectors];
};

template <class L, class Rounding>
void run_lane_program(const LaneProgram<typename L::Number>& program, const LaneRun<typename L::Number>& run) {
  LaneKernel<L, Rounding>(program, run).run();
}

/// The letters of kLanes words at once: splitmix_finaliser and next_letter of simulate/random_letters.h, written so
/// that the compiler makes vectors of the loops over lanes.
inline void fill_random_lanes(const std::uint64_t* keys, std::uint64_t first, std::uint64_t blocks,
                              std::uint32_t letters, std::uint32_t per_block, std::uint32_t* out) {
  std::uint64_t fraction[kLanes];
  for (std::uint64_t block = first; block < first + blocks; ++block) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      std::uint64_t x = keys[lane] + 0x9e3779b97f4a7c15ULL * (block + 1);
      x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
      x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
      fraction[lane] = x ^ (x >> 31);
    }
    for (std::uint32_t digit = 0; digit < per_block; ++digit, out += kLanes)
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const std::uint64_t low = (fraction[lane] & 0xffffffffU) * letters, high = (fraction[lane] >> 32) * letters;
        const std::uint64_t middle = high + (low >> 32);
        out[lane] = static_cast<std::uint32_t>(middle >> 32);
        fraction[lane] = (middle << 32) | (low & 0xffffffffU);
      }
  }
}

}  // namespace
}  // namespace krohn
