// Runs a LaneProgram on the vectors of one instruction set. Compiled once for each (krohn_kernel_for in
// CMakeLists.txt); all but one name is in an unnamed namespace, for no two of these objects may share a function.

#include <cstddef>
#include <cstdint>

#include "krohn/simulate/evaluate/lanes/lane_kernel_table.h"
#include "krohn/simulate/evaluate/lanes/lane_program.h"
#include "krohn/simulate/evaluate/lanes/lane_stages.h"
#include "krohn/simulate/evaluate/lanes/lanes.h"

namespace krohn {
namespace {

/// One program on one block of lanes.
template <class L, class Rounding>
class LaneKernel : LaneStages<L, Rounding> {
  using Base = LaneStages<L, Rounding>;

 public:
  using Number = typename L::Number;
  using Integer = LaneIndex<Number>;
  using Vector = typename L::Vector;
  using Index = typename L::Index;
  using Mask = typename L::Mask;

  using Base::Base;

  void run() {
    // Rows far apart are on pages of their own, where the processor does not read ahead by itself. At distances that
    // are powers of two they meet in the same few places of the first-level cache, which has eight of each.
    constexpr std::size_t kStepsAhead = 6, kLine = 64 / sizeof(std::uint32_t);
    const bool is_scattered = run_.context_stride > kLanes;
    for (std::size_t step = 0; step < run_.steps; ++step) {
      const std::uint32_t* contexts = run_.contexts + step * run_.context_stride;
      if (is_scattered && step + kStepsAhead < run_.steps)
        for (std::size_t lane = 0; lane < kLanes; lane += kLine)
          __builtin_prefetch(contexts + kStepsAhead * run_.context_stride + lane);
      this->find_actions(contexts);
      for (std::uint32_t s = 0; s < p_.stage_count; ++s) this->run_stage(p_.stages[s]);
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
  using Base::action_;
  using Base::kVectors;
  using Base::look_up;
  using Base::look_up_indices;
  using Base::p_;
  using Base::run_;

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
    if (p_.codeword_of_slot != nullptr)
      look_up_indices(p_.codeword_of_slot, slot, p_.slots, [&](std::size_t u, Index a) { codeword_[u] = a; });
    else
      for (std::size_t u = 0; u < kVectors; ++u) {
        codeword_[u] = L::shift_right(pattern[u], static_cast<std::uint32_t>(size));
        pattern[u] = L::and_index(pattern[u], L::set_index((Integer{1} << size) - 1));
      }
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
    if (run_.nodes != nullptr && p_.readout == nullptr) {
      std::uint32_t* const nodes = run_.nodes + step * kLanes;
      const Index unknown = L::set_index(static_cast<Integer>(p_.labels));
      for (std::size_t u = 0; u < kVectors; ++u)
        L::narrow(nodes + u * L::width, L::select_index(L::equal(label[u], unknown), L::set_index(-1), label[u]));
    } else if (run_.nodes != nullptr) {
      std::uint32_t* const nodes = run_.nodes + step * kLanes;
      for (std::size_t u = 0; u < kVectors; ++u)
        at[u] = L::add_index(L::multiply_index(L::widen(nodes + u * L::width), p_.labels + 1), label[u]);
      look_up_indices(p_.readout, at, p_.readout_count,
                      [&](std::size_t u, Index a) { L::narrow(nodes + u * L::width, a); });
    }
    for (std::size_t u = 0; u < kVectors; ++u) L::narrow(run_.labels + u * L::width, label[u]);
  }

  Index codeword_[kVectors];
};

template <class L, class Rounding>
void run_lane_program(const LaneProgram<typename L::Number>& program, const LaneRun<typename L::Number>& run) {
  LaneKernel<L, Rounding>(program, run).run();
}

template <class L>
void compare_lanes(const LaneComparison& comparison) {
  LaneKernel<L, RoundNothing<L>>::compare(comparison);
}

/// The letters of kLanes words at once: splitmix_finaliser and next_letter of simulate/words/random_letters.h, written
/// so that the compiler makes vectors of the loops over lanes.
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

LaneKernels portable_lane_kernels() {
  using Doubles = LaneVectors<double>;
  using Floats = LaneVectors<float>;
  return {&run_lane_program<Doubles, RoundNothing<Doubles>>,
          &run_lane_program<Floats, RoundNothing<Floats>>,
          &run_lane_program<Floats, RoundEach<Floats, ToFp16<Floats>>>,
          &run_lane_program<Floats, RoundEach<Floats, ToBf16<Floats>>>,
          &fill_random_lanes,
          &compare_lanes<Floats>};
}

}  // namespace krohn
