// The loops of training on small integers, where nothing rounds: every instruction set in float, the portable loops in
// double, and the formulas written out.

#include "simulate/training_kernels.h"

#include <doctest/doctest.h>

#include "groups/random.h"
#include "simulate/lane_kernels.h"

using namespace krohn;

namespace {

template <class Real>
std::vector<Real> integers(std::size_t count, int spread, std::uint64_t seed) {
  Random random(seed);
  std::vector<Real> numbers(count);
  for (Real& number : numbers)
    number = static_cast<Real>(static_cast<int>(random.below(2 * static_cast<unsigned>(spread) + 1)) - spread);
  return numbers;
}

template <class Real>
using Lists = std::vector<std::vector<Real>>;

bool same(const Lists<float>& left, const Lists<double>& right) {
  for (std::size_t i = 0; i < left.size(); ++i)
    if (!std::equal(left[i].begin(), left[i].end(), right[i].begin(), right[i].end(),
                    [](float a, double b) { return double{a} == b; }))
      return false;
  return true;
}

const std::vector<std::uint32_t> kSource = {2, 0, 1, 1, 2};  // of the tokens, among three rows

/// Keys e_i − e_j, so that I − k kᵀ is a swap and nothing grows.
template <class Real>
std::vector<Real> swaps(std::size_t count, std::size_t keys) {
  std::vector<Real> k(count * keys, 0);
  for (std::size_t i = 0; i < count; ++i) {
    k[i * keys + i % keys] = 1;
    k[i * keys + (i + 1) % keys] = -1;
  }
  return k;
}

template <class Real>
Lists<Real> reflected(const TrainingKernels<Real>& kernels, std::size_t values, std::size_t reflections) {
  const std::size_t keys = 3, tokens = kSource.size();
  const auto q = integers<Real>(3 * keys, 2, 1), v = integers<Real>(3 * reflections * values, 2, 2),
             beta = std::vector<Real>(3 * reflections, 1), k = swaps<Real>(3 * reflections, keys);
  std::vector<Real> state = integers<Real>(keys * values, 1, 3), o(tokens * values),
                    lacks(tokens * reflections * values);
  const Reflections<Real> run{tokens,
                              reflections,
                              keys,
                              values,
                              kSource.data(),
                              q.data(),
                              k.data(),
                              v.data(),
                              beta.data(),
                              keys,
                              reflections * keys,
                              reflections * values,
                              reflections,
                              state.data(),
                              o.data(),
                              lacks.data(),
                              values,
                              reflections * values};
  kernels.reflect(run);
  const std::vector<Real> after = state, by_o = integers<Real>(o.size(), 2, 4);
  std::vector<Real> by_q(q.size(), 1), by_k(k.size(), 1), by_v(v.size(), 1), by_beta(beta.size(), 1),
      by_state(state.size(), 0);
  kernels.reflect_adjoint(run, {by_o.data(), by_q.data(), by_k.data(), by_v.data(), by_beta.data(), by_state.data()});
  return {o, after, lacks, by_q, by_k, by_v, by_beta, by_state, state};
}

template <class Real>
Lists<Real> scanned(const TrainingKernels<Real>& kernels, std::size_t channels) {
  const std::size_t states = 2, tokens = kSource.size();
  const auto a = integers<Real>(3 * states * channels, 1, 1), k = integers<Real>(3 * states, 2, 2),
             u = integers<Real>(3 * channels, 2, 3), q = integers<Real>(3 * states, 2, 4);
  std::vector<Real> state = integers<Real>(states * channels, 2, 5), history(tokens * states * channels),
                    y(tokens * channels);
  const Diagonal<Real> run{tokens,       states,         channels,          kSource.data(), a.data(), k.data(),
                           u.data(),     q.data(),       states * channels, states,         channels, states,
                           state.data(), history.data(), y.data(),          channels};
  kernels.scan_diagonal(run);
  const std::vector<Real> by_y = integers<Real>(y.size(), 2, 6);
  std::vector<Real> by_a(a.size(), 1), by_k(k.size(), 1), by_u(u.size(), 1), by_q(q.size(), 1),
      by_state(state.size(), 0);
  kernels.scan_diagonal_adjoint(run,
                                {by_y.data(), by_a.data(), by_k.data(), by_u.data(), by_q.data(), by_state.data()});
  return {y, state, by_a, by_k, by_u, by_q, by_state};
}

template <class Real>
Lists<Real> blocked(const TrainingKernels<Real>& kernels, std::size_t size) {
  const std::size_t blocks = 2, hidden = blocks * size, tokens = kSource.size();
  const auto a = swaps<Real>(3 * hidden, size), u = integers<Real>(3 * hidden, 2, 2),
             start = integers<Real>(hidden, 2, 3);
  std::vector<Real> x(tokens * hidden);
  const Blocks<Real> run{tokens, blocks, size, kSource.data(), a.data(), u.data(), start.data(), x.data()};
  kernels.scan_blocks(run);
  std::vector<Real> by_x = integers<Real>(x.size(), 2, 4), by_a(a.size(), 1), by_u(u.size(), 1), by_start(hidden, 1);
  kernels.scan_blocks_adjoint(run, {by_x.data(), by_a.data(), by_u.data(), by_start.data()});
  return {x, by_x, by_a, by_u, by_start};
}

}  // namespace

TEST_CASE("products of every extent and order, on every instruction set") {
  struct Extent {
    std::size_t rows, columns, depth;
  };
  for (const InstructionSet set : available_instruction_sets()) {
    CAPTURE(to_string(set));
    for (const auto& [rows, columns, depth] : {Extent{1, 1, 1}, Extent{8, 32, 4}, Extent{9, 33, 5}, Extent{13, 5, 300},
                                               Extent{3, 70, 257}, Extent{0, 4, 4}}) {
      CAPTURE(rows);
      for (const bool transposed : {false, true}) {
        const auto a = integers<float>(rows * depth, 3, 1), b = integers<float>(depth * columns, 3, 2);
        std::vector<float> c = integers<float>(rows * columns, 3, 3), expected = c;
        const std::size_t a_row = transposed ? 1 : depth, a_depth = transposed ? rows : 1;
        for (std::size_t i = 0; i < rows; ++i)
          for (std::size_t j = 0; j < columns; ++j)
            for (std::size_t k = 0; k < depth; ++k)
              expected[i * columns + j] += a[i * a_row + k * a_depth] * b[k * columns + j];
        training_kernels(set).add_product(
            {rows, columns, depth, a.data(), a_row, a_depth, b.data(), columns, c.data(), columns});
        CHECK(c == expected);
      }
    }
  }
}

TEST_CASE("recurrences and their adjoints are the same on every instruction set") {
  const TrainingKernels<double>& portable = training_kernels<double>();
  for (const InstructionSet set : available_instruction_sets()) {
    CAPTURE(to_string(set));
    const TrainingKernels<float> kernels = training_kernels(set);
    for (const std::size_t values : {1u, 5u, 8u, 16u, 32u, 64u})
      for (const std::size_t reflections : {1u, 3u}) {
        CAPTURE(values);
        CHECK(same(reflected(kernels, values, reflections), reflected(portable, values, reflections)));
      }
    for (const std::size_t extent : {1u, 3u, 8u, 21u}) {
      CAPTURE(extent);
      CHECK(same(scanned(kernels, extent), scanned(portable, extent)));
      CHECK(same(blocked(kernels, extent), blocked(portable, extent)));
    }
  }
}

TEST_CASE("reflections of a fixed width are those written out") {
  for (const std::size_t values : {8u, 16u}) {
    const Lists<double> fast = reflected(training_kernels<double>(), values, 2);
    const auto q = integers<double>(9, 2, 1), v = integers<double>(6 * values, 2, 2), k = swaps<double>(6, 3);
    const auto first = integers<double>(3 * values, 1, 3);
    std::vector<double> state = first, o;
    for (const std::uint32_t source : kSource) {
      for (std::size_t j = 2 * source; j < 2 * source + 2; ++j)
        for (std::size_t c = 0; c < values; ++c) {
          double read = 0;
          for (std::size_t i = 0; i < 3; ++i) read += k[j * 3 + i] * state[i * values + c];
          for (std::size_t i = 0; i < 3; ++i) state[i * values + c] += k[j * 3 + i] * (v[j * values + c] - read);
        }
      for (std::size_t c = 0; c < values; ++c) {
        o.push_back(0);
        for (std::size_t i = 0; i < 3; ++i) o.back() += q[source * 3 + i] * state[i * values + c];
      }
    }
    CHECK(fast[0] == o);
    CHECK(fast[1] == state);
    CHECK(fast[8] == first);  // the adjoint walked back to the state before the word
  }
}
