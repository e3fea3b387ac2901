#include "krohn/groups/permutations/stabiliser_chain.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "krohn/groups/error.h"
#include "krohn/groups/names/named_group.h"
#include "krohn/groups/permutations/giant.h"
#include "krohn/groups/permutations/random_permutation.h"
#include "krohn/groups/permutations/reference_stabiliser_chain.h"
#include "krohn/groups/permutations/stabilisers.h"
#include "tests/groups/random_groups.h"

using namespace krohn;

TEST_CASE("orders of large groups are exact") {
  CHECK(order(named_group("M24")) == 244823040);
  CHECK(order(named_group("M12")) == 95040);
  CHECK(order(named_group("Rubik")).str() == "43252003274489856000");
  CHECK(order(named_group("S100")) == factorial(100));
  CHECK(StabiliserChain(named_group("S100")).order() == factorial(100));
  CHECK(order(named_group("A1000")) == factorial(1000) / 2);
  Integer wreath = factorial(10);
  for (int i = 0; i < 10; ++i) wreath *= factorial(10);
  CHECK(order(named_group("S10wrS10")) == wreath);
}

TEST_CASE("giants are found, and nothing else is taken for one") {
  for (const char* name : {"S2", "S3", "A3", "S7", "A7", "S8", "A8", "A9", "S24", "A24", "S1000", "A1001"}) {
    CAPTURE(name);
    const std::optional<Giant> giant = find_giant(named_group(name));
    REQUIRE(giant);
    CHECK(giant->symmetric == (name[0] == 'S'));
    CHECK(std::to_string(giant->points) == name + 1);
  }
  for (const char* name : {"S1", "Z5", "D4", "PSL(2,7)", "PGL(2,7)", "M11", "M12", "M23", "M24", "S5xS5", "S8wrS2",
                           "AGL(1,11)", "Rubik", "Z30"}) {
    CAPTURE(name);
    CHECK_FALSE(find_giant(named_group(name)));
  }
  const auto moved = PermutationGroup::from_generators(
      20, {parse_cycles("(3 5)", 20), parse_cycles("(5 7 9 11)", 20), parse_cycles("(11 13 15 17 19)", 20)});
  REQUIRE(find_giant(moved));
  CHECK(find_giant(moved)->name() == "S_9");
  CHECK(order(moved) == factorial(9));
}

TEST_CASE("random groups: the chain agrees with the deterministic reference") {
  Random random(41);
  for (int round = 0; round < 150; ++round) {
    CAPTURE(round);
    const PermutationGroup group = random_group(12, random);
    const StabiliserChain chain(group);
    const ReferenceStabiliserChain reference(group);
    CHECK(chain.order() == reference.order());
    CHECK(order(group) == reference.order());
    for (int i = 0; i < 20; ++i) {
      const Permutation p = random_permutation(group.degree(), random);
      CHECK(chain.contains(p) == reference.contains(p));
      CHECK(reference.contains(chain.random_element(random)));
    }
  }
  for (const char* name : {"M11", "M12", "PSL(2,11)", "S4wrS2", "Z2^6", "Q16"}) {
    CAPTURE(name);
    CHECK(ReferenceStabiliserChain(named_group(name)).order() == order(named_group(name)));
  }
}

TEST_CASE("a chain starts with the base that is asked for") {
  const PermutationGroup m12 = named_group("M12");
  const std::vector<Point> first{7, 3, 11};
  const StabiliserChain chain(m12, {.first_base = first});
  const std::vector<Point> base = chain.base();
  CHECK(std::equal(first.begin(), first.end(), base.begin()));
  CHECK(chain.order() == 95040);
  const std::vector<Point> redundant{0, 1, 2, 3, 4};
  CHECK(StabiliserChain(named_group("Z5"), {.first_base = redundant}).base() == redundant);
  const std::vector<Point> twice{1, 1}, outside{12};
  CHECK_THROWS_AS(StabiliserChain(m12, {.first_base = twice}), InputError);
  CHECK_THROWS_AS(StabiliserChain(m12, {.first_base = outside}), InputError);
}

TEST_CASE("stabilisers of points, sets and blocks are what filtering the elements gives") {
  Random random(43);
  for (int round = 0; round < 80; ++round) {
    CAPTURE(round);
    const PermutationGroup group = random_group(7, random);
    std::vector<Point> points;
    for (Point p = 0; p < group.degree(); ++p)
      if (random.below(3) == 0) points.push_back(p);
    random.shuffle(std::span(points));
    const BlockSystem system =
        finest_block_system(group, static_cast<Point>(random.below(group.degree())), group.degree() - 1);
    const auto in_points = [&](Point p) { return std::find(points.begin(), points.end(), p) != points.end(); };
    const StabiliserChain pointwise(pointwise_stabiliser(group, points)), setwise(set_stabiliser(group, points)),
        kernel(kernel_on_blocks(group, system));
    std::size_t fixing = 0, keeping = 0, inside = 0;
    for (const Permutation& g : elements_by_closure(group)) {
      const bool fixes = std::all_of(points.begin(), points.end(), [&](Point p) { return g[p] == p; });
      const bool keeps = std::all_of(points.begin(), points.end(), [&](Point p) { return in_points(g[p]); });
      bool blocks = true;
      for (Point p = 0; p < group.degree(); ++p) blocks = blocks && system.block_of[p] == system.block_of[g[p]];
      CHECK(pointwise.contains(g) == fixes);
      CHECK(setwise.contains(g) == keeps);
      CHECK(kernel.contains(g) == blocks);
      fixing += fixes;
      keeping += keeps;
      inside += blocks;
    }
    CHECK(pointwise.order() == fixing);
    CHECK(setwise.order() == keeping);
    CHECK(kernel.order() == inside);
  }
  CHECK(order(point_stabiliser(named_group("M24"), 5)) == 10200960);
  const std::vector<Point> octad{0, 1, 2};
  CHECK(order(set_stabiliser(named_group("M24"), octad)) == 244823040 / 2024);
  const std::vector<Point> many{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  CHECK_THROWS_AS(set_stabiliser(named_group("S20"), many, 1000), LimitError);
}
