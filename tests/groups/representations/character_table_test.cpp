#include "krohn/groups/representations/character_table.h"

#include <doctest/doctest.h>

#include <Eigen/Core>
#include <algorithm>
#include <set>

#include "krohn/groups/error.h"
#include "krohn/groups/linear/decompositions.h"
#include "krohn/groups/names/named_group.h"
#include "krohn/groups/names/recognise.h"
#include "krohn/groups/representations/irreducible_blocks.h"
#include "krohn/groups/representations/least_representation.h"
#include "krohn/groups/structure/abelian_invariants.h"
#include "krohn/groups/structure/small_groups.h"

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
