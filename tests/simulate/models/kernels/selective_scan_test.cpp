// Mamba's recurrence: in double by the formula and its derivative written out, every instruction set beside that.

#include "krohn/simulate/evaluate/lanes/lane_kernel_table.h"
#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "tests/simulate/models/kernels/lists.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

using Lists = std::vector<std::vector<double>>;

struct Extents {
  std::size_t tokens, states, channels;
  bool is_signed, is_shared;  ///< shared: fewer rows than tokens, in another order

  std::size_t rows() const { return is_shared ? (tokens + 1) / 2 : tokens; }
  std::size_t row(std::size_t token) const { return is_shared ? (2 * token + 1) % rows() : token; }
};

/// In ±1, in steps of 1/64.
template <class Real>
struct Given {
  explicit Given(const Extents& e)
      : rates(drawn<Real>(e.states * e.channels, 1)),
        delta(drawn<Real>(e.rows() * e.channels, 2)),
        u(drawn<Real>(delta.size(), 3)),
        b(drawn<Real>(e.rows() * e.states, 4)),
        q(drawn<Real>(b.size(), 5)),
        by_y(drawn<Real>(e.tokens * e.channels, 6)) {
    for (std::size_t token = 0; token < e.tokens; ++token) source.push_back(static_cast<std::uint32_t>(e.row(token)));
  }
  std::vector<Real> rates, delta, u, b, q, by_y;
  std::vector<std::uint32_t> source;
};

/// Kept states are those before the first token, then those after every token.
template <class Real>
SelectiveScan<Real> scan_of(const Extents& e, const Given<Real>& given, std::vector<Real>& after,
                            std::vector<Real>& y) {
  const std::uint32_t* const source = e.is_shared ? given.source.data() : nullptr;
  return {.tokens = e.tokens,
          .states = e.states,
          .channels = e.channels,
          .is_signed = e.is_signed,
          .source = source,
          .rates = given.rates.data(),
          .delta = given.delta.data(),
          .u = given.u.data(),
          .b = given.b.data(),
          .q = given.q.data(),
          .narrow_row = e.states,
          .start = nullptr,
          .after = after.data(),
          .after_row = e.states * e.channels,
          .y = y.data()};
}

template <class Real>
Lists computed(const TrainingKernels<Real>& kernels, const Extents& e) {
  const Given<Real> given(e);
  std::vector<Real> after(e.tokens * given.rates.size()), y(given.by_y.size(), 7), scratch(given.rates.size(), 7);
  const SelectiveScan<Real> run = scan_of(e, given, after, y);
  kernels.scan_selectively(run);
  std::vector<Real> by_rates(given.rates.size(), 1), by_delta(given.delta.size(), 1), by_u(by_delta),
      by_b(given.b.size(), 1), by_q(by_b);
  kernels.scan_selectively_adjoint(run, {given.by_y.data(), by_rates.data(), by_delta.data(), by_u.data(), by_b.data(),
                                         by_q.data(), scratch.data()});
  Lists lists;
  for (const auto& list : {after, y, by_rates, by_delta, by_u, by_b, by_q})
    lists.emplace_back(list.begin(), list.end());
  return lists;
}

/// Every path from a token's input to a later output, one by one.
Lists written_out(const Extents& e) {
  const Given<double> g(e);
  const auto power = [&](std::size_t t, std::size_t n, std::size_t c) {
    return std::exp(g.delta[e.row(t) * e.channels + c] * g.rates[n * e.channels + c]);
  };
  const auto decay = [&](std::size_t t, std::size_t n, std::size_t c) {
    return e.is_signed ? 2 * power(t, n, c) - 1 : power(t, n, c);
  };
  std::vector<double> history(e.tokens * g.rates.size(), 0), y(g.by_y.size(), 0), by_rates(g.rates.size(), 1),
      by_delta(g.delta.size(), 1), by_u(by_delta), by_b(g.b.size(), 1), by_q(by_b);
  for (std::size_t from = 0; from < e.tokens; ++from)
    for (std::size_t n = 0; n < e.states; ++n)
      for (std::size_t c = 0; c < e.channels; ++c) {
        double kept = 1;  // from this token to the later one
        const double u = g.u[e.row(from) * e.channels + c], b = g.b[e.row(from) * e.states + n];
        for (std::size_t to = from; to < e.tokens; ++to) {
          if (to > from) kept *= decay(to, n, c);
          const double q = g.q[e.row(to) * e.states + n], by = g.by_y[to * e.channels + c];
          history[(to * e.states + n) * e.channels + c] += kept * b * u;
          y[to * e.channels + c] += q * kept * b * u;
          by_q[e.row(to) * e.states + n] += by * kept * b * u;
          by_b[e.row(from) * e.states + n] += by * q * kept * u;
          by_u[e.row(from) * e.channels + c] += by * q * kept * b;
          for (std::size_t on = from + 1; on <= to; ++on) {
            double others = 1;
            for (std::size_t i = from + 1; i <= to; ++i)
              if (i != on) others *= decay(i, n, c);
            const double by_log = by * q * others * b * u * (e.is_signed ? 2 : 1) * power(on, n, c);
            by_delta[e.row(on) * e.channels + c] += by_log * g.rates[n * e.channels + c];
            by_rates[n * e.channels + c] += by_log * g.delta[e.row(on) * e.channels + c];
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
        for (const bool is_signed : {false, true})
          for (const bool is_shared : {false, true}) {
            CAPTURE(tokens);
            CAPTURE(states);
            CAPTURE(channels);
            CAPTURE(is_signed);
            CAPTURE(is_shared);
            const Extents extents{tokens, states, channels, is_signed, is_shared};
            const Lists wanted = written_out(extents);
            CHECK(difference(computed(training_kernels<double>(), extents), wanted) < 1e-12);
            for (const InstructionSet set : available_instruction_sets()) {
              CAPTURE(to_string(set));
              CHECK(difference(computed(training_kernels(set), extents), wanted) < 3e-5);
            }
          }
}

TEST_CASE(
    "a selective scan goes on from the states of another, and keeps the last ones alone where no more are asked") {
  for (const bool is_signed : {false, true})
    for (const std::size_t channels : {7u, 16u, 17u})
      for (std::size_t first = 0; first <= 5; ++first) {
        const Extents extents{5, 9, channels, is_signed, true};
        const Given<float> given(extents);
        std::vector<float> after(5 * given.rates.size()), y(given.by_y.size()), state(given.rates.size(), 0), parts(y);
        for (const InstructionSet set : available_instruction_sets()) {
          training_kernels(set).scan_selectively(scan_of(extents, given, after, y));
          std::ranges::fill(state, 0);
          SelectiveScan<float> part = scan_of(extents, given, state, parts);
          part.after_row = 0;
          part.start = state.data();
          part.tokens = first;
          training_kernels(set).scan_selectively(part);
          part.source += first;
          part.y += first * channels;
          part.tokens = 5 - first;
          training_kernels(set).scan_selectively(part);
          CHECK(parts == y);
          CHECK(std::ranges::equal(state, std::span(after).last(state.size())));
        }
      }
}
