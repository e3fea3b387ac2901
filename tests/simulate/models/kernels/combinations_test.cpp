// Rows that combine few others, norms of what coefficients stand for, and gates with a scale: on every instruction set
// beside what they mean, written out in double, and gradients beside finite differences of that.

#include "krohn/groups/base/random.h"
#include "krohn/simulate/evaluate/lanes/lane_kernel_table.h"
#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "tests/simulate/models/kernels/lists.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

template <class Real>
using Lists = std::vector<std::vector<Real>>;

template <class To, class From>
std::vector<To> as(const std::vector<From>& numbers) {
  std::vector<To> result;
  for (const From number : numbers) result.push_back(static_cast<To>(number));
  return result;
}

/// body(kernels, allowed difference) with the kernels of double and of every instruction set.
template <class Body>
void with_all_kernels(const Body& body) {
  body(training_kernels<double>(), 1e-8);
  for (const InstructionSet set : available_instruction_sets()) {
    CAPTURE(to_string(set));
    body(training_kernels(set), 3e-6);
  }
}

}  // namespace

TEST_CASE("combined rows and their gradients are those written out") {
  constexpr std::size_t kRows = 9, kOwn = 3;
  for (const std::size_t terms : {1u, 5u, 6u, 7u, 12u, 13u})
    for (const std::size_t columns : {1u, 5u, 16u, 17u, 32u, 40u, 64u}) {
      CAPTURE(terms);
      CAPTURE(columns);
      std::vector<std::uint32_t> source;
      for (std::uint32_t t = 0; t < kRows; ++t) source.push_back(static_cast<std::uint32_t>(t * t % kOwn));
      const Lists<double> given = {drawn<double>(kRows * terms, 1), drawn<double>(terms * columns, 2),
                                   drawn<double>(kOwn * columns, 3)};
      const std::vector<double> by_to = drawn<double>(kRows * columns, 4);
      const auto written = [&](const Lists<double>& lists) {
        std::vector<double> to(kRows * columns);
        for (std::size_t t = 0; t < kRows; ++t)
          for (std::size_t i = 0; i < columns; ++i) {
            to[t * columns + i] = lists[2][source[t] * columns + i];
            for (std::size_t j = 0; j < terms; ++j)
              to[t * columns + i] += lists[0][t * terms + j] * lists[1][j * columns + i];
          }
        return to;
      };
      const Lists<double> expected = slopes(given, by_to, written);
      with_all_kernels([&]<class Real>(const TrainingKernels<Real>& kernels, double allowed) {
        const auto by = as<Real>(given[0]), table = as<Real>(given[1]), own = as<Real>(given[2]);
        const Combinations<Real> rows{kRows, columns, terms, source.data(), by.data(), table.data(), own.data()};
        std::vector<Real> to(kRows * columns, 7), by_by(by.size(), 1), by_table(table.size(), 1), by_own(own.size(), 1);
        kernels.combine(rows, to.data());
        CHECK(difference({as<double>(to)}, {written(given)}) < allowed);
        kernels.combine_adjoint(rows, as<Real>(by_to).data(), by_by.data(), by_table.data(), by_own.data());
        Lists<double> seen = {as<double>(by_by), as<double>(by_table), as<double>(by_own)};
        for (auto& list : seen)
          for (double& number : list) --number;  // it is added to what stood there
        CHECK(difference(seen, expected) < allowed);
      });
    }
}

TEST_CASE("the norm by coefficients is that of the rows that they stand for") {
  constexpr std::size_t kRows = 7, kWidth = 14, kPast = 2;
  for (const std::size_t terms : {1u, 2u, 5u, 8u, 9u, 12u}) {
    CAPTURE(terms);
    const std::size_t row = terms + kPast;  // other heads' coefficients stand between
    std::vector<double> factor = drawn<double>(terms * terms, 1), gram(terms * terms, 0);
    for (std::size_t i = 0; i < terms; ++i) {
      factor[i * terms + i] += 2;  // far enough from 0 for differences
      for (std::size_t j = i + 1; j < terms; ++j) factor[i * terms + j] = 0;
    }
    for (std::size_t i = 0; i < terms; ++i)
      for (std::size_t j = 0; j < terms; ++j)
        for (std::size_t k = 0; k < terms; ++k) gram[i * terms + j] += factor[i * terms + k] * factor[j * terms + k];
    Lists<double> given = {drawn<double>(kRows * row, 2), gram};
    for (double& number : given[0]) number += 1.5;
    std::vector<double> by_y = drawn<double>(kRows * row, 3);
    for (std::size_t i = 0; i < by_y.size(); ++i)
      if (i % row >= terms) by_y[i] = 0;
    const auto scale_of = [&](const Lists<double>& lists, std::size_t t) {
      double sum = 0;
      for (std::size_t i = 0; i < terms; ++i)
        for (std::size_t j = 0; j < terms; ++j)
          sum += lists[0][t * row + i] * lists[1][i * terms + j] * lists[0][t * row + j];
      return 1 / std::sqrt(sum / kWidth + 1e-5);
    };
    const auto written = [&](const Lists<double>& lists) {
      std::vector<double> y(kRows * row, 0);
      for (std::size_t t = 0; t < kRows; ++t)
        for (std::size_t i = 0; i < terms; ++i) y[t * row + i] = lists[0][t * row + i] * scale_of(lists, t);
      return y;
    };
    const Lists<double> expected = slopes(given, by_y, written);
    with_all_kernels([&]<class Real>(const TrainingKernels<Real>& kernels, double allowed) {
      const auto x = as<Real>(given[0]), real_gram = as<Real>(gram), real_factor = as<Real>(factor),
                 by = as<Real>(by_y);
      const GramRows<Real> rows{kRows, terms, kWidth, row, real_gram.data(), real_factor.data(), x.data()};
      std::vector<Real> scale(kRows), y(kRows * row, 0), by_x(kRows * row, 0), by_gram(terms * terms, 1);
      kernels.gram_norm(rows, scale.data(), y.data());
      CHECK(difference({as<double>(y)}, {written(given)}) < allowed);
      kernels.gram_norm_adjoint(rows, scale.data(), by.data(), by_x.data(), by_gram.data());
      Lists<double> seen = {as<double>(by_x), as<double>(by_gram)};
      for (double& number : seen[1]) --number;
      CHECK(difference(seen, expected) < 10 * allowed);
    });
  }
}

TEST_CASE("coefficients whose squares overflow are normalised like any others") {
  constexpr std::size_t kTerms = 5;
  std::vector<float> one(kTerms * kTerms, 0);
  for (std::size_t i = 0; i < kTerms; ++i) one[i * kTerms + i] = 1;
  const auto x = as<float>(drawn<double>(kTerms, 1));
  for (const InstructionSet set : available_instruction_sets()) {
    CAPTURE(to_string(set));
    std::vector<float> large = x, plain = x, seen(kTerms), expected(kTerms);
    for (float& number : large) number *= 0x1p100f;
    for (float& number : plain) number *= 0x1p40f;  // so that the 1e-5 under the root counts for nothing
    float scale = 0;
    training_kernels(set).gram_norm({1, kTerms, 20, kTerms, one.data(), one.data(), large.data()}, &scale, seen.data());
    training_kernels(set).gram_norm({1, kTerms, 20, kTerms, one.data(), one.data(), plain.data()}, &scale,
                                    expected.data());
    for (std::size_t i = 0; i < kTerms; ++i) CHECK(seen[i] == doctest::Approx(expected[i]).epsilon(1e-5));
  }
}

TEST_CASE("gates of scaled rows, and the scale of a norm, are those written out") {
  constexpr std::size_t kRows = 5;
  for (const std::size_t half : {1u, 3u, 16u, 21u, 32u}) {
    CAPTURE(half);
    const std::size_t width = 2 * half;
    const Lists<double> given = {drawn<double>(kRows * width, 1, 3), drawn<double>(kRows, 2)};
    const std::vector<double> by_y = drawn<double>(kRows * half, 3);
    const auto gated = [&](const Lists<double>& lists) {
      std::vector<double> y;
      for (std::size_t t = 0; t < kRows; ++t)
        for (std::size_t i = 0; i < half; ++i) {
          const double left = lists[0][t * width + i] * lists[1][t],
                       right = lists[0][t * width + half + i] * lists[1][t];
          y.push_back(left / (1 + std::exp(-left)) * right);
        }
      return y;
    };
    const auto scaled = [&](const Lists<double>& lists) {
      std::vector<double> scale;
      for (std::size_t t = 0; t < kRows; ++t) {
        double squares = 0;
        for (std::size_t i = 0; i < width; ++i) squares += lists[0][t * width + i] * lists[0][t * width + i];
        scale.push_back(1 / std::sqrt(squares / static_cast<double>(width) + 1e-5));
      }
      return scale;
    };
    const std::vector<double> by_scale = drawn<double>(kRows, 4);
    const Lists<double> expected = slopes(given, by_y, gated), by_norm = slopes({given[0]}, by_scale, scaled);
    with_all_kernels([&]<class Real>(const TrainingKernels<Real>& kernels, double allowed) {
      const auto x = as<Real>(given[0]), scale = as<Real>(given[1]);
      const Rows<Real> rows{kRows, width, x.data()};
      std::vector<Real> y(kRows * half), logistics(y.size()), by_x(x.size(), 7), by(kRows, 7), norm(kRows),
          through(x.size(), 1);
      kernels.scaled_gate(rows, scale.data(), logistics.data(), y.data());
      CHECK(difference({as<double>(y)}, {gated(given)}) < allowed);
      kernels.scaled_gate_adjoint(rows, scale.data(), logistics.data(), as<Real>(by_y).data(), by_x.data(), by.data());
      CHECK(difference({as<double>(by_x), as<double>(by)}, expected) < allowed);
      kernels.rms_scales(rows, norm.data());
      CHECK(difference({as<double>(norm)}, {scaled(given)}) < allowed);
      kernels.rms_scales_adjoint(rows, norm.data(), as<Real>(by_scale).data(), through.data());
      Lists<double> seen = {as<double>(through)};
      for (double& number : seen[0]) --number;
      CHECK(difference(seen, by_norm) < allowed);
    });
  }
}
