#include "krohn/groups/transformations/green.h"

#include <doctest/doctest.h>

#include <set>

#include "krohn/groups/error.h"
#include "krohn/groups/transformations/transformation_monoid.h"
#include "tests/groups/random_maps.h"

using namespace krohn;

namespace {

using Element = TransformationMonoid::Element;

/// Green's relations by their definitions, from an enumerated monoid: x ≥ y when y is among the multiples of x.
struct Multiples {
  std::vector<std::vector<bool>> right, left, both;

  explicit Multiples(const TransformationMonoid& monoid) {
    const auto close = [&](Element x, bool use_right, bool use_left) {
      std::vector<bool> seen(monoid.size(), false);
      std::vector<Element> queue{x};
      seen[x] = true;
      const auto visit = [&](Element y) {
        if (!seen[y]) queue.push_back(y);
        seen[y] = true;
      };
      for (std::size_t i = 0; i < queue.size(); ++i)
        for (std::uint32_t g = 0; g < monoid.generators(); ++g) {
          if (use_right) visit(monoid.right(queue[i], g));
          if (use_left) visit(monoid.product(monoid.right(0, g), queue[i]));
        }
      return seen;
    };
    for (Element x = 0; x < monoid.size(); ++x) {
      right.push_back(close(x, true, false));
      left.push_back(close(x, false, true));
      both.push_back(close(x, true, true));
    }
  }
};

/// The class of x: everything that x reaches and that reaches x.
std::set<Element> class_of(const std::vector<std::vector<bool>>& multiples, Element x) {
  std::set<Element> result;
  for (Element y = 0; y < multiples.size(); ++y)
    if (multiples[x][y] && multiples[y][x]) result.insert(y);
  return result;
}

std::uint64_t distinct_classes(const std::vector<std::vector<bool>>& multiples, const std::set<Element>& within) {
  std::set<std::set<Element>> classes;
  for (const Element x : within) classes.insert(class_of(multiples, x));
  return classes.size();
}

void require_definitions(const std::vector<Transformation>& generators, Point degree) {
  const TransformationMonoid monoid = TransformationMonoid::enumerate(generators, degree);
  const Multiples multiples(monoid);
  const GreenStructure green = GreenStructure::of(generators, degree);
  REQUIRE(green.size() == monoid.size());
  REQUIRE(green.idempotents() == monoid.idempotents());
  std::set<Element> covered;
  std::vector<Element> representative;
  for (const DClass& d : green.d_classes()) {
    const auto x = monoid.find(d.representative);
    REQUIRE(x.has_value());
    representative.push_back(*x);
    Element by_word = 0;
    for (const std::uint32_t letter : d.word) by_word = monoid.right(by_word, letter);
    REQUIRE(by_word == *x);
    const std::set<Element> j_class = class_of(multiples.both, *x);
    REQUIRE(d.size == j_class.size());
    REQUIRE(d.r_classes == distinct_classes(multiples.right, j_class));
    REQUIRE(d.l_classes == distinct_classes(multiples.left, j_class));
    REQUIRE(d.size == d.group_order * d.r_classes * d.l_classes);
    std::uint64_t idempotents = 0;
    for (const Element y : j_class) idempotents += monoid.is_idempotent(y);
    REQUIRE(d.idempotents == idempotents);
    REQUIRE(d.regular == (idempotents > 0));
    covered.insert(j_class.begin(), j_class.end());
  }
  REQUIRE(covered.size() == monoid.size());
  const auto above = [&](std::size_t a, std::size_t b) {
    return a != b && multiples.both[representative[a]][representative[b]];
  };
  for (std::uint32_t a = 0; a < representative.size(); ++a) {
    std::set<std::uint32_t> covers;
    for (std::uint32_t b = 0; b < representative.size(); ++b) {
      bool between = false;
      for (std::size_t c = 0; c < representative.size(); ++c) between = between || (above(a, c) && above(c, b));
      if (above(a, b) && !between) covers.insert(b);
    }
    const auto& below = green.d_classes()[a].below;
    REQUIRE(std::set<std::uint32_t>(below.begin(), below.end()) == covers);
  }
}

}  // namespace

TEST_CASE("D-classes, their rows, columns, groups, idempotents and order agree with the definitions") {
  std::mt19937 random(5);
  for (int round = 0; round < 1200; ++round) {
    CAPTURE(round);
    const Point degree = 1 + static_cast<Point>(random() % 5);
    const auto generators = random_maps(random, degree, random() % 4);
    TransformationMonoid::Options few;
    few.max_elements = 150;
    if (!TransformationMonoid::enumerate(generators, degree, few).complete()) continue;
    require_definitions(generators, degree);
  }
}

TEST_CASE("sizes and idempotents agree with enumeration where definitions are too slow") {
  std::mt19937 random(29);
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    const Point degree = 5 + static_cast<Point>(random() % 4);
    const auto generators = random_maps(random, degree, 1 + random() % 3);
    TransformationMonoid::Options many;
    many.max_elements = 200'000;
    const TransformationMonoid monoid = TransformationMonoid::enumerate(generators, degree, many);
    if (!monoid.complete()) continue;
    const GreenStructure green = GreenStructure::of(generators, degree);
    CHECK(green.size() == monoid.size());
    CHECK(green.idempotents() == monoid.idempotents());
  }
}

TEST_CASE("T_n: a D-class for every rank k, with S(n,k) rows, C(n,k) columns and the group S_k") {
  const std::uint64_t bell[] = {1, 2, 5, 15, 52, 203, 877, 4140, 21147};
  for (Point n = 1; n <= 8; ++n) {
    CAPTURE(n);
    const GreenStructure green = GreenStructure::of(full_monoid(n), n);
    Integer size = 1;
    for (Point i = 0; i < n; ++i) size *= n;
    CHECK(green.size() == size);
    CHECK(green.r_classes() == bell[n - 1]);
    REQUIRE(green.d_classes().size() == n);
    for (std::size_t i = 0; i < n; ++i) {
      const DClass& d = green.d_classes()[i];
      Integer factorial = 1, choose = 1;
      for (Point k = 1; k <= d.rank; ++k) {
        factorial *= k;
        choose = choose * (n - k + 1) / k;
      }
      CHECK(d.group_order == factorial);
      CHECK(d.l_classes == choose);
      CHECK(d.regular);
      if (d.rank > 1) CHECK(d.below.size() == 1);
    }
  }
}

TEST_CASE("the egg-box marks the H-classes that are groups") {
  const GreenStructure green = GreenStructure::of(full_monoid(3), 3);
  for (std::uint32_t d = 0; d < green.d_classes().size(); ++d) {
    const GreenStructure::EggBox box = green.egg_box(d);
    const DClass& expected = green.d_classes()[d];
    REQUIRE(box.kernels.size() == expected.r_classes);
    REQUIRE(box.images.size() == expected.l_classes);
    std::uint64_t marks = 0;
    for (const auto& row : box.cells)
      for (const bool cell : row) marks += cell;
    CHECK(marks == expected.idempotents);
  }
}

TEST_CASE("limits") {
  GreenOptions options;
  options.max_r_classes = 100;
  CHECK_THROWS_AS(GreenStructure::of(full_monoid(6), 6, options), LimitError);
  options = {};
  options.max_sets = 10;
  CHECK_THROWS_AS(GreenStructure::of(full_monoid(6), 6, options), LimitError);
}
