#include <omp.h>
#include <atomic>
#include <cfenv>

#include "krohn/groups/base/float_environment.h"
#include "krohn/simulate/arithmetic/parallel_for.h"
#include "tests/testing.h"

using namespace krohn;

TEST_CASE("every piece is done once, whatever the numbers of pieces and threads") {
  for (const std::size_t count : {0, 1, 2, 7, 1000})
    for (const unsigned threads : {0U, 1U, 2U, 16U})
      for (const Sharing sharing : {Sharing::kWhoIsFree, Sharing::kSame}) {
        CAPTURE(count);
        CAPTURE(threads);
        std::vector<std::atomic<int>> done(count);
        parallel_for(
            count, threads, [&](std::size_t i) { ++done[i]; }, sharing);
        for (const auto& times : done) CHECK(times == 1);
      }
}

TEST_CASE("the same thread does the same pieces at every call, and they follow each other") {
  std::vector<int> first(100), again(100);
  for (std::vector<int>* owner : {&first, &again})
    parallel_for(
        100, 4, [&](std::size_t i) { (*owner)[i] = omp_get_thread_num(); }, Sharing::kSame);
  CHECK(first == again);
  CHECK(std::ranges::is_sorted(first));
  CHECK(first.back() == 3);
}

TEST_CASE("a worker is its thread's own") {
  std::atomic<int> made = 0, sum = 0;
  parallel_workers(500, 4, [&] {
    ++made;
    return [&sum, busy = false, own = omp_get_thread_num()](std::size_t) mutable {
      CHECK(own == omp_get_thread_num());
      CHECK(!std::exchange(busy, true));
      ++sum;
      busy = false;
    };
  });
  CHECK(sum == 500);
  CHECK(made >= 1);
  CHECK(made <= 4);
}

TEST_CASE("the first exception comes out, of a piece or of the making of a worker, and ends the work") {
  for (const unsigned threads : {1U, 4U}) {
    constexpr int kPieces = 1'000'000'000;  // more than others do while the thread that throws waits for its turn
    std::atomic<int> begun = 0;
    const auto fails = [&] {
      parallel_for(kPieces, threads, [&](std::size_t i) {
        ++begun;
        if (i == 3) throw LimitError("three");
      });
    };
    CHECK_THROWS_WITH_AS(fails(), "three", LimitError);
    CHECK(begun < kPieces);
  }
  CHECK_THROWS_WITH_AS(parallel_workers(10, 4, []() -> Worker { throw InputError("no worker"); }), "no worker",
                       InputError);
  // At once, however much was left: an interrupt is such an exception.
  for (const unsigned threads : {1U, 4U})
    for (const Sharing sharing : {Sharing::kWhoIsFree, Sharing::kSame}) {
      const auto fails = [&] {
        parallel_for(
            std::size_t{1} << 60, threads, [](std::size_t) { throw LimitError("at once"); }, sharing);
      };
      CHECK_THROWS_WITH_AS(fails(), "at once", LimitError);
    }
}

TEST_CASE("threads compute alike that another library left rounding otherwise, and are handed back so") {
  const int threads = 4;
#pragma omp parallel num_threads(threads)
  std::fesetround(FE_DOWNWARD);
  std::atomic<int> nearest = 0, kept = 0;
  parallel_for(1000, threads, [&](std::size_t) { nearest += std::fegetround() == FE_TONEAREST; });
#pragma omp parallel num_threads(threads)
  {
    kept += std::fegetround() == FE_DOWNWARD;
    std::fesetround(FE_TONEAREST);
  }
  CHECK(nearest == 1000);
  CHECK(kept == threads);
}

TEST_CASE("what one thread does is in no parallel region, so that regions within it are not nested") {
  const auto level_within = [](std::size_t count, unsigned threads) {
    std::atomic<int> level = -1;
    parallel_for(count, threads, [&](std::size_t) { level = omp_get_level(); });
    return level.load();
  };
  CHECK(level_within(1, 8) == 0);
  CHECK(level_within(8, 1) == 0);
  CHECK(level_within(2, 2) == 1);
}

TEST_CASE("threads take subnormal numbers for 0 where who asks them does, and nowhere else") {
  const auto everywhere = [](bool expected) {
    for (const unsigned threads : {1U, 2U, 3U}) {
      std::vector<int> found(12, -1);
      parallel_for(found.size(), threads, [&](std::size_t i) { found[i] = SubnormalsAsZero::here(); });
      CHECK(found == std::vector<int>(found.size(), expected));
    }
  };
  everywhere(false);
  {
    const SubnormalsAsZero as_zero;
    const bool can = SubnormalsAsZero::here();
    everywhere(can);
    const FloatEnvironment within;
    everywhere(false);
  }
  everywhere(false);
}

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
