#include "krohn/groups/transformations/small_monoids.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "krohn/groups/error.h"
#include "krohn/groups/transformations/transformation_monoid.h"

using namespace krohn;

namespace {

/// Submonoids of T_2 by trying every subset: a set is one when it holds the identity and all products.
std::set<std::set<Transformation>> brute_force_on_two_points() {
  std::vector<Transformation> all;
  for (Point a = 0; a < 2; ++a)
    for (Point b = 0; b < 2; ++b) all.push_back(Transformation::from_images({a, b}));
  std::set<std::set<Transformation>> monoids;
  for (unsigned chosen = 0; chosen < 16; ++chosen) {
    std::set<Transformation> set;
    for (unsigned i = 0; i < 4; ++i)
      if (chosen >> i & 1) set.insert(all[i]);
    bool closed = set.contains(Transformation::identity(2));
    for (const auto& f : set)
      for (const auto& g : set) closed = closed && set.contains(f * g);
    if (closed) monoids.insert(set);
  }
  return monoids;
}

std::set<std::set<Transformation>> renamings(const SmallMonoid& monoid, Point degree) {
  std::vector<Point> name(degree);
  for (Point i = 0; i < degree; ++i) name[i] = i;
  std::set<std::set<Transformation>> result;
  do {
    std::set<Transformation> renamed;
    for (const Transformation& f : monoid.elements) {
      std::vector<Point> images(degree);
      for (Point i = 0; i < degree; ++i) images[name[i]] = name[f[i]];
      renamed.insert(Transformation::from_images(images));
    }
    result.insert(renamed);
  } while (std::next_permutation(name.begin(), name.end()));
  return result;
}

}  // namespace

TEST_CASE("monoids on two points are those that trying all subsets finds") {
  std::set<std::set<Transformation>> listed;
  for (const SmallMonoid& monoid : monoids_on(2)) listed.merge(renamings(monoid, 2));
  CHECK(listed == brute_force_on_two_points());
}

TEST_CASE("monoids on three points are different, closed, and complete under adding an element") {
  const std::vector<SmallMonoid> monoids = monoids_on(3);
  std::set<std::set<Transformation>> all;
  for (const SmallMonoid& monoid : monoids) {
    const auto enumerated = TransformationMonoid::enumerate(monoid.generators, 3);
    REQUIRE(enumerated.size() == monoid.elements.size());
    for (const Transformation& f : monoid.elements) REQUIRE(enumerated.find(f));
    for (std::size_t left_out = 0; left_out < monoid.generators.size(); ++left_out) {
      std::vector<Transformation> fewer = monoid.generators;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(left_out));
      CHECK(TransformationMonoid::enumerate(fewer, 3).size() < monoid.elements.size());
    }
    const std::size_t before = all.size();
    const auto renamed = renamings(monoid, 3);
    all.insert(renamed.begin(), renamed.end());
    CHECK(all.size() == before + renamed.size());
  }
  // Every monoid that two maps generate is listed.
  std::vector<Transformation> maps;
  for (Point a = 0; a < 3; ++a)
    for (Point b = 0; b < 3; ++b)
      for (Point c = 0; c < 3; ++c) maps.push_back(Transformation::from_images({a, b, c}));
  for (const auto& f : maps)
    for (const auto& g : maps) {
      const auto monoid = TransformationMonoid::enumerate(std::vector{f, g}, 3);
      std::set<Transformation> set;
      for (TransformationMonoid::Element e = 0; e < monoid.size(); ++e) set.insert(monoid.element(e));
      CHECK(all.contains(set));
    }
  CHECK(all.size() == 699);
  CHECK(monoids_on(1).size() == 1);
  CHECK_THROWS_AS(monoids_on(4), InputError);
}
