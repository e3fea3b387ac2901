// Matrix products, on small integers, where nothing rounds, and a step of Adam: every instruction set beside the
// formulas.

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "krohn/simulate/evaluate/lanes/lane_kernel_table.h"
#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "tests/simulate/models/kernels/small_integers.h"

using namespace krohn;

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
