#include "krohn/groups/transformations/transformation.h"

#include <doctest/doctest.h>

#include <set>

#include "krohn/groups/error.h"
#include "krohn/groups/permutations/random_permutation.h"
#include "krohn/groups/random.h"

using namespace krohn;

namespace {

Transformation random_map(Point degree, Random& random) {
  std::vector<Point> images(degree);
  for (Point& image : images) image = static_cast<Point>(random.below(degree));
  return Transformation::from_images(std::move(images));
}

}  // namespace

TEST_CASE("facts about single maps") {
  struct Fact {
    std::vector<Point> images;
    Point rank;
    bool permutation, constant;
    const char* text;
  };
  for (const Fact& fact :
       {Fact{{1, 2, 0}, 3, true, false, "[2 3 1]"}, Fact{{1, 1, 0}, 2, false, false, "[2 2 1]"},
        Fact{{2, 2, 2}, 1, false, true, "[3 3 3]"}, Fact{{0}, 1, true, true, "[1]"}, Fact{{}, 0, true, false, "[]"}}) {
    const auto map = Transformation::from_images(fact.images);
    CAPTURE(fact.text);
    CHECK(map.rank() == fact.rank);
    CHECK(map.is_permutation() == fact.permutation);
    CHECK(map.constant_image().has_value() == fact.constant);
    CHECK(to_string(map) == fact.text);
  }
  CHECK(Transformation::constant(4, 2).constant_image() == 2);
  CHECK(Transformation::identity(4).is_identity());
}

TEST_CASE("bad maps are refused") {
  CHECK_THROWS_AS(Transformation::from_images({0, 2}), InputError);
  CHECK_THROWS_AS(Transformation::constant(3, 3), InputError);
  CHECK_THROWS_AS(Transformation::from_images({0, 0}).to_permutation(), InputError);
  CHECK_THROWS_AS(Transformation::identity(2) * Transformation::identity(3), InputError);
}

TEST_CASE("composition is first f, then g, is associative, and never raises the rank") {
  Random random(20240607);
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    const Transformation f = random_map(7, random), g = random_map(7, random), h = random_map(7, random);
    const Transformation fg = f * g;
    for (Point point = 0; point < 7; ++point) CHECK(fg[point] == g[f[point]]);
    CHECK((f * g) * h == f * (g * h));
    CHECK(fg.rank() <= std::min(f.rank(), g.rank()));
    CHECK(f * Transformation::identity(7) == f);
    const std::set<Point> images(f.images().begin(), f.images().end());
    const auto set = f.image_set();
    CHECK(std::vector<Point>(images.begin(), images.end()) == set);
  }
}

TEST_CASE("permutations and bijective transformations are the same maps") {
  Random random(5);
  for (int round = 0; round < 100; ++round) {
    const Permutation p = random_permutation(6, random), q = random_permutation(6, random);
    const auto as_map = [](const Permutation& x) {
      return Transformation::from_images({x.images().begin(), x.images().end()});
    };
    CHECK((as_map(p) * as_map(q)).to_permutation() == p * q);
  }
}
