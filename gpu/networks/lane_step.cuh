// gpu/networks/lane_step.cuh — one letter of one word through a LaneProgram (simulate/evaluate/lanes/lane_program.h):
// what a CUDA thread does, and the processor in its place. The operations and their order are those of
// simulate/arithmetic/apply.h; where a lane of the processor's vectors masks what its action has no part in, a thread
// leaves it out.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "krohn/gpu/networks/device_arithmetic.cuh"
#include "krohn/simulate/evaluate/lanes/lane_program.h"

namespace krohn {

/// Entry e is first[e · stride]: threads beside each other have their entries beside each other.
template <class T>
struct Column {
  T* first = nullptr;
  std::uint32_t stride = 1;

  KROHN_HOST_DEVICE T& operator[](std::uint64_t e) const { return first[e * stride]; }
  KROHN_HOST_DEVICE Column operator+(std::uint64_t e) const { return {first + e * stride, stride}; }
};

/// A layer's program, and what decides where it is not certain.
template <class Number>
struct DeviceLayer {
  LaneProgram<Number> program;
  std::uint32_t first_number = 0;             ///< where its numbers begin among those of all layers
  const double* codewords = nullptr;          ///< entry e of codeword i: codewords[i · size + e], exact
  const std::uint32_t* book_begin = nullptr;  ///< by lane action: the codewords that may be decoded after it
  const std::uint32_t* book_end = nullptr;
  // If all codewords are equally long, a state that is longer or shorter is compared with them as if it were as long
  // as they are (`length`). For squared lengths between `shortest` and `longest` the nearest codeword is certain where
  // its squared distance is below `accepted_scaled`, and is among those within `doubt` of the least one everywhere.
  Number length = 0, shortest = 0, longest = 0, accepted_scaled = 0, doubt = 0;

  KROHN_HOST_DEVICE std::uint32_t size() const { return program.dimension * program.columns; }
};

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

KROHN_HOST_DEVICE inline std::uint32_t lowest_bit(std::uint32_t bits) {
  return KROHN_EITHER(static_cast<std::uint32_t>(__ffs(static_cast<int>(bits))) - 1,
                      static_cast<std::uint32_t>(std::countr_zero(bits)));
}

/// D is an arithmetic of gpu/networks/device_arithmetic.cuh. `scratch` has room for `dimension` numbers.
template <class D>
class LaneStep {
 public:
  using Number = typename D::Number;
  using Stage = LaneStage<Number>;

  /// `stages`: those of the layer's program, wherever they lie.
  KROHN_HOST_DEVICE LaneStep(const DeviceLayer<Number>& layer, const Stage* stages, const Column<Number>& state,
                             const Column<Number>& scratch)
      : layer_(layer), p_(layer.program), stages_(stages), state_(state), scratch_(scratch) {}

  KROHN_HOST_DEVICE bool holds(std::uint32_t context) const { return p_.may_hold && context == p_.contexts; }
  KROHN_HOST_DEVICE std::uint32_t action_of(std::uint32_t context) const {
    return p_.action_of == nullptr ? context : static_cast<std::uint32_t>(p_.action_of[context]);
  }

  /// H ← A H + B.
  KROHN_HOST_DEVICE void move(std::uint32_t action) const {
    const auto flags = p_.flags == nullptr ? 0U : static_cast<std::uint32_t>(p_.flags[action]);
    for (std::uint32_t s = 0; s < p_.stage_count; ++s) {
      const Stage& stage = stages_[s];
      // Ones, which leave other numbers as they are.
      if constexpr (D::kShortensFactors)
        if (stage.member_flag != 0 && (flags & stage.member_flag) == 0) continue;
      if (stage.flag == 0 || (flags & stage.flag) != 0) run(stage, action);
    }
    if constexpr (D::kRoundsStored)
      for (std::uint32_t e = 0; e < layer_.size(); ++e) state_[e] = D::store(state_[e]);
  }

  /// The codeword that the state is nearest to, or program.codewords for none. `before` is a hint. Rounding makes a
  /// rotating state longer or shorter, letter after letter, until it is near no codeword; the nearest one is still the
  /// one in its direction. In the 16-bit formats that is soon so, and asked at once.
  KROHN_HOST_DEVICE std::uint32_t decode(std::uint32_t action, std::uint32_t before) const {
    if (p_.decoding == LaneDecoding::kBits) {
      const std::uint32_t quick = decode_bits();
      return quick != p_.codewords ? quick : nearest(action);
    }
    const std::uint32_t guess = static_cast<std::uint32_t>(p_.guesses[action * (p_.codewords + 1) + before]);
    const bool can_scale = layer_.accepted_scaled > 0;
    if (!(D::kIsShort && can_scale) && squared_distance<false>(guess) < p_.accepted) return guess;
    Number squared = 0;
    if (can_scale)
      for (std::uint32_t e = 0; e < layer_.size(); ++e) squared = sum_of(squared, multiply(state_[e], state_[e]));
    if (!(squared > layer_.shortest && squared < layer_.longest)) return nearest(action);
    const Number scale = multiply(layer_.length, inverse_root(squared));
    if (squared_distance<true>(guess, scale) < layer_.accepted_scaled) return guess;
    return nearest_scaled(action, scale);
  }

  KROHN_HOST_DEVICE std::uint32_t label_of(std::uint32_t codeword) const {
    return p_.label_of == nullptr ? codeword : static_cast<std::uint32_t>(p_.label_of[codeword]);
  }
  KROHN_HOST_DEVICE std::uint32_t context_above(std::uint32_t context, std::uint32_t label_before) const {
    return static_cast<std::uint32_t>(p_.next[context * (p_.labels + 1) + label_before]);
  }
  /// The next node of the readout; above the last layer a state, or all bits for none.
  KROHN_HOST_DEVICE std::uint32_t node_after(std::uint32_t node, std::uint32_t label) const {
    if (p_.readout == nullptr) return label == p_.labels ? UINT32_MAX : label;
    return static_cast<std::uint32_t>(p_.readout[node * (p_.labels + 1) + label]);
  }

 private:
  KROHN_HOST_DEVICE Number number(const Stage& stage, std::uint32_t table, std::uint32_t action) const {
    return stage.numbers[std::uint64_t{table} * p_.stride + action];
  }
  KROHN_HOST_DEVICE std::uint32_t index(const Stage& stage, std::uint32_t table, std::uint32_t action) const {
    return static_cast<std::uint32_t>(stage.indices[std::uint64_t{table} * p_.stride + action]);
  }
  KROHN_HOST_DEVICE Column<Number> column(std::uint32_t c) const { return state_ + std::uint64_t{c} * p_.dimension; }
  KROHN_HOST_DEVICE void copy_back(std::uint32_t size, const Column<Number>& x) const {
    for (std::uint32_t i = 0; i < size; ++i) x[i] = scratch_[i];
  }

  KROHN_HOST_DEVICE void run(const Stage& stage, std::uint32_t action) const {
    switch (stage.kind) {
      case LaneStageKind::kMoves:
        return shift(stage, action);
      case LaneStageKind::kReflection:
        return reflect(stage, action);
      case LaneStageKind::kRotation:
        return rotate(stage, action);
      case LaneStageKind::kDiagonal:
        return scale(stage, action);
      case LaneStageKind::kDense:
        return multiply_block(stage, action);
      default:
        return put(stage, action);
    }
  }

  /// y_i is the sum of the ± x_j that go to i, in increasing j.
  KROHN_HOST_DEVICE void shift(const Stage& stage, std::uint32_t action) const {
    const std::uint32_t n = p_.dimension, signs = stage.has_sums ? n : 0;
    for (std::uint32_t c = 0; c < p_.columns; ++c) {
      const Column<Number> x = column(c);
      // A sum that starts from −0 is its first term itself.
      if (stage.has_sums)
        for (std::uint32_t i = 0; i < n; ++i) scratch_[i] = number(stage, i, action);
      for (std::uint32_t j = 0; j < n; ++j) {
        const std::uint32_t target = index(stage, j, action);
        const Number moved = stage.has_signs && number(stage, signs + j, action) < 0 ? -x[j] : x[j];
        scratch_[target] = stage.has_sums ? D::add(scratch_[target], moved) : moved;
      }
      copy_back(n, x);
    }
  }

  /// Calls body(place in the key) for the places that the action's key has, in order.
  template <class Body>
  KROHN_HOST_DEVICE void for_support(const Stage& stage, std::uint32_t action, Body&& body) const {
    for (std::uint32_t first = 0; first < stage.position_count; first += kLaneBits) {
      const std::uint32_t rest = stage.position_count - first;
      std::uint32_t bits = rest >= kLaneBits ? 0x7fffffffU : (1U << rest) - 1;
      if (stage.has_supports) bits = index(stage, first / kLaneBits, action);
      for (; bits != 0; bits &= bits - 1) body(first + lowest_bit(bits));
    }
  }

  KROHN_HOST_DEVICE void reflect(const Stage& stage, std::uint32_t action) const {
    const Number beta = stage.has_beta ? number(stage, stage.position_count, action) : Number(1);
    for (std::uint32_t c = 0; c < p_.columns; ++c) {
      const Column<Number> x = column(c);
      auto dot = Number(-0.0);
      for_support(stage, action,
                  [&](std::uint32_t e) { dot = D::add_product(dot, number(stage, e, action), x[stage.positions[e]]); });
      if (stage.has_beta || D::kShortensFactors) dot = D::product(beta, dot);
      for_support(stage, action, [&](std::uint32_t e) {
        Number& y = x[stage.positions[e]];
        y = D::add_product(y, -number(stage, e, action), dot);
      });
    }
  }

  KROHN_HOST_DEVICE void rotate(const Stage& stage, std::uint32_t action) const {
    const Number cosine = number(stage, 0, action), sine = number(stage, 1, action);
    for (std::uint32_t c = 0; c < p_.columns; ++c) {
      const Column<Number> x = column(c) + stage.first;
      const Number x0 = x[0], x1 = x[1];
      x[0] = D::add_product(D::product(cosine, x0), -sine, x1);
      x[1] = D::add_product(D::product(sine, x0), cosine, x1);
    }
  }

  KROHN_HOST_DEVICE void scale(const Stage& stage, std::uint32_t action) const {
    for (std::uint32_t i = 0; i < stage.size; ++i) {
      const Number weight = number(stage, i, action);
      for (std::uint32_t c = 0; c < p_.columns; ++c) {
        Number& x = column(c)[stage.first + i];
        x = D::kShortensFactors && stage.only_signs ? (weight < 0 ? -x : x) : D::product(weight, x);
      }
    }
  }

  KROHN_HOST_DEVICE void multiply_block(const Stage& stage, std::uint32_t action) const {
    for (std::uint32_t c = 0; c < p_.columns; ++c) {
      const Column<Number> x = column(c) + stage.first;
      for (std::uint32_t i = 0; i < stage.size; ++i) {
        auto sum = Number(-0.0);
        for (std::uint32_t j = 0; j < stage.size; ++j)
          sum = D::add_product(sum, number(stage, i * stage.size + j, action), x[j]);
        scratch_[i] = sum;
      }
      copy_back(stage.size, x);
    }
  }

  /// Zero, + b, or both.
  KROHN_HOST_DEVICE void put(const Stage& stage, std::uint32_t action) const {
    for (std::uint32_t e = 0; e < layer_.size(); ++e) {
      const Number b = stage.kind == LaneStageKind::kZero ? Number(0) : number(stage, e, action);
      state_[e] = stage.kind == LaneStageKind::kAdd ? D::add(state_[e], b) : b;
    }
  }

  /// Each number is taken for the nearer one of 0 and 1. Certain, or program.codewords.
  KROHN_HOST_DEVICE std::uint32_t decode_bits() const {
    std::uint32_t bits = 0;
    auto distance = Number(0);
    for (std::uint32_t e = 0; e < layer_.size(); ++e) {
      const Number x = state_[e];
      const bool one = x > Number(0.5);
      const Number difference = one ? sum_of(x, Number(-1)) : x;
      bits |= one ? 1U << e : 0U;
      distance = sum_of(distance, multiply(difference, difference));
    }
    const std::uint32_t slot = bits * p_.multiplier >> p_.shift;
    auto pattern = static_cast<std::uint32_t>(p_.patterns[slot]);
    std::uint32_t codeword = 0;
    if (p_.codeword_of_slot != nullptr) {
      codeword = static_cast<std::uint32_t>(p_.codeword_of_slot[slot]);
    } else {
      codeword = pattern >> layer_.size();
      pattern &= (1U << layer_.size()) - 1;
    }
    return distance < p_.accepted && pattern == bits ? codeword : p_.codewords;
  }

  template <bool kScaled>
  KROHN_HOST_DEVICE Number squared_distance(std::uint32_t codeword, Number scale = 1) const {
    auto distance = Number(0);
    for (std::uint32_t e = 0; e < layer_.size(); ++e) {
      const Number x = kScaled ? multiply(scale, state_[e]) : state_[e];
      const Number difference = sum_of(x, -p_.entries[std::uint64_t{e} * p_.codeword_stride + codeword]);
      distance = sum_of(distance, multiply(difference, difference));
    }
    return distance;
  }

  /// The nearest codeword of the scaled state where that is certain, otherwise the definition's choice of those that
  /// are about as near.
  KROHN_HOST_DEVICE std::uint32_t nearest_scaled(std::uint32_t action, Number scale) const {
    auto least = Number(kInfinity);
    std::uint32_t nearest_one = p_.codewords;
    for (std::uint32_t i = layer_.book_begin[action]; i < layer_.book_end[action]; ++i) {
      const Number distance = squared_distance<true>(i, scale);
      if (distance < least) {
        least = distance;
        nearest_one = i;
      }
    }
    if (least < layer_.accepted_scaled) return nearest_one;
    const Number most = sum_of(least, layer_.doubt);
    return nearest(action, [&](std::uint32_t i) { return squared_distance<true>(i, scale) <= most; });
  }

  /// The definition (simulate/evaluate/nearest_codeword.h): the strictly least distance in fp64, a tie being none; of
  /// the codewords that may be it.
  template <class May>
  KROHN_HOST_DEVICE std::uint32_t nearest(std::uint32_t action, const May& may_be) const {
    const std::uint32_t size = layer_.size();
    for (std::uint32_t e = 0; e < size; ++e)
      if (!is_finite(static_cast<double>(state_[e]))) return p_.codewords;
    double least = kInfinity;
    std::uint32_t nearest = p_.codewords;
    for (std::uint32_t i = layer_.book_begin[action]; i < layer_.book_end[action]; ++i) {
      if (!may_be(i)) continue;
      double distance = 0;
      for (std::uint32_t e = 0; e < size; ++e) {
        const double difference =
            sum_of(static_cast<double>(state_[e]), -layer_.codewords[std::uint64_t{i} * size + e]);
        distance = sum_of(distance, multiply(difference, difference));
      }
      if (distance < least) {
        least = distance;
        nearest = i;
      } else if (distance == least) {
        nearest = p_.codewords;
      }
    }
    return nearest;
  }
  KROHN_HOST_DEVICE std::uint32_t nearest(std::uint32_t action) const {
    return nearest(action, [](std::uint32_t) { return true; });
  }

  const DeviceLayer<Number>& layer_;
  const LaneProgram<Number>& p_;
  const Stage* stages_;
  Column<Number> state_, scratch_;
};

}  // namespace krohn
