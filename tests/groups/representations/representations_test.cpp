#include <Eigen/Core>

#include "krohn/groups/base/decompositions.h"
#include "krohn/groups/names/named_group.h"
#include "krohn/groups/permutations/group_elements.h"
#include "krohn/groups/representations/least_representation.h"
#include "krohn/groups/representations/orthogonal_representation.h"
#include "krohn/groups/structure/composition.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

/// (dimension, codimension of every element's fixed space), element by element, of each real irreducible.
using Signature = std::pair<std::uint32_t, std::vector<std::uint32_t>>;

std::multiset<Signature> by_characters(const GroupElements& elements, const CharacterTable& table) {
  std::multiset<Signature> result;
  for (const RealIrreducible& block : table.real_irreducibles()) {
    Signature signature{block.dimension, {}};
    for (ElementIndex e = 0; e < elements.size(); ++e)
      signature.second.push_back(block.moved[table.class_of(elements[e])]);
    result.insert(std::move(signature));
  }
  return result;
}

/// The same from matrices: real numbers, eigenvectors of random matrices, ranks.
std::multiset<Signature> by_matrices(const GroupElements& elements) {
  std::multiset<Signature> result;
  for (const IrreducibleBlock& block : irreducible_blocks(elements, 200, 1)) {
    Signature signature{block.dimension, {}};
    for (const Eigen::MatrixXd& matrix : element_matrices(elements, block.generators)) {
      const Eigen::VectorXd values = singular_values(matrix - Eigen::MatrixXd::Identity(matrix.rows(), matrix.cols()));
      signature.second.push_back(static_cast<std::uint32_t>((values.array() > 1e-6).count()));
    }
    result.insert(std::move(signature));
  }
  return result;
}

/// How many reflections each element takes, by breadth-first search from the identity; nothing unless they generate.
std::vector<std::uint32_t> word_lengths(const GroupElements& elements, const std::vector<ElementIndex>& reflections) {
  std::vector<std::uint32_t> length(elements.size(), UINT32_MAX);
  std::vector<ElementIndex> queue{0};
  length[0] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (const ElementIndex r : reflections) {
      const ElementIndex next = *elements.find(elements[queue[i]] * elements[r]);
      if (length[next] != UINT32_MAX) continue;
      length[next] = length[queue[i]] + 1;
      queue.push_back(next);
    }
  return queue.size() == elements.size() ? length : std::vector<std::uint32_t>{};
}

}  // namespace

TEST_CASE("characters modulo a prime agree with real matrices, for every group of at most 24 elements") {
  for (std::uint32_t order_of_group = 1; order_of_group <= 24; ++order_of_group)
    for (const PermutationGroup& group : groups_of_order(order_of_group)) {
      CAPTURE(recognised_name(group));
      const GroupElements elements = GroupElements::enumerate(group);
      const CharacterTable table = CharacterTable::of(group);
      CHECK(by_characters(elements, table) == by_matrices(elements));
      std::uint64_t regular = 0;
      for (const RealIrreducible& block : table.real_irreducibles()) {
        const std::uint32_t field = block.indicator == 1 ? 1 : block.indicator == 0 ? 2 : 4;
        regular += std::uint64_t{block.dimension} * block.dimension / field;
      }
      CHECK(regular == order_of_group);  // Wedderburn: the real group algebra
    }
}

TEST_CASE("in a reflection group the codimension of the fixed space is the length in reflections (Carter)") {
  std::vector<PermutationGroup> groups;
  for (std::uint32_t order_of_group = 2; order_of_group <= 24; ++order_of_group)
    for (PermutationGroup& group : groups_of_order(order_of_group)) groups.push_back(std::move(group));
  for (const char* name : {"S5", "A5xZ2", "S4xZ2", "Z2 wr S3"}) groups.push_back(named_group(name));
  std::size_t found = 0;
  for (const PermutationGroup& group : groups) {
    const GroupElements elements = GroupElements::enumerate(group);
    const CharacterTable table = CharacterTable::of(group);
    for (const RealIrreducible& block : table.real_irreducibles()) {
      std::vector<ElementIndex> reflections;
      std::vector<std::uint32_t> moved;
      for (ElementIndex e = 0; e < elements.size(); ++e) {
        moved.push_back(block.moved[table.class_of(elements[e])]);
        if (moved.back() == 1) reflections.push_back(e);
      }
      if (std::ranges::count(moved, 0U) > 1) continue;
      const std::vector<std::uint32_t> lengths = word_lengths(elements, reflections);
      if (lengths.empty()) continue;
      CHECK(lengths == moved);
      ++found;
    }
  }
  CHECK(found >= 20);  // dihedral groups, S_4, S_5, H_3, B_3 among them
}

TEST_CASE("least faithful dimensions of known groups") {
  struct Fact {
    const char* group;
    std::uint64_t dimension;
  };
  for (const auto& [name, dimension] :
       {Fact{"Z2", 1},   {"Z3", 2},         {"Z2^3", 3}, {"Z2xZ4", 3}, {"Z3xZ3", 4}, {"Z6xZ2", 3}, {"S3", 2},
        {"D7", 2},       {"Q8", 4},         {"Q12", 4},  {"Q16", 4},   {"A4", 3},    {"S4", 3},    {"A4xZ2", 3},
        {"F20", 4},      {"F21", 6},        {"A5", 3},   {"A5xZ2", 3}, {"S5", 4},    {"S6", 5},    {"A6", 5},
        {"PSL(2,7)", 6}, {"PSL(2,11)", 10}, {"M11", 10}, {"D4xZ2", 3}, {"D4xZ4", 4}, {"S3xS3", 4}, {"Q8xZ3", 4}}) {
    CAPTURE(name);
    CHECK(least_faithful_dimension(CharacterTable::of(named_group(name))).value == dimension);
  }
  CHECK_THROWS_AS(CharacterTable::of(named_group("Z65")), LimitError);
  CHECK_NOTHROW(CharacterTable::of(named_group("Z64")));
}

TEST_CASE("the formula for abelian groups agrees with their characters") {
  for (std::uint32_t order_of_group = 1; order_of_group <= 31; ++order_of_group)
    for (const PermutationGroup& group : groups_of_order(order_of_group))
      if (is_abelian(group))
        CHECK(least_faithful_dimension(abelian_invariants(group)) ==
              least_faithful_dimension(CharacterTable::of(group)).value);
}

TEST_CASE("least reflections against every set of irreducibles") {
  for (std::uint32_t order_of_group = 1; order_of_group <= 24; ++order_of_group)
    for (const PermutationGroup& group : groups_of_order(order_of_group)) {
      const CharacterTable table = CharacterTable::of(group);
      const std::vector<RealIrreducible> blocks = table.real_irreducibles();
      if (blocks.size() > 14) continue;
      const std::vector<Permutation> letters = group.generator_values();
      std::uint32_t least = UINT32_MAX, least_dimension = UINT32_MAX;
      for (std::uint32_t set = 0; set < (1U << blocks.size()); ++set) {
        std::uint64_t kernel = UINT64_MAX >> (64 - table.classes());
        std::uint32_t dimension = 0, most = 0;
        std::vector<std::uint32_t> moved(letters.size(), 0);
        for (std::size_t i = 0; i < blocks.size(); ++i) {
          if (!(set >> i & 1)) continue;
          kernel &= blocks[i].kernel;
          dimension += blocks[i].dimension;
          for (std::size_t l = 0; l < letters.size(); ++l) moved[l] += blocks[i].moved[table.class_of(letters[l])];
        }
        for (const std::uint32_t m : moved) most = std::max(most, m);
        if (kernel == 1) least = std::min(least, most), least_dimension = std::min(least_dimension, dimension);
      }
      CAPTURE(recognised_name(group));
      CHECK(least_reflections(table, letters).value == least);
      CHECK(least_faithful_dimension(table).value == least_dimension);
    }
}

TEST_CASE("reflections of known letters") {
  const auto least = [](const char* group, std::vector<const char*> letters) {
    const PermutationGroup g = named_group(group);
    std::vector<Permutation> values;
    for (const char* letter : letters) values.push_back(parse_cycles(letter, g.degree()));
    return least_reflections(CharacterTable::of(g), values).value;
  };
  CHECK(least("S5", {"(1 2)", "(2 3)", "(3 4)", "(4 5)"}) == 1);
  CHECK(least("S5", {"(1 2)", "(1 2 3 4 5)"}) == 4);
  CHECK(least("A5", {"(1 2 3)", "(3 4 5)"}) == 2);  // rotations of the icosahedron; on five points too
  CHECK(least("A5", {"(1 2)(3 4)", "(1 2 3 4 5)"}) == 2);
  CHECK(least("Z6", {"(1 2 3 4 5 6)"}) == 2);
}

namespace {

/// Orthogonal matrices that move codewords as the generators move points, and codewords that tell points apart.
void require_representation(const PermutationGroup& group, const OrthogonalRepresentation& r) {
  const auto n = static_cast<Eigen::Index>(r.dimension());
  REQUIRE(r.generators.size() == group.generators().size());
  double least = 3;
  for (std::size_t i = 0; i < r.codewords.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (r.point_of[i] != r.point_of[j]) least = std::min(least, (r.codewords[i] - r.codewords[j]).norm());
  CHECK(least == doctest::Approx(r.least_distance));
  for (std::size_t g = 0; g < r.generators.size(); ++g) {
    const Eigen::MatrixXd& m = r.generators[g];
    REQUIRE((m * m.transpose() - Eigen::MatrixXd::Identity(n, n)).norm() < 1e-10);
    for (std::size_t i = 0; i < r.codewords.size(); ++i) {
      const Eigen::VectorXd moved = m * r.codewords[i];
      std::size_t nearest = 0;
      for (std::size_t j = 0; j < r.codewords.size(); ++j)
        if ((moved - r.codewords[j]).norm() < (moved - r.codewords[nearest]).norm()) nearest = j;
      REQUIRE((moved - r.codewords[nearest]).norm() < 1e-9);
      REQUIRE(r.point_of[nearest] == group.generators()[g].value[r.point_of[i]]);
    }
  }
}

}  // namespace

TEST_CASE("the smallest separating representations of known groups") {
  struct Fact {
    const char* group;
    std::uint32_t dimension, most_reflections;
    std::size_t codewords;
    double distance;
  };
  for (const Fact& fact : {Fact{"S3", 2, 2, 3, std::sqrt(3.0)},
                           {"S4", 3, 3, 4, std::sqrt(8.0 / 3)},
                           {"S5", 4, 4, 5, std::sqrt(2.5)},
                           {"S6", 5, 5, 6, std::sqrt(2.4)},
                           {"A5", 3, 2, 20, 0.7136441795},  // the edge of a dodecahedron
                           {"D4", 2, 2, 4, std::sqrt(2.0)},
                           {"D8", 2, 2, 8, 0.7653668647},
                           {"Z7", 2, 2, 7, 0.8677674782},
                           {"Q8", 4, 4, 8, std::sqrt(2.0)},
                           {"PSL(3,2)", 6, 6, 7, std::sqrt(7.0 / 3)}}) {
    CAPTURE(fact.group);
    const PermutationGroup group = named_group(fact.group);
    const OrthogonalRepresentation r = smallest_separating_representation(group, 0);
    require_representation(group, r);
    CHECK(r.dimension() == fact.dimension);
    CHECK(*std::max_element(r.reflections.begin(), r.reflections.end()) == fact.most_reflections);
    CHECK(r.codewords.size() == fact.codewords);
    CHECK(r.least_distance == doctest::Approx(fact.distance));
  }
}

TEST_CASE("S_5 on six points needs four dimensions, not five, and 120 codewords") {
  // PGL(2,5) on the projective line: x + 1, 2x, −1/x.
  const auto group = PermutationGroup::from_generators(
      6, {parse_cycles("(1 2 3 4 5)", 6), parse_cycles("(2 3 5 4)", 6), parse_cycles("(1 6)(2 5)", 6)});
  const OrthogonalRepresentation r = smallest_separating_representation(group, 0);
  require_representation(group, r);
  CHECK(r.dimension() == 4);
  CHECK(*std::max_element(r.reflections.begin(), r.reflections.end()) == 4);
  CHECK(r.codewords.size() <= 120);
  CHECK(r.least_distance > 0.36);
}

TEST_CASE("Z_2 × Z_4 in three dimensions") {
  const PermutationGroup group = named_group("Z2xZ4");
  const GroupElements elements = GroupElements::enumerate(group);
  std::vector<Permutation> regular;
  for (std::size_t g = 0; g < group.generators().size(); ++g) {
    std::vector<Point> images;
    for (ElementIndex e = 0; e < elements.size(); ++e) images.push_back(elements.times_generator(e, g));
    regular.push_back(Permutation::from_images(std::move(images)));
  }
  const PermutationGroup acting = PermutationGroup::from_generators(elements.size(), std::move(regular));
  const OrthogonalRepresentation r = smallest_separating_representation(acting, 0);
  require_representation(acting, r);
  CHECK(r.dimension() == 3);
  CHECK(r.codewords.size() == 8);
  CHECK(r.least_distance > 1.13);
}

TEST_CASE("real characters: norm 1, 2 or 4, orthogonal to each other, and as many dimensions as the group allows") {
  for (const char* name : {"S3", "S4", "A5", "Q8", "D5", "Z5", "Z2xZ4"}) {
    CAPTURE(name);
    const PermutationGroup group = named_group(name);
    const GroupElements elements = GroupElements::enumerate(group);
    std::vector<std::vector<double>> characters;
    for (const IrreducibleBlock& block : irreducible_blocks(elements, 400, 1)) characters.push_back(block.character);
    const double size = static_cast<double>(elements.size());
    double regular = 0;
    for (std::size_t i = 0; i < characters.size(); ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        double product = 0;
        for (std::size_t e = 0; e < characters[i].size(); ++e) product += characters[i][e] * characters[j][e];
        product /= size;
        if (i != j) {
          CHECK(std::abs(product) < 1e-6);
          continue;
        }
        const double type = std::round(product);
        CHECK(product == doctest::Approx(type));
        CHECK((type == 1 || type == 2 || type == 4));
        regular += characters[i][0] * characters[i][0] / type;
      }
    CHECK(regular == doctest::Approx(size));  // the regular representation holds every block: Σ χ(1)²/⟨χ,χ⟩ = |G|
  }
}

TEST_CASE("limits") {
  CHECK_THROWS_AS(smallest_separating_representation(named_group("S5"), 0, RepresentationOptions{.max_order = 100}),
                  LimitError);
}
