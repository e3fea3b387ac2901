#include "krohn/groups/permutations/transpositions.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "krohn/groups/error.h"

using namespace krohn;

TEST_CASE("a permutation is the product of its transpositions, and of no fewer: all of up to 7 points") {
  std::uint64_t permutations = 0;
  for (Point degree = 0; degree <= 7; ++degree) {
    std::vector<Point> images(degree);
    std::iota(images.begin(), images.end(), Point{0});
    do {
      const Permutation permutation = Permutation::from_images(images);
      const std::vector<Transposition> swaps = transpositions_of(permutation);
      Permutation product = Permutation::identity(degree);
      bool in_order = true;
      for (const Transposition& swap : swaps) {
        in_order = in_order && swap.first < swap.second;
        product = product * permutation_of(swap, degree);
      }
      if (product != permutation || swaps.size() != permutation.reflection_length() || !in_order) {
        CAPTURE(to_string(permutation));
        FAIL("not its product");
      }
      ++permutations;
    } while (std::ranges::next_permutation(images).found);
  }
  CHECK(permutations == 1 + 1 + 2 + 6 + 24 + 120 + 720 + 5040);
  CHECK(transpositions_of(parse_cycles("(2 5 3)", 5)) == std::vector<Transposition>{{1, 4}, {1, 2}});
}

TEST_CASE("a swap of points that are not there is refused; one point on either side of the last") {
  CHECK(to_string(permutation_of({0, 4}, 5)) == "(1 5)");
  CHECK(permutation_of({2, 2}, 3).is_identity());
  CHECK_THROWS_WITH_AS(permutation_of({0, 5}, 5), doctest::Contains("points 0 and 5 among 5 points"), InputError);
  CHECK_THROWS_AS(permutation_of({5, 0}, 5), InputError);
}
