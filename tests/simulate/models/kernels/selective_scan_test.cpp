// Mamba's recurrence: in double by the formula and its derivative written out, every instruction set beside that.

#include <doctest/doctest.h>

#include <cmath>

#include "krohn/simulate/evaluate/lanes/lane_kernel_table.h"
#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "tests/simulate/models/kernels/lists_difference.h"
#include "tests/simulate/models/kernels/small_integers.h"

using namespace krohn;

namespace {

using Lists = std::vector<std::vector<double>>;

struct Extents {
  std::size_t tokens, states, channels;
  bool is_signed;
};

/// In ±1, in steps of 1/64.
template <class Real>
std::vector<Real> drawn(std::size_t count, std::uint64_t seed) {
  std::vector<Real> numbers = integers<Real>(count, 64, seed);
  for (Real& number : numbers) number /= 64;
  return numbers;
}

template <class Real>
struct Given {
  explicit Given(const Extents& e)
      : rates(drawn<Real>(e.states * e.channels, 1)),
        delta(drawn<Real>(e.tokens * e.channels, 2)),
        u(drawn<Real>(delta.size(), 3)),
        b(drawn<Real>(e.tokens * e.states, 4)),
        q(drawn<Real>(b.size(), 5)),
        by_y(drawn<Real>(delta.size(), 6)) {}
  std::vector<Real> rates, delta, u, b, q, by_y;
};

template <class Real>
Lists computed(const TrainingKernels<Real>& kernels, const Extents& e) {
  const Given<Real> given(e);
  std::vector<Real> history(given.delta.size() * e.states), y(given.delta.size(), 7), scratch(given.rates.size(), 7);
  const SelectiveScan<Real> run{e.tokens,           e.states,           e.channels,     e.is_signed,
                                given.rates.data(), given.delta.data(), given.u.data(), given.b.data(),
                                given.q.data(),     history.data(),     y.data()};
  kernels.scan_selectively(run);
  std::vector<Real> by_rates(given.rates.size(), 1), by_delta(y.size(), 7), by_u(by_delta), by_b(given.b.size(), 1),
      by_q(by_b);
  kernels.scan_selectively_adjoint(run, {given.by_y.data(), by_rates.data(), by_delta.data(), by_u.data(), by_b.data(),
                                         by_q.data(), scratch.data()});
  Lists lists;
  for (const auto& list : {history, y, by_rates, by_delta, by_u, by_b, by_q})
    lists.emplace_back(list.begin(), list.end());
  return lists;
}

/// Every path from a token's input to a later output, one by one.
Lists written_out(const Extents& e) {
  const Given<double> g(e);
  const auto power = [&](std::size_t t, std::size_t n, std::size_t c) {
    return std::exp(g.delta[t * e.channels + c] * g.rates[n * e.channels + c]);
  };
  const auto decay = [&](std::size_t t, std::size_t n, std::size_t c) {
    return e.is_signed ? 2 * power(t, n, c) - 1 : power(t, n, c);
  };
  std::vector<double> history(g.delta.size() * e.states, 0), y(g.delta.size(), 0), by_rates(g.rates.size(), 1),
      by_delta(y.size(), 0), by_u(y.size(), 0), by_b(g.b.size(), 1), by_q(g.b.size(), 1);
  for (std::size_t from = 0; from < e.tokens; ++from)
    for (std::size_t n = 0; n < e.states; ++n)
      for (std::size_t c = 0; c < e.channels; ++c) {
        double kept = 1;  // from this token to the later one
        const double u = g.u[from * e.channels + c], b = g.b[from * e.states + n];
        for (std::size_t to = from; to < e.tokens; ++to) {
          if (to > from) kept *= decay(to, n, c);
          const double q = g.q[to * e.states + n], by = g.by_y[to * e.channels + c];
          history[(to * e.states + n) * e.channels + c] += kept * b * u;
          y[to * e.channels + c] += q * kept * b * u;
          by_q[to * e.states + n] += by * kept * b * u;
          by_b[from * e.states + n] += by * q * kept * u;
          by_u[from * e.channels + c] += by * q * kept * b;
          for (std::size_t on = from + 1; on <= to; ++on) {
            double others = 1;
            for (std::size_t i = from + 1; i <= to; ++i)
              if (i != on) others *= decay(i, n, c);
            const double by_log = by * q * others * b * u * (e.is_signed ? 2 : 1) * power(on, n, c);
            by_delta[on * e.channels + c] += by_log * g.rates[n * e.channels + c];
            by_rates[n * e.channels + c] += by_log * g.delta[on * e.channels + c];
          }
        }
      }
  return {history, y, by_rates, by_delta, by_u, by_b, by_q};
}

}  // namespace

TEST_CASE("a selective scan and its adjoint are the recurrence and its derivative, on every instruction set") {
  for (const std::size_t tokens : {1u, 2u, 5u})
    for (const std::size_t states : {1u, 7u, 8u, 9u, 16u})
      for (const std::size_t channels : {1u, 7u, 8u, 9u, 16u, 17u, 33u})
        for (const bool is_signed : {false, true}) {
          CAPTURE(tokens);
          CAPTURE(states);
          CAPTURE(channels);
          CAPTURE(is_signed);
          const Extents extents{tokens, states, channels, is_signed};
          const Lists wanted = written_out(extents);
          CHECK(difference(computed(training_kernels<double>(), extents), wanted) < 1e-12);
          for (const InstructionSet set : available_instruction_sets()) {
            CAPTURE(to_string(set));
            CHECK(difference(computed(training_kernels(set), extents), wanted) < 3e-5);
          }
        }
}
