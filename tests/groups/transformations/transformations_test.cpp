#include "krohn/groups/base/random.h"
#include "krohn/groups/permutations/permutation.h"
#include "krohn/groups/transformations/green.h"
#include "krohn/groups/transformations/transformation.h"
#include "krohn/groups/transformations/transformation_monoid.h"
#include "tests/groups/random_groups.h"
#include "tests/testing.h"

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
    TransformationMonoid::Options few{.max_elements = 150};
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
    TransformationMonoid::Options many{.max_elements = 200'000};
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
  GreenOptions options{.max_r_classes = 100};
  CHECK_THROWS_AS(GreenStructure::of(full_monoid(6), 6, options), LimitError);
  options = {};
  options.max_sets = 10;
  CHECK_THROWS_AS(GreenStructure::of(full_monoid(6), 6, options), LimitError);
}

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

namespace {

/// Submonoids of T_2 by trying every subset: a set is one when it holds the identity and all products.
std::set<std::set<Transformation>> brute_force_on_two_points() {
  const std::vector<Transformation> all = all_maps(2);
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
  const std::vector<Transformation> maps = all_maps(3);
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

void require_right(const std::vector<Transformation>& generators, Point degree) {
  const TransformationMonoid monoid = TransformationMonoid::enumerate(generators, degree);
  REQUIRE(monoid.complete());
  const std::set<Transformation> reference = reference_closure(generators, degree);
  REQUIRE(monoid.size() == reference.size());
  TransformationMonoid::Word previous;
  for (TransformationMonoid::Element e = 0; e < monoid.size(); ++e) {
    const Transformation map = monoid.element(e);
    REQUIRE(reference.count(map) == 1);
    REQUIRE(monoid.find(map) == e);
    const TransformationMonoid::Word word = monoid.word(e);
    REQUIRE(value(word, generators, degree) == map);
    // Short-lex order: words only grow.
    REQUIRE((e == 0 || previous.size() < word.size() || (previous.size() == word.size() && previous < word)));
    previous = word;
    for (std::uint32_t g = 0; g < generators.size(); ++g) {
      REQUIRE(monoid.element(monoid.right(e, g)) == map * generators[g]);
      REQUIRE(monoid.element(monoid.product(monoid.right(0, g), e)) == generators[g] * map);
    }
    REQUIRE(monoid.is_idempotent(e) == (map * map == map));
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
  TransformationMonoid::Options options{.max_elements = 1000};
  const auto generators = full_monoid(6);
  const TransformationMonoid monoid = TransformationMonoid::enumerate(generators, 6, options);
  CHECK_FALSE(monoid.complete());
  CHECK(monoid.size() == 1001);
  CHECK(value(monoid.word(1000), generators, 6) == monoid.element(1000));
}

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
  std::mt19937 random(20240607);
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    const std::vector<Transformation> maps = random_maps(random, 7, 3);
    const Transformation &f = maps[0], &g = maps[1], &h = maps[2];
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
