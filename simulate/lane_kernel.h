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

/// One program on one block of lanes. Stages copy what they need of the tables' description into locals first: a store
/// of a vector may change any memory, so that everything else would be loaded anew after each.
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
      const std::uint32_t* contexts = run_.contexts + step * run_.context_stride;
      find_actions(contexts);
      for (std::uint32_t s = 0; s < p_.stage_count; ++s) run_stage(p_.stages[s]);
      const bool last = step + 1 == run_.steps;
      if (run_.decoded == LaneLabels::kNone || (run_.decoded == LaneLabels::kLast && !last)) continue;
      p_.decoding == LaneDecoding::kBits ? decode_bits() : decode_guess();
      pass_on(contexts, step);
    }
  }

  /// The automaton is a table by state and letter.
  static void compare(const LaneComparison& c) {
    constexpr auto kAll = static_cast<std::uint32_t>((std::uint64_t{1} << L::width) - 1);
    Index state[kVectors], right[kVectors], at[kVectors];
    for (std::size_t u = 0; u < kVectors; ++u) {
      state[u] = L::widen(c.states + u * L::width);
      right[u] = L::widen(c.right + u * L::width);
    }
    for (std::size_t step = 0; step < c.steps; ++step) {
      const std::uint32_t *letters = c.letters + step * c.stride, *answers = c.answers + step * kLanes;
      for (std::size_t u = 0; u < kVectors; ++u)
        at[u] = L::add_index(L::multiply_index(state[u], c.letter_count), L::widen(letters + u * L::width));
      look_up_indices(c.table, at, c.entries, [&](std::size_t u, Index a) { state[u] = a; });
      for (std::size_t u = 0; u < kVectors; ++u) {
        const Mask agree = L::equal(state[u], L::widen(answers + u * L::width));
        right[u] = L::select_index(agree, L::add_index(right[u], L::set_index(1)), right[u]);
        std::uint32_t differing = ~L::lanes_of(agree) & kAll;
        if (differing == 0) continue;
        std::uint32_t states[L::width];
        L::narrow(states, state[u]);
        for (; differing != 0; differing &= differing - 1) {
          const auto lane = static_cast<std::size_t>(__builtin_ctz(differing));
          c.differs(c.owner, step, u * L::width + lane, states[lane], answers[u * L::width + lane]);
        }
      }
    }
    for (std::size_t u = 0; u < kVectors; ++u) {
      L::narrow(c.states + u * L::width, state[u]);
      L::narrow(c.right + u * L::width, right[u]);
    }
  }

 private:
  /// One table at every lane's entry. Tables that fit into a few registers are permuted, others gathered.
  template <class Store>
  static void look_up(const Number* table, const Index* at, std::uint32_t entries, Store store) {
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

  /// A table of integers: permutations and gathers move bits.
  template <class Store>
  static void look_up_indices(const Integer* table, const Index* at, std::uint32_t entries, Store store) {
    look_up(reinterpret_cast<const Number*>(table), at, entries,
            [&](std::size_t u, Vector a) { store(u, L::bits(a)); });
  }

  /// What a stage works with, in locals: tables by action, and the numbers of each lane.
  struct Frame {
    explicit Frame(const LaneKernel& kernel)
        : actions(kernel.p_.actions),
          columns(kernel.p_.columns),
          stride(kernel.p_.stride),
          dimension(kernel.p_.dimension),
          state(kernel.run_.state),
          scratch(kernel.run_.scratch),
          room(scratch + dimension * columns * kLanes) {
      for (std::size_t u = 0; u < kVectors; ++u) action[u] = kernel.action_[u];
    }

    void look_up(const Number* table, Vector* out) const {
      LaneKernel::look_up(table, action, actions, [out](std::size_t u, Vector a) { out[u] = a; });
    }
    /// Into `to`, a row of kLanes.
    void look_up(const Number* table, Number* to) const {
      LaneKernel::look_up(table, action, actions, [to](std::size_t u, Vector a) { L::store(to + u * L::width, a); });
    }

    Index action[kVectors];
    std::uint32_t actions, columns;
    std::size_t stride, dimension;
    Number *state, *scratch;
    Number* room;  ///< after the numbers of a whole state: 2 · dimension rows
  };

  void find_actions(const std::uint32_t* contexts) {
    Index context[kVectors];
    for (std::size_t u = 0; u < kVectors; ++u) context[u] = L::widen(contexts + u * L::width);
    if (p_.action_of != nullptr)
      look_up_indices(p_.action_of, context, p_.contexts + 1, [&](std::size_t u, Index a) { action_[u] = a; });
    else
      for (std::size_t u = 0; u < kVectors; ++u) action_[u] = context[u];
    if (p_.flags != nullptr)
      look_up_indices(p_.flags, action_, p_.actions, [&](std::size_t u, Index a) { flags_[u] = a; });
  }

  /// Stores a, but in lanes that take no part in the stage.
  void store_part(std::uint32_t flag, std::size_t u, Number* to, Vector a) const {
    if (flag != 0) a = L::select(L::has_bit(flags_[u], static_cast<Integer>(flag)), a, L::load(to));
    L::store(to, a);
  }

  void run_stage(const Stage& stage) {
    switch (stage.kind) {
      case LaneStageKind::kMoves:
        move(stage);
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
        multiply(stage);
        break;
      default:
        put(stage);
    }
  }

  /// The targets of all sources, then their signs, lie in the room, looked up once for all columns.
  void move(const Stage& stage) const {
    const Frame f(*this);
    const std::size_t n = f.dimension;
    const bool has_sums = stage.has_sums, has_signs = stage.has_signs;
    const Number *starts = stage.numbers, *signs = stage.numbers + (has_sums ? n * f.stride : 0);
    for (std::size_t j = 0; j < n; ++j) {
      f.look_up(reinterpret_cast<const Number*>(stage.indices) + j * f.stride, f.room + j * kLanes);
      if (has_signs) f.look_up(signs + j * f.stride, f.room + (n + j) * kLanes);
    }
    for (std::size_t c = 0; c < f.columns; ++c) {
      Number* const x = f.state + c * n * kLanes;
      const std::uint32_t* sources = stage.positions;
      for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t count = *sources++;
        Vector y[kVectors];
        // A sum that starts from −0 is the first source itself, for −0 + x = x for every x.
        if (has_sums)
          f.look_up(starts + i * f.stride, y);
        else
          for (std::size_t u = 0; u < kVectors; ++u) y[u] = L::set(0);
        for (const std::uint32_t* const end = sources + count; sources != end; ++sources) {
          const Number *from = x + *sources * kLanes, *target = f.room + *sources * kLanes, *sign = target + n * kLanes;
          const Index here = L::set_index(static_cast<Integer>(i));
          for (std::size_t u = 0; u < kVectors; ++u) {
            const Mask goes = L::equal(L::bits(L::load(target + u * L::width)), here);
            Vector a = L::load(from + u * L::width);
            if (has_signs) a = L::multiply(L::load(sign + u * L::width), a);
            y[u] = has_sums ? Rounding::add_where(goes, y[u], a) : L::select(goes, a, y[u]);
          }
        }
        for (std::size_t u = 0; u < kVectors; ++u) L::store(f.scratch + i * kLanes + u * L::width, y[u]);
      }
      copy_rows(f.scratch, x, n);
    }
  }

  static void copy_rows(const Number* from, Number* to, std::size_t rows) {
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t u = 0; u < kVectors; ++u)
        L::store(to + i * kLanes + u * L::width, L::load(from + i * kLanes + u * L::width));
  }

  /// The keys lie in the room; a support has the bits of the positions that are in the key of a lane.
  template <bool kSupports>
  void reflect(const Stage& stage) const {
    const Frame f(*this);
    const std::uint32_t count = stage.position_count;
    const std::uint32_t* const positions = stage.positions;
    const Integer* const supports = stage.indices;
    const bool has_beta = stage.has_beta;
    Vector beta[kVectors];
    Index support[kVectors];
    for (std::uint32_t e = 0; e < count; ++e) f.look_up(stage.numbers + e * f.stride, f.room + e * kLanes);
    if (has_beta) f.look_up(stage.numbers + count * f.stride, beta);
    const auto find_support = [&](std::uint32_t e) {
      if (kSupports && e % kLaneBits == 0)
        look_up_indices(supports + e / kLaneBits * f.stride, f.action, f.actions,
                        [&](std::size_t u, Index a) { support[u] = a; });
    };
    for (std::size_t c = 0; c < f.columns; ++c) {
      Number* const column = f.state + c * f.dimension * kLanes;
      Vector dot[kVectors];
      for (std::size_t u = 0; u < kVectors; ++u) dot[u] = L::set(Number(-0.0));
      for (std::uint32_t e = 0; e < count; ++e) {
        find_support(e);
        const Number *key = f.room + e * kLanes, *x = column + positions[e] * kLanes;
        for (std::size_t u = 0; u < kVectors; ++u) {
          const Vector product = Rounding::rounded(L::multiply(L::load(key + u * L::width), L::load(x + u * L::width)));
          if constexpr (kSupports)
            dot[u] = Rounding::add_where(L::has_bit(support[u], Integer{1} << (e % kLaneBits)), dot[u], product);
          else
            dot[u] = Rounding::rounded(L::add(dot[u], product));
        }
      }
      if (has_beta)
        for (std::size_t u = 0; u < kVectors; ++u) dot[u] = Rounding::rounded(L::multiply(beta[u], dot[u]));
      for (std::uint32_t e = 0; e < count; ++e) {
        if (count > kLaneBits) find_support(e);
        const Number* key = f.room + e * kLanes;
        Number* x = column + positions[e] * kLanes;
        for (std::size_t u = 0; u < kVectors; ++u) {
          const Vector product = Rounding::rounded(L::multiply(L::load(key + u * L::width), dot[u]));
          const Vector before = L::load(x + u * L::width);
          if constexpr (kSupports)
            L::store(x + u * L::width,
                     Rounding::subtract_where(L::has_bit(support[u], Integer{1} << (e % kLaneBits)), before, product));
          else
            L::store(x + u * L::width, Rounding::rounded(L::subtract(before, product)));
        }
      }
    }
  }

  void rotate(const Stage& stage) const {
    const Frame f(*this);
    const std::uint32_t flag = stage.flag;
    Vector cosine[kVectors], sine[kVectors];
    f.look_up(stage.numbers, cosine);
    f.look_up(stage.numbers + f.stride, sine);
    for (std::size_t c = 0; c < f.columns; ++c) {
      Number* const x = f.state + (c * f.dimension + stage.first) * kLanes;
      for (std::size_t u = 0; u < kVectors; ++u) {
        Number *const at0 = x + u * L::width, *const at1 = at0 + kLanes;
        const Vector x0 = L::load(at0), x1 = L::load(at1);
        const Vector c0 = Rounding::rounded(L::multiply(cosine[u], x0));
        const Vector s1 = Rounding::rounded(L::multiply(L::negate(sine[u]), x1));
        const Vector s0 = Rounding::rounded(L::multiply(sine[u], x0));
        const Vector c1 = Rounding::rounded(L::multiply(cosine[u], x1));
        store_part(flag, u, at0, Rounding::rounded(L::add(c0, s1)));
        store_part(flag, u, at1, Rounding::rounded(L::add(s0, c1)));
      }
    }
  }

  void scale(const Stage& stage) const {
    const Frame f(*this);
    const std::uint32_t flag = stage.flag, first = stage.first, size = stage.size;
    const Number* const weights = stage.numbers;
    for (std::size_t i = 0; i < size; ++i) {
      Vector weight[kVectors];
      f.look_up(weights + i * f.stride, weight);
      for (std::size_t c = 0; c < f.columns; ++c) {
        Number* const x = f.state + (c * f.dimension + first + i) * kLanes;
        for (std::size_t u = 0; u < kVectors; ++u)
          store_part(flag, u, x + u * L::width, Rounding::rounded(L::multiply(weight[u], L::load(x + u * L::width))));
      }
    }
  }

  /// Row by row, each sum from left to right, starting from its first product.
  void multiply(const Stage& stage) const {
    const Frame f(*this);
    const std::uint32_t flag = stage.flag, first = stage.first, size = stage.size;
    const Number* const weights = stage.numbers;
    for (std::size_t c = 0; c < f.columns; ++c) {
      Number* const x = f.state + (c * f.dimension + first) * kLanes;
      for (std::size_t i = 0; i < size; ++i) {
        Vector y[kVectors];
        for (std::size_t u = 0; u < kVectors; ++u) y[u] = L::set(Number(-0.0));
        for (std::size_t j = 0; j < size; ++j)
          look_up(weights + (i * size + j) * f.stride, f.action, f.actions, [&](std::size_t u, Vector weight) {
            const Vector product = Rounding::rounded(L::multiply(weight, L::load(x + j * kLanes + u * L::width)));
            y[u] = Rounding::rounded(L::add(y[u], product));
          });
        for (std::size_t u = 0; u < kVectors; ++u) L::store(f.scratch + i * kLanes + u * L::width, y[u]);
      }
      for (std::size_t i = 0; i < size; ++i)
        for (std::size_t u = 0; u < kVectors; ++u)
          store_part(flag, u, x + i * kLanes + u * L::width, L::load(f.scratch + i * kLanes + u * L::width));
    }
  }

  /// Zero, + b, or both.
  void put(const Stage& stage) const {
    const Frame f(*this);
    const std::uint32_t flag = stage.flag;
    const LaneStageKind kind = stage.kind;
    const Number* const additions = stage.numbers;
    for (std::size_t e = 0; e < f.dimension * f.columns; ++e) {
      Number* const x = f.state + e * kLanes;
      Vector b[kVectors];
      for (std::size_t u = 0; u < kVectors; ++u) b[u] = L::set(0);
      if (kind != LaneStageKind::kZero) f.look_up(additions + e * f.stride, b);
      for (std::size_t u = 0; u < kVectors; ++u) {
        if (kind == LaneStageKind::kAdd) b[u] = Rounding::rounded(L::add(L::load(x + u * L::width), b[u]));
        store_part(flag, u, x + u * L::width, b[u]);
      }
    }
  }

  /// Each number is taken for the nearer one of 0 and 1; the bits are the codeword if it exists and is near enough.
  void decode_bits() {
    const std::size_t size = std::size_t{p_.dimension} * p_.columns;
    const Number* const state = run_.state;
    Index bits[kVectors], slot[kVectors], pattern[kVectors];
    Vector distance[kVectors];
    for (std::size_t u = 0; u < kVectors; ++u) {
      bits[u] = L::set_index(0);
      distance[u] = L::set(0);
    }
    for (std::size_t e = 0; e < size; ++e)
      for (std::size_t u = 0; u < kVectors; ++u) {
        const Vector x = L::load(state + e * kLanes + u * L::width);
        const Mask one = L::less(L::set(Number(0.5)), x);
        const Vector difference = L::subtract_where(one, x, L::set(1));
        bits[u] = L::set_bit_where(one, bits[u], Integer{1} << e);
        distance[u] = L::add(distance[u], L::multiply(difference, difference));
      }
    for (std::size_t u = 0; u < kVectors; ++u)
      slot[u] = L::shift_right(L::multiply_index(bits[u], p_.multiplier), p_.shift);
    look_up_indices(p_.patterns, slot, p_.slots, [&](std::size_t u, Index a) { pattern[u] = a; });
    look_up_indices(p_.codeword_of_slot, slot, p_.slots, [&](std::size_t u, Index a) { codeword_[u] = a; });
    for (std::size_t u = 0; u < kVectors; ++u) {
      const Mask near = L::less(distance[u], L::set(p_.accepted));
      resolve_others(L::lanes_of(L::both(near, L::equal(pattern[u], bits[u]))), u);
    }
  }

  /// The guess is the codeword that the action should have led to; it is the one if it is near enough.
  void decode_guess() {
    const std::size_t size = std::size_t{p_.dimension} * p_.columns;
    const Number* const state = run_.state;
    Index guess[kVectors];
    Vector distance[kVectors];
    for (std::size_t u = 0; u < kVectors; ++u) {
      const Index row = L::multiply_index(action_[u], p_.codewords + 1);
      guess[u] = L::add_index(row, L::widen(run_.codewords + u * L::width));
      distance[u] = L::set(0);
    }
    look_up_indices(p_.guesses, guess, p_.guess_count, [&](std::size_t u, Index a) { codeword_[u] = a; });
    for (std::size_t e = 0; e < size; ++e)
      look_up(p_.entries + e * p_.codeword_stride, codeword_, p_.codewords + 1, [&](std::size_t u, Vector entry) {
        const Vector difference = L::subtract(L::load(state + e * kLanes + u * L::width), entry);
        distance[u] = L::add(distance[u], L::multiply(difference, difference));
      });
    for (std::size_t u = 0; u < kVectors; ++u) {
      resolve_others(L::lanes_of(L::less(distance[u], L::set(p_.accepted))), u);
      L::narrow(run_.codewords + u * L::width, codeword_[u]);
    }
  }

  /// Asks for the codewords of the lanes of vector u that are not certain.
  void resolve_others(std::uint32_t certain, std::size_t u) {
    constexpr auto kAll = static_cast<std::uint32_t>((std::uint64_t{1} << L::width) - 1);
    if (certain == kAll) return;
    std::uint32_t codewords[L::width], actions[L::width];
    L::narrow(codewords, codeword_[u]);
    L::narrow(actions, action_[u]);
    for (std::uint32_t rest = ~certain & kAll; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::size_t>(__builtin_ctz(rest));
      codewords[lane] = run_.resolve(run_.owner, u * L::width + lane, actions[lane]);
    }
    codeword_[u] = L::widen(codewords);
  }

  /// Codewords become labels; labels, contexts of the layer above and nodes of the readout.
  void pass_on(const std::uint32_t* contexts, std::size_t step) {
    Index context[kVectors], label[kVectors], at[kVectors];
    for (std::size_t u = 0; u < kVectors; ++u) {
      context[u] = L::widen(contexts + u * L::width);
      label[u] = codeword_[u];
    }
    if (p_.label_of != nullptr)
      look_up_indices(p_.label_of, codeword_, p_.codewords + 1, [&](std::size_t u, Index a) { label[u] = a; });
    if (p_.may_hold) {  // a layer that did not move, because its context was unknown, did not decode either
      const Index unknown = L::set_index(static_cast<Integer>(p_.contexts));
      for (std::size_t u = 0; u < kVectors; ++u)
        label[u] =
            L::select_index(L::equal(context[u], unknown), L::set_index(static_cast<Integer>(p_.labels)), label[u]);
    }
    if (run_.above != nullptr) {
      for (std::size_t u = 0; u < kVectors; ++u)
        at[u] = L::add_index(L::multiply_index(context[u], p_.labels + 1), L::widen(run_.labels + u * L::width));
      std::uint32_t* const above = run_.above + step * kLanes;
      look_up_indices(p_.next, at, p_.next_count, [&](std::size_t u, Index a) { L::narrow(above + u * L::width, a); });
    }
    if (run_.nodes != nullptr) {
      std::uint32_t* const nodes = run_.nodes + step * kLanes;
      for (std::size_t u = 0; u < kVectors; ++u)
        at[u] = L::add_index(L::multiply_index(L::widen(nodes + u * L::width), p_.labels + 1), label[u]);
      look_up_indices(p_.readout, at, p_.readout_count,
                      [&](std::size_t u, Index a) { L::narrow(nodes + u * L::width, a); });
    }
    for (std::size_t u = 0; u < kVectors; ++u) L::narrow(run_.labels + u * L::width, label[u]);
  }

  const LaneProgram<Number>& p_;
  const LaneRun<Number>& run_;
  Index action_[kVectors], flags_[kVectors], codeword_[kVectors];
};

template <class L, class Rounding>
void run_lane_program(const LaneProgram<typename L::Number>& program, const LaneRun<typename L::Number>& run) {
  LaneKernel<L, Rounding>(program, run).run();
}

template <class L>
void compare_lanes(const LaneComparison& comparison) {
  LaneKernel<L, RoundNothing<L>>::compare(comparison);
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
