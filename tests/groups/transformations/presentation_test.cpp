#include "krohn/groups/transformations/presentation.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace krohn;

namespace {

using Word = TransformationMonoid::Word;

/// All transformations of `degree` points.
std::vector<Transformation> all_maps(Point degree) {
  std::vector<Transformation> maps;
  std::vector<Point> images(degree, 0);
  while (true) {
    maps.push_back(Transformation::from_images(images));
    std::size_t at = 0;
    while (at < degree && ++images[at] == degree) images[at++] = 0;
    if (at == degree) return maps;
  }
}

Transformation value(const Word& word, const std::vector<Transformation>& generators, Point degree) {
  Transformation product = Transformation::identity(degree);
  for (const std::uint32_t letter : word) product = product * generators[letter];
  return product;
}

bool occurs(const Word& factor, const Word& word) {
  return std::search(word.begin(), word.end(), factor.begin(), factor.end()) != word.end();
}

/// Words without any left side in them, by growing irreducible ones, up to one more than there should be.
std::vector<Word> irreducible_words(const std::vector<Relation>& relations, std::uint32_t generators,
                                    std::size_t most) {
  std::vector<Word> words{{}};
  for (std::size_t i = 0; i < words.size() && words.size() <= most; ++i)
    for (std::uint32_t letter = 0; letter < generators; ++letter) {
      Word longer = words[i];
      longer.push_back(letter);
      if (std::none_of(relations.begin(), relations.end(), [&](const Relation& r) { return occurs(r.left, longer); }))
        words.push_back(longer);
    }
  return words;
}

/// The relations hold, and leave exactly one word for each element: so they present the monoid.
void check_presentation(const std::vector<Transformation>& generators, Point degree) {
  const TransformationMonoid monoid = TransformationMonoid::enumerate(generators, degree);
  const std::vector<Relation> relations = complete_presentation(monoid);
  for (const Relation& relation : relations) {
    CHECK(value(relation.left, generators, degree) == value(relation.right, generators, degree));
    CHECK(std::pair(relation.right.size(), relation.right) < std::pair(relation.left.size(), relation.left));
    for (const Relation& other : relations)
      if (&other != &relation) CHECK_FALSE(occurs(other.left, relation.left));
  }
  CHECK(irreducible_words(relations, monoid.generators(), monoid.size()).size() == monoid.size());
}

}  // namespace

TEST_CASE("presentations of all monoids of one and two maps of three points") {
  const std::vector<Transformation> maps = all_maps(3);
  for (const Transformation& a : maps) {
    check_presentation({a}, 3);
    for (const Transformation& b : maps) check_presentation({a, b}, 3);
  }
}

TEST_CASE("presentations people know") {
  const auto cycle = Transformation::from_images({1, 2, 0});
  const auto relations = complete_presentation(TransformationMonoid::enumerate(std::vector{cycle}, 3));
  REQUIRE(relations.size() == 1);
  CHECK(relations[0].left == Word{0, 0, 0});
  CHECK(relations[0].right == Word{});
  CHECK(complete_presentation(TransformationMonoid::enumerate(std::vector<Transformation>{}, 3)).empty());
}
