#include "krohn/groups/names/named_group.h"
#include "krohn/groups/permutations/group_elements.h"
#include "krohn/groups/permutations/permutation.h"
#include "krohn/groups/permutations/stabiliser_chain.h"
#include "krohn/groups/permutations/stabilisers.h"
#include "krohn/groups/structure/composition.h"
#include "tests/groups/transitive_groups.h"
#include "tests/testing.h"

using namespace krohn;

TEST_CASE("orders and degrees of named groups") {
  struct Fact {
    const char* name;
    Point degree;
    const char* order;
    bool abelian, transitive;
  };
  for (const Fact& fact :
       {Fact{"S0", 0, "1", true, true},
        Fact{"S1", 1, "1", true, true},
        Fact{"S2", 2, "2", true, true},
        Fact{"S5", 5, "120", false, true},
        Fact{"s_5", 5, "120", false, true},
        Fact{"A0", 0, "1", true, true},
        Fact{"A2", 2, "1", true, false},
        Fact{"A3", 3, "3", true, true},
        Fact{"A4", 4, "12", false, true},
        Fact{"A5", 5, "60", false, true},
        Fact{"A6", 6, "360", false, true},
        Fact{"A9", 9, "181440", false, true},
        Fact{"Z1", 1, "1", true, true},
        Fact{"Z60", 60, "60", true, true},
        Fact{"C7", 7, "7", true, true},
        Fact{"D1", 2, "2", true, true},
        Fact{"D2", 4, "4", true, true},
        Fact{"D3", 3, "6", false, true},
        Fact{"D4", 4, "8", false, true},
        Fact{"D8", 8, "16", false, true},
        Fact{"V4", 4, "4", true, true},
        Fact{"Q8", 8, "8", false, true},
        Fact{"Q12", 12, "12", false, true},
        Fact{"Q16", 16, "16", false, true},
        Fact{"F20", 5, "20", false, true},
        Fact{"F21", 7, "21", false, true},
        Fact{"F6", 3, "6", false, true},
        Fact{"AGL(1,7)", 7, "42", false, true},
        Fact{"AGL(1,2)", 2, "2", true, true},
        Fact{"PSL(2,2)", 3, "6", false, true},
        Fact{"PSL(2,3)", 4, "12", false, true},
        Fact{"PSL(2,5)", 6, "60", false, true},
        Fact{"psl(2, 7)", 8, "168", false, true},
        Fact{"PSL(2,11)", 12, "660", false, true},
        Fact{"PGL(2,5)", 6, "120", false, true},
        Fact{"PGL(2,7)", 8, "336", false, true},
        Fact{"GL(3,2)", 7, "168", false, true},
        Fact{"PSL(3,2)", 7, "168", false, true},
        Fact{"M11", 11, "7920", false, true},
        Fact{"M12", 12, "95040", false, true},
        Fact{"M22", 22, "443520", false, true},
        Fact{"M23", 23, "10200960", false, true},
        Fact{"M24", 24, "244823040", false, true},
        Fact{"Rubik", 48, "43252003274489856000", false, false},
        Fact{"Z2xZ4", 6, "8", true, false},
        Fact{"S3 x Z2", 5, "12", false, false},
        Fact{"Z2^3", 6, "8", true, false},
        Fact{"S2wrS3", 6, "48", false, true},
        Fact{"S3≀Z2", 6, "72", false, true},
        Fact{"(Z2xZ2)wrZ3", 12, "192", false, false},
        Fact{"Z2wr(Z2xZ2)", 8, "64", false, false},
        Fact{"Z3×Z5", 8, "15", true, false},
        Fact{"S52", 52, "80658175170943878571660636856403766975289505440883277824000000000000", false, true}}) {
    CAPTURE(fact.name);
    const PermutationGroup group = named_group(fact.name);
    CHECK(group.degree() == fact.degree);
    CHECK(order(group).str() == fact.order);
    CHECK(is_abelian(group) == fact.abelian);
    CHECK(is_transitive(group) == fact.transitive);
    CHECK(is_group_name(fact.name));
    CHECK(named_group(group.name()) == group);
  }
}

TEST_CASE("wrong names say where and what was meant") {
  for (const char* name :
       {"",   "S",   "SS5", "S5x",      "xS5",      "S5xx5",    "(S5",      "S5)",    "Z0",   "D0",      "Q10", "Q4",
        "V5", "F15", "M13", "PSL(2,4)", "PSL(4,2)", "PGL(3,2)", "AGL(2,3)", "PSL(2)", "Z2^0", "Z2^1001", "W5"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(named_group(name), InputError);
  }
  CHECK_THROWS_AS(named_group("S99999999999999999999"), LimitError);
  CHECK_THROWS_AS(named_group("S1000000wrS11"), LimitError);
  CHECK_THROWS_AS(named_group(std::string(100'000, '(')), InputError);
  CHECK(test::contains(test::error_of<Error>([] { named_group("rubic"); }), "rubik"));
  CHECK(test::contains(test::error_of<Error>([] { named_group("Z2 x W4"); }), "column 6"));
}

TEST_CASE("bases have the lengths that MATH.md §2 counts on") {
  struct Fact {
    const char* name;
    std::size_t length;
  };
  for (const Fact& fact : {Fact{"S5", 4}, Fact{"S8", 7}, Fact{"A5", 3}, Fact{"Z60", 1}, Fact{"Q8", 1}, Fact{"D8", 2},
                           Fact{"Z2xZ4", 2}, Fact{"S1", 0}, Fact{"M12", 5}, Fact{"M24", 7}}) {
    CAPTURE(fact.name);
    CHECK(StabiliserChain(named_group(fact.name)).base().size() == fact.length);
  }
}

TEST_CASE("degenerate generators: none, identities, repetitions") {
  const Permutation e = Permutation::identity(4), swap = parse_cycles("(1 2)", 4);
  CHECK(order(PermutationGroup::from_generators(4, {})) == 1);
  CHECK(order(PermutationGroup::from_generators(4, {e, e})) == 1);
  CHECK(order(PermutationGroup::from_generators(4, {e, swap, swap})) == 2);
  CHECK(order(PermutationGroup::from_generators(4, {e})) == 1);
  CHECK(order(PermutationGroup::from_generators(9, {parse_cycles("(1 2 3 4)(5 6 7 8 9)", 9)})) == 20);
  CHECK(order(PermutationGroup::from_generators(0, {Permutation::identity(0)})) == 1);
  CHECK(GroupElements::enumerate(PermutationGroup::from_generators(0, {})).size() == 1);
  CHECK(GroupElements::enumerate(PermutationGroup::from_generators(1, {})).size() == 1);
  CHECK_THROWS_AS(PermutationGroup::from_generators(4, {Permutation::identity(5)}), InputError);
  CHECK_THROWS_AS(StabiliserChain(named_group("S5")).contains(Permutation::identity(4)), InputError);
}

TEST_CASE("elements stand in order, words are shortest products, tables are products") {
  for (const char* name : {"S4", "D4", "Q8", "Z12", "Z2xZ4", "A4", "F20", "S3xZ2"}) {
    CAPTURE(name);
    const GroupElements elements = GroupElements::enumerate(named_group(name));
    const auto generators = elements.group().generators();
    CHECK(elements[0].is_identity());
    for (ElementIndex e = 1; e < elements.size(); ++e) CHECK(elements[e - 1] < elements[e]);
    const auto table = elements.cayley_table();
    std::set<std::string> names;
    for (ElementIndex e = 0; e < elements.size(); ++e) {
      names.insert(elements.name(e));
      Permutation product = Permutation::identity(elements.group().degree());
      for (const std::uint32_t letter : elements.word(e)) product = product * generators[letter].value;
      CHECK(product == elements[e]);
      for (ElementIndex f = 0; f < elements.size(); ++f)
        CHECK(elements[table[e * elements.size() + f]] == elements[e] * elements[f]);
      for (std::size_t g = 0; g < generators.size(); ++g) {
        CHECK(elements[elements.times_generator(e, g)] == elements[e] * generators[g].value);
        CHECK(elements.word(elements.times_generator(e, g)).size() <= elements.word(e).size() + 1);
      }
    }
    CHECK(names.size() == elements.size());
    const std::vector<ElementIndex> factors{1, 0, elements.size() - 1};
    const auto columns = elements.right_multiplication(factors);
    for (ElementIndex e = 0; e < elements.size(); ++e)
      for (std::size_t i = 0; i < 3; ++i) CHECK(columns[e * 3 + i] == table[e * elements.size() + factors[i]]);
  }
}

TEST_CASE("element names: residues, tuples, quaternions, cycles") {
  const auto names_of = [](const char* group) {
    const GroupElements elements = GroupElements::enumerate(named_group(group));
    std::vector<std::string> names;
    for (ElementIndex e = 0; e < elements.size(); ++e) names.push_back(elements.name(e));
    return names;
  };
  CHECK(names_of("Z4") == std::vector<std::string>{"0", "1", "2", "3"});
  CHECK(names_of("Z2xZ2") == std::vector<std::string>{"(0,0)", "(0,1)", "(1,0)", "(1,1)"});
  CHECK(names_of("S3") == std::vector<std::string>{"()", "(2 3)", "(1 2)", "(1 2 3)", "(1 3 2)", "(1 3)"});
  const GroupElements q8 = GroupElements::enumerate(named_group("Q8"));
  const auto at = [&](const char* name) {
    for (ElementIndex e = 0; e < 8; ++e)
      if (q8.name(e) == name) return q8[e];
    FAIL(name);
    return q8[0];
  };
  for (auto [a, b, c] : {std::array{"i", "j", "k"},
                         {"j", "k", "i"},
                         {"k", "i", "j"},
                         {"j", "i", "-k"},
                         {"i", "i", "-1"},
                         {"j", "j", "-1"},
                         {"k", "k", "-1"},
                         {"-1", "-1", "1"},
                         {"-i", "j", "-k"}})
    CHECK(at(a) * at(b) == at(c));
}

TEST_CASE("listing too many elements is refused with the exact order") {
  CHECK_THROWS_WITH_AS(GroupElements::enumerate(named_group("M24"), 1000),
                       doctest::Contains("M24 has 244,823,040 elements"), LimitError);
  CHECK_THROWS_AS(GroupElements::enumerate(named_group("S7")).cayley_table(1'000'000), LimitError);
  CHECK_THROWS_AS(StabiliserChain(named_group("S60"), {.max_entries = 1000}), LimitError);
}

TEST_CASE("generating sets by name") {
  struct Fact {
    const char *group, *set;
    std::size_t size;
  };
  for (const Fact& fact :
       {Fact{"S5", "standard", 2}, Fact{"S5", "all", 120}, Fact{"S5", "transpositions", 10}, Fact{"S5", "adjacent", 4},
        Fact{"S5", "swaps", 11}, Fact{"S5", "3-cycles", 20}, Fact{"S5", "swaps and 3-cycles", 31},
        Fact{"A5", "3-cycles", 20}, Fact{"S2xS3", "transpositions", 4}, Fact{"Z60", "all", 60},
        Fact{"S5", "(1 2),(1 2 3 4 5)", 2}, Fact{"S5", " (1 2) , (1,2,3) ", 2}, Fact{"Z60", "1,59", 2},
        Fact{"Q8", "i,j", 2}, Fact{"Z2xZ4", "(1,0),(0,1),(1,3)", 3}}) {
    CAPTURE(fact.group);
    CAPTURE(fact.set);
    const PermutationGroup group = named_group(fact.group);
    const auto set = generating_set(group, fact.set);
    CHECK(set.size() == fact.size);
    const StabiliserChain chain(group);
    for (const NamedPermutation& element : set) CHECK(chain.contains(element.value));
  }
  const PermutationGroup s5 = named_group("S5");
  for (const NamedPermutation& g : generating_set(s5, "swaps and 3-cycles")) {
    Point moved = 0;
    for (Point p = 0; p < 5; ++p) moved += g.value[p] != p;
    CHECK(moved <= 3);
  }
  CHECK(generating_set(s5, "swaps").front().name == "()");
  for (const char* set : {"transposition", "", "(1 6)", "(1 2", "(1 2),(1 2)", "(1 2),,", "7"}) {
    CAPTURE(set);
    CHECK_THROWS_AS(generating_set(s5, set), InputError);
  }
  CHECK_THROWS_AS(generating_set(named_group("A5"), "adjacent"), InputError);
  CHECK_THROWS_AS(generating_set(named_group("A5"), "transpositions"), InputError);
  CHECK_THROWS_AS(generating_set(named_group("A5"), "(1 2)"), InputError);
  CHECK_THROWS_AS(generating_set(named_group("M24"), "all"), LimitError);
}

TEST_CASE("edit distance and near misses") {
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("parity", "praity") == 1);
  const std::vector<std::string> known{"parity", "sum", "tomita"};
  CHECK(near_misses("prity", known) == std::vector<std::string>{"parity"});
  CHECK(near_misses("xyz", known).empty());
  CHECK(did_you_mean("sun", known) == " Did you mean \"sum\"?");
  // At every bound, and one past it.
  struct Fact {
    const char *typed, *known;
    bool near;
  };
  for (const auto& [typed, meant, near] :
       {Fact{"a", "a", true}, Fact{"b", "a", false}, Fact{"ab", "ax", true}, Fact{"ab", "xy", false},
        Fact{"abc", "abx", true}, Fact{"abc", "axy", false}, Fact{"abcd", "abxy", true}, Fact{"abcd", "axyz", false},
        Fact{"abcdefg", "abcdexy", true}, Fact{"abcdefg", "abcdxyz", false}, Fact{"abcdefgh", "abcdexyz", true},
        Fact{"abcdefgh", "abcdwxyz", false}, Fact{"ab", "abcdef", true}, Fact{"a", "abcdef", false},
        Fact{"--simple", "--sample", true}, Fact{"--simple", "--time", false}}) {
    CAPTURE(typed);
    CAPTURE(meant);
    CHECK(near_misses(typed, std::vector<std::string>{meant}).empty() == !near);
  }
  CHECK(near_misses("rot", std::vector<std::string>{"rotation-grid", "rotation", "r2"}) ==
        std::vector<std::string>{"rotation", "rotation-grid"});
}

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

/// The invariants of isomorphic groups.
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
