#include "krohn/constructions/actions/congruence.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "krohn/constructions/actions/abelian_structure.h"
#include "krohn/groups/error.h"
#include "tests/constructions/sample_automata.h"

using namespace krohn;

namespace {

/// All partitions of so many points, each numbered in the order of first points.
std::vector<Congruence> all_partitions(Point points) {
  std::vector<Congruence> partitions{{}};
  for (Point point = 0; point < points; ++point) {
    std::vector<Congruence> longer;
    for (const Congruence& partition : partitions)
      for (Point name = 0; name <= class_count(partition); ++name) {
        longer.push_back(partition);
        longer.back().push_back(name);
      }
    partitions = std::move(longer);
  }
  return partitions;
}

bool refines(const Congruence& fine, const Congruence& coarse) {
  for (std::size_t p = 0; p < fine.size(); ++p)
    for (std::size_t q = 0; q < p; ++q)
      if (fine[p] == fine[q] && coarse[p] != coarse[q]) return false;
  return true;
}

std::vector<Transformation> maps_of(const Dfa& automaton) {
  std::vector<Transformation> maps;
  for (Letter letter = 0; letter < automaton.letters(); ++letter) maps.push_back(automaton.letter_map(letter));
  return maps;
}

bool is_congruence(const Congruence& partition, const std::vector<Transformation>& maps) {
  for (const Transformation& map : maps)
    for (std::size_t p = 0; p < partition.size(); ++p)
      for (std::size_t q = 0; q < p; ++q)
        if (partition[p] == partition[q] &&
            partition[map[static_cast<Point>(p)]] != partition[map[static_cast<Point>(q)]])
          return false;
  return true;
}

}  // namespace

TEST_CASE("join and meet are the bounds of the lattice of partitions") {
  for (const Point points : {1, 2, 3, 5}) {
    const std::vector<Congruence> all = all_partitions(points);
    for (const Congruence& a : all)
      for (const Congruence& b : all) {
        const Congruence above = join(a, b), below = meet(a, b);
        REQUIRE(std::ranges::count(all, above) == 1);  // canonical
        REQUIRE(std::ranges::count(all, below) == 1);
        for (const Congruence& c : all) {
          REQUIRE((refines(a, c) && refines(b, c)) == refines(above, c));
          REQUIRE((refines(c, a) && refines(c, b)) == refines(c, below));
        }
      }
  }
}

TEST_CASE("a meet of many classes") {
  const Point points = 5000;
  Congruence a(points), b(points);
  for (Point p = 0; p < points; ++p) a[p] = p / 50, b[p] = p % 50;
  CHECK(class_count(meet(a, b)) == points);
  CHECK(class_count(join(a, b)) == 1);
}

TEST_CASE("a pair generates the finest congruence that holds it") {
  for (const Dfa& automaton :
       {counter(6, {1}), word_problem("S3", "standard"), ends_in_abb(), random_automaton(3, 6, 1)}) {
    const std::vector<Transformation> maps = maps_of(automaton);
    const Point n = automaton.states();
    for (Point p = 0; p < n; ++p)
      for (Point q = 0; q < n; ++q) {
        const Congruence generated = congruence_generated_by(maps, p, q);
        REQUIRE(is_congruence(generated, maps));
        for (const Congruence& partition : all_partitions(n))
          if (partition[p] == partition[q] && is_congruence(partition, maps)) REQUIRE(refines(generated, partition));
      }
  }
}

TEST_CASE("mirrored points generate the same congruence, and pairs with 0 generate all") {
  for (const Dfa& automaton :
       {counter(12, {1}), counter(12, {3, 4}), word_problem("S4", "standard"), word_problem("D6", "standard"),
        point_action("S5", "transpositions"), word_problem("A5", "standard")}) {
    const std::vector<Transformation> maps = maps_of(automaton);
    const Point n = automaton.states();
    const MirroredPoints mirrored(maps);
    CHECK(mirrored[0] == 0);
    std::vector<Congruence> with_0;
    for (Point q = 1; q < n; ++q) {
      with_0.push_back(congruence_generated_by(maps, 0, q));
      REQUIRE(congruence_generated_by(maps, 0, mirrored[q]) == with_0.back());
    }
    for (Point p = 1; p < std::min(n, Point{20}); ++p)
      for (Point q = p + 1; q < n; ++q) REQUIRE(std::ranges::count(with_0, congruence_generated_by(maps, p, q)) > 0);
  }
}

TEST_CASE("a structure is abelian exactly when all letters commute, those that keep the initial state too") {
  // Reachable automata of three states and two letters that permute them, and the binary numbers that three divides.
  const std::vector<std::vector<State>> permutations{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  int refused = 0;
  for (const auto& f : permutations)
    for (const auto& g : permutations) {
      const Dfa automaton = automaton_of_maps({f, g});
      const TrackedStates tracked = tracked_states(automaton);
      if (tracked.count() < 3) continue;
      bool commute = true;
      for (State q = 0; q < 3; ++q) commute = commute && f[g[q]] == g[f[q]];
      if (commute) {
        CHECK(abelian_structure(automaton, tracked).of_state.size() == 3);
      } else {
        ++refused;
        CHECK_THROWS_AS(abelian_structure(automaton, tracked), InputError);
      }
    }
  CHECK(refused > 10);
}
