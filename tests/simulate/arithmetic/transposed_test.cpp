#include "krohn/simulate/arithmetic/parallel_for.h"
#include "tests/testing.h"

using namespace krohn;

TEST_CASE("rows become columns, and what lies between the new rows stays") {
  for (std::size_t rows = 0; rows <= 35; ++rows)
    for (std::size_t columns = 1; columns <= 35; ++columns)
      for (const std::size_t more : {0, 3}) {
        std::vector<float> matrix(rows * columns);
        std::iota(matrix.begin(), matrix.end(), 1.0f);
        std::vector<float> result(columns * (rows + more), -1);
        transpose(matrix.data(), rows, columns, result.data(), rows + more);
        bool right = true;
        for (std::size_t j = 0; j < columns; ++j)
          for (std::size_t i = 0; i < rows + more; ++i)
            right &= result[j * (rows + more) + i] == (i < rows ? matrix[i * columns + j] : -1);
        CAPTURE(rows);
        CAPTURE(columns);
        REQUIRE(right);
        if (more == 0) {
          const Numbers<float> whole = transposed<float>(matrix, columns);
          REQUIRE(std::equal(whole.begin(), whole.end(), result.begin(), result.end()));
        }
      }
}
