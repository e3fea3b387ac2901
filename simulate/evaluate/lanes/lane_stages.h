// simulate/evaluate/lanes/lane_stages.h — the stages of a LaneProgram on the vectors L of one instruction set.
//
// Every stage goes over the coordinates and, for each, over the vectors that make up kLanes, so that there are always
// several independent chains of operations.
#pragma once

#include <cstddef>
#include <cstdint>

#include "krohn/simulate/evaluate/lanes/lane_program.h"

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

/// Stages copy what they need of the tables' description into locals first: a store of a vector may change any memory,
/// so that everything else would be loaded anew after each.
template <class L, class Rounding>
class LaneStages {
 public:
  using Number = typename L::Number;
  using Integer = LaneIndex<Number>;
  using Vector = typename L::Vector;
  using Index = typename L::Index;
  using Mask = typename L::Mask;
  using Stage = LaneStage<Number>;
  static constexpr std::size_t kVectors = kLanes / L::width;

  LaneStages(const LaneProgram<Number>& program, const LaneRun<Number>& run) : p_(program), run_(run) {}

  /// One table at every lane's entry. Tables that fit into a few registers are permuted, others gathered.
  template <class Store>
  static void look_up(const Number* table, const Index* at, std::uint32_t entries, Store store) {
    if (entries <= L::width && entries <= L::in_registers) {
      for (std::size_t u = 0; u < kVectors; ++u) store(u, L::template lookup<1>(table, at[u]));
    } else if (entries <= 2 * L::width && entries <= L::in_registers) {
      for (std::size_t u = 0; u < kVectors; ++u) store(u, L::template lookup<2>(table, at[u]));
    } else if (entries <= 4 * L::width && entries <= L::in_registers) {
      for (std::size_t u = 0; u < kVectors; ++u) store(u, L::template lookup<4>(table, at[u]));
    } else if (entries <= 8 * L::width && entries <= L::in_registers) {
      for (std::size_t u = 0; u < kVectors; ++u) store(u, L::template lookup<8>(table, at[u]));
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

  /// A stage's data, in locals: tables by action, and the numbers of each lane.
  struct Frame {
    explicit Frame(const LaneStages& kernel)
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
      LaneStages::look_up(table, action, actions, [out](std::size_t u, Vector a) { out[u] = a; });
    }
    /// Into `to`, a row of kLanes.
    void look_up(const Number* table, Number* to) const {
      LaneStages::look_up(table, action, actions, [to](std::size_t u, Vector a) { L::store(to + u * L::width, a); });
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
        if (!with_few(stage.has_few_pairs ? 0 : p_.dimension, [&](auto n) { move_few<n>(stage); })) move(stage);
        break;
      case LaneStageKind::kReflection:
        if (with_few(stage.position_count, [&](auto count) { reflect_few<count>(stage); })) break;
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

  template <std::size_t n>
  struct Count {
    constexpr operator std::size_t() const { return n; }
  };

  /// Calls the body with 2 … 8 as a constant, so that so many vectors stay in registers; false for other counts, and
  /// where there are not enough registers.
  template <class Body>
  static bool with_few(std::size_t count, Body body) {
    if constexpr (L::in_registers > 0) switch (count) {
        case 2:
          return body(Count<2>{}), true;
        case 3:
          return body(Count<3>{}), true;
        case 4:
          return body(Count<4>{}), true;
        case 5:
          return body(Count<5>{}), true;
        case 6:
          return body(Count<6>{}), true;
        case 7:
          return body(Count<7>{}), true;
        case 8:
          return body(Count<8>{}), true;
        default:
          break;
      }
    return false;
  }

  /// `move` for a few coordinates: all pairs of a source and a target, without looking which ones there are.
  template <std::size_t n>
  void move_few(const Stage& stage) const {
    const Frame f(*this);
    const bool has_sums = stage.has_sums, has_signs = stage.has_signs;
    const Number *starts = stage.numbers, *signs = stage.numbers + (has_sums ? n * f.stride : 0);
    Number* const targets = f.room;
    Number* const begins = f.room + n * kLanes;
    for (std::size_t j = 0; j < n; ++j) {
      f.look_up(reinterpret_cast<const Number*>(stage.indices) + j * f.stride, targets + j * kLanes);
      if (has_sums) f.look_up(starts + j * f.stride, begins + j * kLanes);
    }
    if (has_signs)
      for (std::size_t j = 0; j < n; ++j) {
        Vector sign[kVectors];
        f.look_up(signs + j * f.stride, sign);
        for (std::size_t c = 0; c < f.columns; ++c)
          for (std::size_t u = 0; u < kVectors; ++u) {
            Number* const x = f.state + (c * n + j) * kLanes + u * L::width;
            L::store(x, L::multiply(sign[u], L::load(x)));
          }
      }
    for (std::size_t u = 0; u < kVectors; ++u) {
      Index target[n];
      for (std::size_t j = 0; j < n; ++j) target[j] = L::bits(L::load(targets + j * kLanes + u * L::width));
      for (std::size_t c = 0; c < f.columns; ++c) {
        Number* const column = f.state + c * n * kLanes + u * L::width;
        Vector x[n];
        for (std::size_t j = 0; j < n; ++j) x[j] = L::load(column + j * kLanes);
        for (std::size_t i = 0; i < n; ++i) {
          const Index here = L::set_index(static_cast<Integer>(i));
          Vector y = has_sums ? L::load(begins + i * kLanes + u * L::width) : L::set(0);
          if (has_sums)
            for (std::size_t j = 0; j < n; ++j) y = Rounding::add_where(L::equal(target[j], here), y, x[j]);
          else
            for (std::size_t j = 0; j < n; ++j) y = L::select(L::equal(target[j], here), x[j], y);
          L::store(column + i * kLanes, y);
        }
      }
    }
  }

  /// `reflect` for a few positions: key, support and column in registers.
  template <std::size_t count>
  void reflect_few(const Stage& stage) const {
    const Frame f(*this);
    const bool has_beta = stage.has_beta;
    Index support[kVectors];
    Vector beta[kVectors];
    std::size_t row[count];
    for (std::size_t e = 0; e < count; ++e) {
      f.look_up(stage.numbers + e * f.stride, f.room + e * kLanes);
      row[e] = stage.positions[e] * kLanes;
    }
    look_up_indices(stage.indices, f.action, f.actions, [&](std::size_t u, Index a) { support[u] = a; });
    if (has_beta) f.look_up(stage.numbers + count * f.stride, beta);
    for (std::size_t u = 0; u < kVectors; ++u) {
      Vector key[count];
      Mask in_key[count];
      for (std::size_t e = 0; e < count; ++e) {
        key[e] = L::load(f.room + e * kLanes + u * L::width);
        in_key[e] = L::has_bit(support[u], Integer{1} << e);
      }
      for (std::size_t c = 0; c < f.columns; ++c) {
        Number* const column = f.state + c * f.dimension * kLanes + u * L::width;
        Vector x[count];
        for (std::size_t e = 0; e < count; ++e) x[e] = L::load(column + row[e]);
        Vector dot = L::set(Number(-0.0));
        for (std::size_t e = 0; e < count; ++e)
          dot = Rounding::add_where(in_key[e], dot, Rounding::rounded(L::multiply(key[e], x[e])));
        if (has_beta) dot = Rounding::rounded(L::multiply(beta[u], dot));
        for (std::size_t e = 0; e < count; ++e)
          L::store(column + row[e],
                   Rounding::subtract_where(in_key[e], x[e], Rounding::rounded(L::multiply(key[e], dot))));
      }
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

 protected:
  const LaneProgram<Number>& p_;
  const LaneRun<Number>& run_;
  Index action_[kVectors], flags_[kVectors];
};

}  // namespace
}  // namespace krohn
