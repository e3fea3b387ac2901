#include "krohn/groups/permutations/block_systems.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "krohn/groups/error.h"
#include "krohn/groups/names/named_group.h"
#include "krohn/groups/permutations/stabilisers.h"
#include "tests/groups/random_groups.h"
#include "tests/groups/transitive_groups.h"

using namespace krohn;

namespace {

bool is_invariant(const PermutationGroup& group, const BlockSystem& system) {
  for (const NamedPermutation& g : group.generators())
    for (Point p = 0; p < group.degree(); ++p)
      for (Point q = 0; q < group.degree(); ++q)
        if ((system.block_of[p] == system.block_of[q]) != (system.block_of[g.value[p]] == system.block_of[g.value[q]]))
          return false;
  return true;
}

/// Every invariant partition of a few points, by trying all partitions.
std::vector<std::vector<Point>> all_invariant_partitions(const PermutationGroup& group) {
  std::vector<std::vector<Point>> found;
  std::vector<Point> block_of(group.degree(), 0);
  const auto choose = [&](auto&& self, Point point, Point blocks) -> void {
    if (point == group.degree()) {
      if (is_invariant(group, {blocks, block_of})) found.push_back(block_of);
      return;
    }
    for (Point block = 0; block <= blocks; ++block) {
      block_of[point] = block;
      self(self, point + 1, std::max(blocks, block + 1));
    }
  };
  choose(choose, 0, 0);
  return found;
}

}  // namespace

TEST_CASE("every transitive group of degree 2–8: primitive as GAP says") {
  for (const TransitiveGroup& row : transitive_groups()) {
    CAPTURE(row.label);
    CHECK(is_primitive(row.group) == row.primitive);
    CHECK(minimal_block_systems(row.group).empty() == row.primitive);
  }
}

TEST_CASE("minimal block systems are the minimal ones among all invariant partitions") {
  for (const TransitiveGroup& row : transitive_groups()) {
    if (row.group.degree() > 6) continue;
    CAPTURE(row.label);
    const auto all = all_invariant_partitions(row.group);
    const auto finer = [](const std::vector<Point>& a, const std::vector<Point>& b) {
      for (std::size_t p = 0; p < a.size(); ++p)
        for (std::size_t q = 0; q < a.size(); ++q)
          if (a[p] == a[q] && b[p] != b[q]) return false;
      return true;
    };
    const auto trivial = [](const std::vector<Point>& a) {
      const Point blocks = *std::max_element(a.begin(), a.end()) + 1;
      return blocks == 1 || blocks == a.size();
    };
    std::size_t minimal = 0;
    const std::vector<BlockSystem> systems = minimal_block_systems(row.group);
    for (const auto& a : all) {
      if (trivial(a) ||
          std::any_of(all.begin(), all.end(), [&](const auto& b) { return b != a && !trivial(b) && finer(b, a); }))
        continue;
      ++minimal;
      CHECK(std::any_of(systems.begin(), systems.end(), [&](const BlockSystem& s) { return s.block_of == a; }));
    }
    CHECK(systems.size() == minimal);
  }
}

TEST_CASE("block systems of known groups") {
  CHECK(minimal_block_systems(named_group("Z12")).size() == 2);
  CHECK(minimal_block_systems(named_group("V4")).size() == 3);
  CHECK(minimal_block_systems(named_group("S10wrS10")).front().blocks == 10);
  CHECK(order(action_on_blocks(named_group("S4wrS5"), minimal_block_systems(named_group("S4wrS5")).front())) == 120);
  CHECK(is_primitive(named_group("M24")));
  CHECK(is_primitive(named_group("S1")));
  CHECK_FALSE(is_primitive(named_group("Rubik")));
  CHECK_THROWS_AS(minimal_block_systems(named_group("S2xS2")), InputError);
  CHECK_THROWS_AS(finest_block_system(named_group("S3"), 0, 3), InputError);
  // Two orbits of three points that move together: the pairs are a partition too.
  const auto twice = PermutationGroup::from_generators(6, {parse_cycles("(1 2 3)(4 5 6)", 6)});
  CHECK(finest_block_system(twice, 0, 3).blocks == 3);
  CHECK(members(finest_block_system(twice, 0, 3)).front() == std::vector<Point>{0, 3});
}

TEST_CASE("random groups: the finest block system is invariant and joins the points") {
  Random random(59);
  for (int round = 0; round < 100; ++round) {
    const PermutationGroup group = random_group(12, random);
    const auto a = static_cast<Point>(random.below(group.degree())),
               b = static_cast<Point>(random.below(group.degree()));
    const BlockSystem system = finest_block_system(group, a, b);
    CHECK(system.block_of[a] == system.block_of[b]);
    CHECK(is_invariant(group, system));
  }
}
