#include "krohn/simulate/evaluate/lanes/lane_kernel_table.h"
#include "krohn/simulate/models/cells/cell_network.h"
#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "tests/simulate/models/kernels/lists.h"
#include "tests/testing.h"

using namespace krohn;

// The units of nonlinear cells: in double by the stated functions of proofs, every instruction set beside that.

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
  const auto input = drawn<Real>(e.count * gates, 1, 4);
  auto state = drawn<Real>(e.count * gates, 2, 4);
  const auto before = drawn<Real>(e.count * kept, 3, 4), by_output = drawn<Real>(e.count * e.hidden, 4, 4);
  std::vector<Real> after(e.count * kept), by_memory = drawn<Real>(e.count * kept, 5, 4);
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
        const auto input = drawn<double>(kRows * gates, 1, 4), state = drawn<double>(kRows * gates, 2, 4);
        std::vector<double> memory = drawn<double>(kRows * kept, 3, 4);
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

// Matrix products, on small integers, where nothing rounds, and a step of Adam: every instruction set beside the
// formulas.

TEST_CASE("products of every extent and order, on every instruction set") {
  struct Extent {
    std::size_t rows, columns, depth;
  };
  for (const InstructionSet set : available_instruction_sets()) {
    CAPTURE(to_string(set));
    for (const auto& [rows, columns, depth] :
         {Extent{1, 1, 1}, Extent{8, 32, 4}, Extent{9, 33, 5}, Extent{13, 5, 300}, Extent{3, 70, 257}, Extent{0, 4, 4},
          Extent{7, 1030, 17}, Extent{25, 517, 7}, Extent{33, 512, 33}}) {
      CAPTURE(rows);
      for (const bool transposed : {false, true}) {
        const auto a = integers<float>(rows * depth, 3, 1), b = integers<float>(depth * columns, 3, 2);
        std::vector<float> c = integers<float>(rows * columns, 3, 3), expected = c;
        const std::size_t a_row = transposed ? 1 : depth, a_depth = transposed ? rows : 1;
        for (std::size_t i = 0; i < rows; ++i)
          for (std::size_t j = 0; j < columns; ++j)
            for (std::size_t k = 0; k < depth; ++k)
              expected[i * columns + j] += a[i * a_row + k * a_depth] * b[k * columns + j];
        std::vector<float> alone = expected, fresh(c.size(), NAN);
        for (std::size_t i = 0; i < c.size(); ++i) alone[i] -= c[i];
        training_kernels(set).add_product(
            {rows, columns, depth, a.data(), a_row, a_depth, b.data(), columns, c.data(), columns});
        CHECK(c == expected);
        training_kernels(set).add_product(
            {rows, columns, depth, a.data(), a_row, a_depth, b.data(), columns, fresh.data(), columns, true});
        CHECK(fresh == alone);
      }
    }
  }
}

TEST_CASE("rows times a matrix, where they go, and sums along long rows, on every instruction set") {
  for (const InstructionSet set : available_instruction_sets()) {
    CAPTURE(to_string(set));
    for (std::size_t count = 0; count < 27; ++count)  // every height of a tile, and two
      for (const std::size_t columns : {std::size_t{16}, std::size_t{48}}) {
        const std::size_t depth = 5;
        const auto x = integers<float>(count * (depth + 1), 3, 1), b = integers<float>(depth * columns, 3, 2),
                   addition = integers<float>(columns, 3, 3);
        std::vector<float> here = integers<float>(count * columns, 3, 4), expected(here.size());
        std::vector<float*> to;
        for (std::size_t i = count; i-- > 0;) to.push_back(here.data() + i * columns);  // in reverse
        for (const bool adds : {false, true}) {
          for (std::size_t i = 0; i < count; ++i)
            for (std::size_t j = 0; j < columns; ++j) {
              const std::size_t at = (count - 1 - i) * columns + j;
              expected[at] = (adds ? here[at] : 0) + addition[j];
              for (std::size_t d = 0; d < depth; ++d) expected[at] += x[i * (depth + 1) + d] * b[d * columns + j];
            }
          training_kernels(set).multiply_rows(
              {count, columns, depth, x.data(), depth + 1, b.data(), columns, addition.data(), to.data(), adds});
          REQUIRE(here == expected);
        }
      }
    for (std::size_t rows = 1; rows < 16; ++rows)
      for (const std::size_t columns : {1u, 4u, 7u})
        for (const std::size_t depth : {1u, 16u, 37u}) {
          const auto a = integers<float>(rows * depth, 3, 1), b = integers<float>(columns * depth, 3, 2);
          std::vector<float> c = integers<float>(rows * columns, 3, 3), expected = c;
          for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < columns; ++j)
              for (std::size_t d = 0; d < depth; ++d) expected[j * rows + i] += a[i * depth + d] * b[j * depth + d];
          training_kernels(set).add_dots({rows, columns, depth, a.data(), depth, b.data(), depth, c.data(), 1, rows});
          REQUIRE(c == expected);
        }
  }
}

TEST_CASE("a step of Adam is within a few roundings of its formula, for numbers of every size") {
  std::vector<float> gradient, square;
  for (int exponent = -40; exponent <= 38; ++exponent)
    for (const double digits : {1.0, 1.37, 2.9, 9.99}) {
      const double number = digits * std::pow(10.0, exponent);
      if (number > 5e37) continue;  // of which the gradient below would have no square
      square.push_back(static_cast<float>(number));
      gradient.push_back(static_cast<float>(std::sqrt(number) * (exponent % 2 == 0 ? 0.3 : -2)));
    }
  square.push_back(0), gradient.push_back(0);
  for (const InstructionSet set : available_instruction_sets()) {
    CAPTURE(to_string(set));
    std::vector<float> mean(square.size(), 0.25f), own = square, parameters(square.size(), 0);
    training_kernels(set).adam({square.size(), gradient.data(), 1, 0.9f, 0.999f, 0.01f, 1, 1e-10f, mean.data(),
                                own.data(), parameters.data()});
    for (std::size_t i = 0; i < square.size(); ++i) {
      CAPTURE(square[i]);
      const double by = gradient[i], first = 0.25 + (1 - double{0.9f}) * (by - 0.25),
                   second = square[i] + (1 - double{0.999f}) * (by * by - square[i]),
                   expected = -double{0.01f} * first / (std::sqrt(second) + double{1e-10f});
      CHECK(mean[i] == doctest::Approx(first).epsilon(1e-6));
      CHECK(parameters[i] == doctest::Approx(expected).epsilon(2e-6));
    }
  }
}
