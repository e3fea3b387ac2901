// The units of nonlinear cells: in double by the stated functions of proofs, every instruction set beside that.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "krohn/simulate/evaluate/lanes/lane_kernel_table.h"
#include "krohn/simulate/models/cells/cell.h"
#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "tests/simulate/models/kernels/lists_difference.h"
#include "tests/simulate/models/kernels/small_integers.h"

using namespace krohn;

namespace {

using Lists = std::vector<std::vector<double>>;

struct StatedFunctions {
  static double tanh(double x) { return cell_tanh(x); }
  static double logistic(double x) { return cell_sigmoid(x); }
  static double zero() { return 0; }
};

/// Unit by unit, by the stated functions of proofs.
void step_units(CellKind kind, std::size_t hidden, const double* by_input, const double* by_state, double* memory) {
  with_unit(kind, [&](auto of_kind) {
    using Unit = decltype(of_kind);
    for (std::size_t unit = 0; unit < hidden; ++unit) {
      double a[Unit::kGates], b[Unit::kGates], own[Unit::kKept];
      for (std::size_t i = 0; i < Unit::kGates; ++i)
        a[i] = by_input[i * hidden + unit], b[i] = by_state[i * hidden + unit];
      for (std::size_t i = 0; i < Unit::kKept; ++i) own[i] = memory[i * hidden + unit];
      Unit::template step<StatedFunctions, double>(a, b, own);
      for (std::size_t i = 0; i < Unit::kKept; ++i) memory[i * hidden + unit] = own[i];
    }
  });
}

/// In ±4, in steps of 1/64: where units saturate and where they do not.
template <class Real>
std::vector<Real> drawn(std::size_t count, std::uint64_t seed) {
  std::vector<Real> numbers = integers<Real>(count, 256, seed);
  for (Real& number : numbers) number /= 64;
  return numbers;
}

struct Extents {
  std::size_t count, hidden;
  bool has_before, has_source, is_one;  ///< is_one: the gradient by the input is not asked for
};

/// After; by the memory before, by the input, by the state.
template <class Real>
Lists run(const Cell& cell, const Extents& e, const TrainingKernels<Real>& kernels) {
  const std::size_t gates = cell.gates * e.hidden, kept = cell.kept * e.hidden;
  std::vector<std::uint32_t> source(e.count);
  for (std::size_t row = 0; row < e.count; ++row) source[row] = static_cast<std::uint32_t>((2 * row + 1) % e.count);
  const auto input = drawn<Real>(e.count * gates, 1);
  auto state = drawn<Real>(e.count * gates, 2);
  const auto before = drawn<Real>(e.count * kept, 3), by_output = drawn<Real>(e.count * e.hidden, 4);
  std::vector<Real> after(e.count * kept), by_memory = drawn<Real>(e.count * kept, 5);
  std::vector<Real> apart(e.count * gates);
  CellRows<Real> rows{cell.kind,
                      e.count,
                      e.hidden,
                      e.has_source ? source.data() : nullptr,
                      input.data(),
                      state.data(),
                      e.has_before ? before.data() : nullptr,
                      after.data()};
  kernels.step_cells(rows);
  rows.after = nullptr;
  kernels.step_cells_adjoint(rows, {by_output.data(), by_memory.data(), e.is_one ? nullptr : apart.data()});
  if (e.is_one) apart = state;
  Lists result;
  for (const std::vector<Real>* list :
       std::initializer_list<const std::vector<Real>*>{&after, &by_memory, &apart, &state})
    result.emplace_back(list->begin(), list->end());
  return result;
}

}  // namespace

TEST_CASE("training steps cells as proofs do") {
  for (const Cell& cell : cells())
    for (const std::size_t hidden : {1, 3, 8, 17})
      for (const bool has_before : {false, true}) {
        CAPTURE(cell.name);
        CAPTURE(hidden);
        constexpr std::size_t kRows = 5;
        const std::size_t gates = cell.gates * hidden, kept = cell.kept * hidden;
        const auto input = drawn<double>(kRows * gates, 1), state = drawn<double>(kRows * gates, 2);
        std::vector<double> memory = drawn<double>(kRows * kept, 3);
        if (!has_before) std::ranges::fill(memory, 0);
        for (std::size_t row = 0; row < kRows; ++row)
          step_units(cell.kind, hidden, input.data() + row * gates, state.data() + row * gates,
                     memory.data() + row * kept);
        const Lists own = run(cell, {kRows, hidden, has_before, false, false}, training_kernels<double>());
        CHECK(difference({memory}, own, 1) < 1e-15);
      }
}

TEST_CASE("cells in every instruction set are those in double") {
  std::size_t sets = 0;
  for (const InstructionSet set : available_instruction_sets()) {
    ++sets;
    for (const Cell& cell : cells())
      for (std::size_t hidden = 1; hidden <= 35; ++hidden)
        for (int how = 0; how < 8; ++how) {
          CAPTURE(to_string(set));
          CAPTURE(cell.name);
          CAPTURE(hidden);
          const Extents e{4, hidden, how % 2 == 1, how / 2 % 2 == 1, how / 4 == 1 && cell.sums};
          REQUIRE(difference(run(cell, e, training_kernels(set)), run(cell, e, training_kernels<double>())) < 2e-6);
        }
  }
  CHECK(sets > 0);
}

TEST_CASE("the cell whose products are not summed is the one that says so") {
  for (const Cell& cell : cells()) {
    const Lists own = run(cell, {6, 9, true, true, false}, training_kernels<double>());
    CHECK((own[2] == own[3]) == cell.sums);
  }
}

TEST_CASE("tanh is within three units of the last place, and what diverged stays so") {
  for (const InstructionSet set : available_instruction_sets()) {
    CAPTURE(to_string(set));
    std::vector<float> points{0.625f, std::nextafter(0.625f, 0.0f), std::nextafter(0.625f, 1.0f)};
    for (float at = 1e-30f; at < 50; at *= 1.0003f) points.push_back(at);
    const std::size_t count = points.size();
    for (std::size_t i = 0; i < count; ++i) points.push_back(-points[i]);
    for (const float far : {0.0f, 88.0f, 1e30f, std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
      points.push_back(far);
    std::vector<float> state(points.size(), 0), seen(points.size());
    training_kernels(set).step_cells(
        {CellKind::kTanh, 1, points.size(), nullptr, points.data(), state.data(), nullptr, seen.data()});
    double worst = 0;
    for (std::size_t i = 0; i < 2 * count; ++i)
      worst = std::max(worst, std::abs(double{seen[i]} / std::tanh(double{points[i]}) - 1));
    CHECK(worst < 3 * 0x1p-23);
    const float* const far = seen.data() + 2 * count;
    CHECK(far[0] == 0);
    for (int i = 1; i < 4; ++i) CHECK(far[i] == 1);
    CHECK(far[4] == -1);
    CHECK(std::isnan(far[5]));
  }
}
