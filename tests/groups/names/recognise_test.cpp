#include "krohn/groups/names/recognise.h"

#include <doctest/doctest.h>

#include <map>

#include "krohn/groups/names/named_group.h"
#include "krohn/groups/permutations/group_elements.h"
#include "krohn/groups/permutations/stabilisers.h"
#include "krohn/groups/structure/centre.h"
#include "krohn/groups/structure/conjugacy_classes.h"
#include "krohn/groups/structure/series.h"
#include "tests/groups/transitive_groups.h"

using namespace krohn;

namespace {

/// The regular action: the group on its own elements.
PermutationGroup regular(const PermutationGroup& group) {
  const GroupElements elements = GroupElements::enumerate(group);
  std::vector<Permutation> generators;
  for (std::size_t g = 0; g < group.generators().size(); ++g) {
    std::vector<Point> images;
    for (ElementIndex e = 0; e < elements.size(); ++e) images.push_back(elements.times_generator(e, g));
    generators.push_back(Permutation::from_images(std::move(images)));
  }
  return PermutationGroup::from_generators(elements.size(), std::move(generators));
}

/// What isomorphic groups agree on.
std::map<std::pair<std::uint64_t, std::uint64_t>, int> class_table(const PermutationGroup& group) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, int> table;
  for (const ConjugacyClass& one : conjugacy_classes(group)) ++table[{one.element_order, one.size}];
  return table;
}

/// The generators of SL(2,p) on the nonzero vectors.
PermutationGroup special_linear(Point p) {
  const auto act = [&](auto map) {
    std::vector<Point> images;
    for (Point v = 1; v < p * p; ++v) images.push_back(map(v / p, v % p) - 1);
    return Permutation::from_images(std::move(images));
  };
  return PermutationGroup::from_generators(p * p - 1, {act([&](Point x, Point y) { return (x + y) % p * p + y; }),
                                                       act([&](Point x, Point y) { return x * p + (x + y) % p; })});
}

}  // namespace

TEST_CASE("names of groups that users meet") {
  struct Fact {
    const char *group, *name;
  };
  for (const Fact& fact : {Fact{"S1", "trivial"},
                           {"Z6", "Z_6"},
                           {"Z2xZ3", "Z_6"},
                           {"V4", "V_4"},
                           {"D2", "V_4"},
                           {"Z2xZ4", "Z_2×Z_4"},
                           {"Z2^3", "Z_2^3"},
                           {"A3", "Z_3"},
                           {"S3", "S_3"},
                           {"D3", "S_3"},
                           {"PSL(2,2)", "S_3"},
                           {"D4", "D_4"},
                           {"S2wrS2", "D_4"},
                           {"Q8", "Q_8"},
                           {"Q12", "Q_12"},
                           {"Q16", "Q_16"},
                           {"D5", "D_5"},
                           {"S3xZ2", "D_6"},
                           {"D100", "D_100"},
                           {"A4", "A_4"},
                           {"PSL(2,3)", "A_4"},
                           {"S4", "S_4"},
                           {"PGL(2,3)", "S_4"},
                           {"F20", "AGL(1,5)"},
                           {"F21", "F_21"},
                           {"AGL(1,7)", "AGL(1,7)"},
                           {"F110", "AGL(1,11)"},
                           {"F55", "F_55"},
                           {"S5", "S_5"},
                           {"PGL(2,5)", "S_5"},
                           {"A5", "A_5"},
                           {"PSL(2,5)", "A_5"},
                           {"A6", "A_6"},
                           {"S6", "S_6"},
                           {"PSL(2,7)", "PSL(2,7)"},
                           {"GL(3,2)", "PSL(2,7)"},
                           {"PGL(2,7)", "PGL(2,7)"},
                           {"PSL(2,11)", "PSL(2,11)"},
                           {"PGL(2,11)", "PGL(2,11)"},
                           {"M11", "M_11"},
                           {"M12", "M_12"},
                           {"M22", "M_22"},
                           {"M23", "M_23"},
                           {"M24", "M_24"},
                           {"A8", "A_8"},
                           {"S1000", "S_1000"},
                           {"A4xZ2", "A_4×Z_2"},
                           {"S4xZ2", "S_4×Z_2"},
                           {"S3xS3", "S_3×S_3"},
                           {"A5xZ2xZ2", "A_5×V_4"},
                           {"S10wrS10", "S_10 wr S_10"},
                           {"S3wrS2", "S_3 wr Z_2"}}) {
    CAPTURE(fact.group);
    CHECK(recognised_name(named_group(fact.group)) == fact.name);
  }
  CHECK(recognised_name(special_linear(3)) == "SL(2,3)");
  CHECK(recognised_name(special_linear(5)) == "SL(2,5)");
  CHECK(recognised_name(special_linear(7)) == "SL(2,7)");
}

TEST_CASE("the name does not depend on the action") {
  for (const char* name :
       {"S3", "D4", "Q8", "A4", "S4", "F20", "F21", "A5", "S5", "PSL(2,7)", "S4xZ2", "S3xS3", "Q12"}) {
    CAPTURE(name);
    CHECK(recognised_name(regular(named_group(name))) == recognised_name(named_group(name)));
  }
}

TEST_CASE("every transitive group of degree 2–8: groups of one name look alike, and descriptions hold the order") {
  std::map<std::string, std::map<std::pair<std::uint64_t, std::uint64_t>, int>> tables;
  int named = 0;
  for (const TransitiveGroup& row : transitive_groups()) {
    CAPTURE(row.label);
    const std::string name = recognised_name(row.group);
    CAPTURE(name);
    if (name.starts_with("order ")) {
      CHECK(name.starts_with("order " + row.order + " with composition factors "));
      continue;
    }
    ++named;
    const auto table = class_table(row.group);
    CHECK(tables.emplace(name, table).first->second == table);
    // A name that names a group here must name one that looks the same.
    std::string asked = name;
    for (std::size_t at = 0; (at = asked.find("×", at)) != std::string::npos;) asked.replace(at, 2, "x");
    if (is_group_name(asked)) CHECK(class_table(named_group(asked)) == table);
  }
  CHECK(named >= 55);
}

TEST_CASE("the three groups between A_6 and its automorphisms are told apart") {
  // M_10 is the point stabiliser of M_11.
  CHECK(recognised_name(point_stabiliser(named_group("M11"), 0)) == "M_10");
  CHECK(recognised_name(regular(named_group("S6"))) == "S_6");
}
