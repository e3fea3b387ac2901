#include "krohn/groups/transformations/transformation_monoid.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "krohn/groups/error.h"
#include "tests/groups/random_maps.h"

using namespace krohn;

namespace {

/// All products, by closing a std::set: the obvious reference.
std::set<Transformation> reference_closure(const std::vector<Transformation>& generators, Point degree) {
  std::set<Transformation> elements{Transformation::identity(degree)};
  std::vector<Transformation> open(elements.begin(), elements.end());
  while (!open.empty()) {
    const Transformation element = open.back();
    open.pop_back();
    for (const Transformation& generator : generators)
      if (elements.insert(element * generator).second) open.push_back(element * generator);
  }
  return elements;
}

Transformation evaluate(const TransformationMonoid::Word& word, const std::vector<Transformation>& generators,
                        Point degree) {
  Transformation product = Transformation::identity(degree);
  for (const std::uint32_t letter : word) product = product * generators[letter];
  return product;
}

void require_right(const std::vector<Transformation>& generators, Point degree) {
  const TransformationMonoid monoid = TransformationMonoid::enumerate(generators, degree);
  REQUIRE(monoid.complete());
  const std::set<Transformation> reference = reference_closure(generators, degree);
  REQUIRE(monoid.size() == reference.size());
  TransformationMonoid::Word previous;
  for (TransformationMonoid::Element e = 0; e < monoid.size(); ++e) {
    const Transformation value = monoid.element(e);
    REQUIRE(reference.count(value) == 1);
    REQUIRE(monoid.find(value) == e);
    const TransformationMonoid::Word word = monoid.word(e);
    REQUIRE(word.size() == monoid.length(e));
    REQUIRE(evaluate(word, generators, degree) == value);
    // Short-lex order: words only grow.
    REQUIRE((e == 0 || previous.size() < word.size() || (previous.size() == word.size() && previous < word)));
    previous = word;
    for (std::uint32_t g = 0; g < generators.size(); ++g) {
      REQUIRE(monoid.element(monoid.right(e, g)) == value * generators[g]);
      REQUIRE(monoid.element(monoid.product(monoid.right(0, g), e)) == generators[g] * value);
    }
    REQUIRE(monoid.is_idempotent(e) == (value * value == value));
  }
}

}  // namespace

TEST_CASE("every element, Cayley edge, word and idempotent against the obvious closure") {
  std::mt19937 random(3);
  for (int round = 0; round < 150; ++round) {
    CAPTURE(round);
    const Point degree = 1 + static_cast<Point>(random() % 5);
    require_right(random_maps(random, degree, random() % 4), degree);
  }
  // Degrees on both sides of every packing: 8 | 9 points, 16 | 17, 256 | 257. One generator keeps the monoid small.
  for (const Point degree : {7U, 8U, 9U, 16U, 17U, 256U, 257U, 300U}) {
    CAPTURE(degree);
    require_right(random_maps(random, degree, 1), degree);
  }
}

TEST_CASE("full transformation monoids: n^n elements, Σ C(n,k) k^(n−k) idempotents") {
  const std::uint64_t idempotents[] = {1, 3, 10, 41, 196, 1057, 6322};
  std::uint64_t size = 1;
  for (Point n = 1; n <= 7; ++n) {
    CAPTURE(n);
    size = 1;
    for (Point i = 0; i < n; ++i) size *= n;
    const TransformationMonoid monoid = TransformationMonoid::enumerate(full_monoid(n), n);
    CHECK(monoid.size() == size);
    CHECK(monoid.idempotents() == idempotents[n - 1]);
  }
}

TEST_CASE("degenerate generators") {
  CHECK(TransformationMonoid::enumerate({}, 3).size() == 1);
  const std::vector<Transformation> identities(3, Transformation::identity(4));
  CHECK(TransformationMonoid::enumerate(identities, 4).size() == 1);
  CHECK_THROWS_AS(TransformationMonoid::enumerate(identities, 5), InputError);
}

TEST_CASE("the limit keeps what was found") {
  TransformationMonoid::Options options;
  options.max_elements = 1000;
  const auto generators = full_monoid(6);
  const TransformationMonoid monoid = TransformationMonoid::enumerate(generators, 6, options);
  CHECK_FALSE(monoid.complete());
  CHECK(monoid.size() == 1001);
  CHECK(evaluate(monoid.word(1000), generators, 6) == monoid.element(1000));
}
