#include "krohn/groups/names/named_group.h"
#include "krohn/groups/permutations/group_elements.h"
#include "krohn/groups/permutations/stabiliser_chain.h"
#include "krohn/groups/permutations/stabilisers.h"
#include "krohn/groups/structure/composition.h"
#include "tests/groups/random_groups.h"
#include "tests/groups/transitive_groups.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

Integer product_of(const std::vector<CompositionFactor>& factors) {
  Integer result = 1;
  for (const CompositionFactor& factor : factors) result *= factor.order;
  return result;
}

bool is_cyclic_of_prime_order(const CompositionFactor& factor) { return factor.name == "Z_" + factor.order.str(); }

}  // namespace

TEST_CASE("every transitive group of degree 2–8: order, elements, factors, solvable, abelian") {
  for (const TransitiveGroup& row : transitive_groups()) {
    CAPTURE(row.label);
    CHECK(order(row.group).str() == row.order);
    CHECK(elements_by_closure(row.group).size() == order(row.group));
    CHECK(GroupElements::enumerate(row.group).size() == order(row.group));
    CHECK(is_transitive(row.group));
    CHECK(is_solvable(row.group) == row.solvable);
    CHECK(is_abelian(row.group) == row.abelian);
    CHECK(is_trivial(derived_subgroup(row.group)) == row.abelian);
    if (!row.solvable) CHECK_THROWS_AS(CompositionSeries::of(row.group, 0), InputError);
    Integer product = 1;
    const CompositionSeries series = CompositionSeries::of(row.group, 20'160);
    bool all_cyclic = true;
    for (const CompositionSeries::Step& step : series.steps()) {
      product *= step.transversal.size();
      all_cyclic = all_cyclic && step.cyclic;
    }
    CHECK(product.str() == row.order);
    CHECK(all_cyclic == row.solvable);
    const std::vector<CompositionFactor> factors = composition_factors(row.group);
    CHECK(product_of(factors).str() == row.order);
    CHECK(std::all_of(factors.begin(), factors.end(), is_cyclic_of_prime_order) == row.solvable);
  }
}

TEST_CASE("coordinates name every element once, and quotients multiply as the Cayley table says") {
  for (const char* name : {"S4", "Q8", "D4", "Z12", "F20", "S3xZ4", "A5", "S5", "A5xZ4", "A5wrZ2", "PSL(2,7)"}) {
    CAPTURE(name);
    const PermutationGroup group = named_group(name);
    const CompositionSeries series = CompositionSeries::of(group, 168);
    const StabiliserChain chain(group);
    Random random(7);
    for (int i = 0; i < 50; ++i) {
      const Permutation g = chain.random_element(random);
      Permutation rest = g, rebuilt = Permutation::identity(group.degree());
      for (std::size_t step = 0; step < series.steps().size(); ++step) {
        const std::uint32_t b = series.coordinate(step, rest);
        REQUIRE(b < series.steps()[step].transversal.size());
        const Permutation& t = series.steps()[step].transversal[b];
        rest = rest * t.inverse();
        rebuilt = t * rebuilt;
        if (step > 0) continue;
        const Permutation h = chain.random_element(random);
        const auto order = series.steps()[0].transversal.size();
        CHECK(series.cayley_table(0)[b * order + series.coordinate(0, h)] == series.coordinate(0, g * h));
      }
      CHECK(rest.is_identity());
      CHECK(rebuilt == g);
    }
  }
}

TEST_CASE("a factor that is too large is refused by name") {
  CHECK_THROWS_WITH_AS(CompositionSeries::of(named_group("A5"), 0), doctest::Contains("A_5"), InputError);
  CHECK_THROWS_WITH_AS(CompositionSeries::of(named_group("A6"), 60), doctest::Contains("A_6"), InputError);
}

TEST_CASE("derived and lower central series of known groups") {
  const auto orders = [](const std::vector<PermutationGroup>& series) {
    std::vector<std::string> result;
    for (const PermutationGroup& term : series) result.push_back(order(term).str());
    return result;
  };
  using Orders = std::vector<std::string>;
  CHECK(orders(derived_series(named_group("S4"))) == Orders{"24", "12", "4", "1"});
  CHECK(orders(derived_series(named_group("S5"))) == Orders{"120", "60"});
  CHECK(orders(lower_central_series(named_group("D8"))) == Orders{"16", "4", "2", "1"});
  CHECK(orders(lower_central_series(named_group("S3"))) == Orders{"6", "3"});
}

TEST_CASE("there are as many groups of each order as the literature counts") {
  // OEIS A000001.
  const std::vector<std::size_t> counts{1,  1, 1, 2, 1, 2, 1, 5, 2,  2, 1, 5, 1, 2, 1,
                                        14, 1, 5, 1, 5, 2, 2, 1, 15, 2, 2, 5, 4, 1, 4};
  for (std::uint32_t order_of_group = 1; order_of_group <= counts.size(); ++order_of_group) {
    CAPTURE(order_of_group);
    const std::vector<PermutationGroup> groups = groups_of_order(order_of_group);
    CHECK(groups.size() == counts[order_of_group - 1]);
    for (const PermutationGroup& group : groups) {
      CHECK(group.degree() == order_of_group);
      CHECK(is_transitive(group));
      CHECK(order(group) == order_of_group);
    }
  }
  CHECK_THROWS_AS(groups_of_order(0), InputError);
  CHECK_THROWS_AS(groups_of_order(32), InputError);
}

TEST_CASE("the groups of order 8 and 12 have their names") {
  const auto names = [](std::uint32_t order_of_group) {
    std::set<std::string> result;
    for (const PermutationGroup& group : groups_of_order(order_of_group)) result.insert(recognised_name(group));
    return result;
  };
  CHECK(names(8) == std::set<std::string>{"Z_8", "Z_2×Z_4", "Z_2^3", "D_4", "Q_8"});
  CHECK(names(12) == std::set<std::string>{"Z_12", "Z_2×Z_6", "A_4", "D_6", "Q_12"});
}

namespace {

std::string factors_of(const char* name) { return to_string(composition_factors(named_group(name))); }

/// x ↦ xA + b on the vectors of Z_2^3, A ∈ GL(3,2).
PermutationGroup affine_of_dimension_three() {
  const auto map = [](auto image) {
    std::vector<Point> images;
    for (Point v = 0; v < 8; ++v) images.push_back(image(v));
    return Permutation::from_images(std::move(images));
  };
  return PermutationGroup::from_generators(
      8, {map([](Point v) { return v ^ 1; }), map([](Point v) { return v ^ ((v & 1) << 1); }),
          map([](Point v) { return ((v << 1) | (v >> 2)) & 7; })});
}

}  // namespace

TEST_CASE("composition factors of known groups") {
  struct Fact {
    const char *name, *factors;
  };
  for (const Fact& fact : {Fact{"S1", ""},
                           {"Z12", "Z_2^2, Z_3"},
                           {"S4", "Z_2^3, Z_3"},
                           {"S5", "Z_2, A_5"},
                           {"A5", "A_5"},
                           {"PSL(2,5)", "A_5"},
                           {"PGL(2,5)", "Z_2, A_5"},
                           {"PSL(2,7)", "PSL(2,7)"},
                           {"GL(3,2)", "PSL(2,7)"},
                           {"PGL(2,7)", "Z_2, PSL(2,7)"},
                           {"PSL(2,11)", "PSL(2,11)"},
                           {"PSL(2,23)", "PSL(2,23)"},
                           {"M11", "M_11"},
                           {"M12", "M_12"},
                           {"M22", "M_22"},
                           {"M23", "M_23"},
                           {"M24", "M_24"},
                           {"S5xZ6", "Z_2^2, Z_3, A_5"},
                           {"A5wrA5", "A_5^6"},
                           {"A8", "A_8"},
                           {"S1000", "Z_2, A_1000"},
                           {"Q16", "Z_2^4"},
                           {"Rubik", "Z_2^12, Z_3^7, A_8, A_12"}}) {
    CAPTURE(fact.name);
    CHECK(factors_of(fact.name) == fact.factors);
    CHECK(product_of(composition_factors(named_group(fact.name))) == order(named_group(fact.name)));
  }
  CHECK(to_string(composition_factors(affine_of_dimension_three())) == "Z_2^3, PSL(2,7)");
}

TEST_CASE("a group of order 20160 is told apart by its elements") {
  // PSL(3,4) on the 21 points of the plane over GF(4): the stabiliser in M_24 of three points.
  const std::vector<Point> three{0, 1, 2};
  const PermutationGroup linear = pointwise_stabiliser(named_group("M24"), three);
  REQUIRE(order(linear) == 20160);
  CHECK(to_string(composition_factors(linear)) == "PSL(3,4)");
  CHECK(simple_group_name(named_group("A8"), 20160) == "A_8");
}

TEST_CASE("orders in the table of simple groups are those of the formulas") {
  const auto gcd = [](std::uint64_t a, std::uint64_t b) { return std::gcd(a, b); };
  const auto power = [](std::uint64_t q, unsigned n) -> Integer { return boost::multiprecision::pow(Integer(q), n); };
  const PermutationGroup none = PermutationGroup::from_generators(1, {});
  for (const std::uint64_t q : {3, 5, 7, 8, 9}) {
    CAPTURE(q);
    const Integer linear = power(q, 3) * (power(q, 2) - 1) * (power(q, 3) - 1) / gcd(3, q - 1);
    CHECK(simple_group_name(none, linear) == "PSL(3," + std::to_string(q) + ")");
  }
  for (const std::uint64_t q : {3, 4, 5, 7, 8, 9, 11}) {
    CAPTURE(q);
    const Integer unitary = power(q, 3) * (power(q, 2) - 1) * (power(q, 3) + 1) / gcd(3, q + 1);
    CHECK(simple_group_name(none, unitary) == "PSU(3," + std::to_string(q) + ")");
  }
  for (const std::uint64_t q : {4, 5, 7}) {
    CAPTURE(q);
    const Integer symplectic = power(q, 4) * (power(q, 2) - 1) * (power(q, 4) - 1) / gcd(2, q - 1);
    CHECK(simple_group_name(none, symplectic) == "PSp(4," + std::to_string(q) + ")");
  }
  for (const std::uint64_t q : {8, 32})
    CHECK(simple_group_name(none, power(q, 2) * (power(q, 2) + 1) * (q - 1)) == "Sz(" + std::to_string(q) + ")");
  for (const std::uint64_t q : {7, 8, 11, 13, 16, 17, 19, 23, 25, 27, 1009}) {
    CAPTURE(q);
    const Integer size = Integer(q) * (q * q - 1) / gcd(2, q - 1);
    CHECK(simple_group_name(none, size) == "PSL(2," + std::to_string(q) + ")");
  }
  const Integer g2 = power(3, 6) * (power(3, 6) - 1) * (power(3, 2) - 1);
  CHECK(simple_group_name(none, g2) == "G_2(3)");
  CHECK(simple_group_name(none, power(2, 10) * 3 * 7 * 15 * 31) == "PSL(5,2)");
  CHECK(simple_group_name(none, power(3, 6) * 8 * 26 * 80 / 2) == "PSL(4,3)");
  CHECK(simple_group_name(none, power(2, 9) * 3 * 15 * 63) == "PSp(6,2)");
  CHECK(simple_group_name(none, factorial(30) / 2) == "A_30");
}

TEST_CASE("the centre is what filtering the elements gives") {
  Random random(61);
  const auto check = [](const PermutationGroup& group) {
    const StabiliserChain found(centre(group));
    std::size_t size = 0;
    for (const Permutation& z : elements_by_closure(group)) {
      const auto generators = group.generators();
      const bool central = std::all_of(generators.begin(), generators.end(),
                                       [&](const NamedPermutation& g) { return z * g.value == g.value * z; });
      size += central;
      CHECK(found.contains(z) == central);
    }
    CHECK(found.order() == size);
  };
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    check(random_group(7, random));
  }
  for (const TransitiveGroup& row : transitive_groups()) {
    CAPTURE(row.label);
    if (row.order.size() < 4) check(row.group);
  }
  for (const char* name : {"D4xD4", "Q8xS3", "D4xZ6", "Q12xQ8", "S3xS4"}) {
    CAPTURE(name);
    check(named_group(name));
  }
  // The diagonal of two quaternion groups: the centres of the orbits are larger than the centre.
  const auto q = named_group("Q8").generator_values();
  std::vector<Permutation> twice;
  for (const Permutation& g : q) {
    std::vector<Point> images(g.images().begin(), g.images().end());
    for (Point p = 0; p < 8; ++p) images.push_back(8 + g[p]);
    twice.push_back(Permutation::from_images(std::move(images)));
  }
  check(PermutationGroup::from_generators(16, twice));
  CHECK(order(centre(named_group("D4"))) == 2);
  CHECK(order(centre(named_group("Q8"))) == 2);
  CHECK(order(centre(named_group("D4^8"))) == 256);
  CHECK(order(centre(named_group("Rubik"))) == 2);
  CHECK(order(centre(named_group("M24"))) == 1);
}

TEST_CASE("conjugacy classes of known groups") {
  struct Fact {
    const char* name;
    std::size_t classes;
  };
  for (const Fact& fact : {Fact{"S1", 1},
                           {"Z7", 7},
                           {"S3", 3},
                           {"S4", 5},
                           {"S5", 7},
                           {"A5", 5},
                           {"A6", 7},
                           {"Q8", 5},
                           {"D4", 5},
                           {"D5", 4},
                           {"M11", 10},
                           {"PSL(2,7)", 6},
                           {"F21", 5},
                           {"S4xZ2", 10}}) {
    CAPTURE(fact.name);
    const PermutationGroup group = named_group(fact.name);
    const std::vector<ConjugacyClass> classes = conjugacy_classes(group);
    CHECK(classes.size() == fact.classes);
    CHECK(classes.front().representative.is_identity());
    Integer total = 0;
    for (const ConjugacyClass& one : classes) {
      total += one.size;
      CHECK(order(group) % one.size == 0);
      CHECK(one.element_order == one.representative.order());
    }
    CHECK(total == order(group));
  }
  CHECK_THROWS_AS(conjugacy_classes(named_group("M24")), LimitError);
  CHECK_THROWS_AS(conjugacy_classes(named_group("S5"), 100), LimitError);
}

TEST_CASE("abelian invariants, of groups and of what is left after dividing by commutators") {
  using Invariants = std::vector<Integer>;
  struct Fact {
    const char* name;
    Invariants invariants;
    const char* text;
  };
  for (const Fact& fact : {Fact{"Z1", {}, "trivial"},
                           {"Z60", {60}, "Z_60"},
                           {"Z2xZ4", {2, 4}, "Z_2×Z_4"},
                           {"Z2^3", {2, 2, 2}, "Z_2^3"},
                           {"V4", {2, 2}, "V_4"},
                           {"Z2xZ3", {6}, "Z_6"},
                           {"Z4xZ6", {2, 12}, "Z_2×Z_12"},
                           {"Z9xZ3xZ3xZ2", {3, 3, 18}, "Z_3^2×Z_18"},
                           {"Q8", {2, 2}, "V_4"},
                           {"S5", {2}, "Z_2"},
                           {"A5", {}, "trivial"},
                           {"F20", {4}, "Z_4"},
                           {"S3xS3", {2, 2}, "V_4"},
                           {"A4xZ2", {6}, "Z_6"},
                           {"Rubik", {2}, "Z_2"}}) {
    CAPTURE(fact.name);
    const Invariants found = abelian_invariants(named_group(fact.name));
    CHECK(found == fact.invariants);
    CHECK(abelian_name(found) == fact.text);
  }
}

TEST_CASE("direct factors are normal, meet trivially and multiply to the group") {
  for (const char* name : {"S3xS4", "Q8xZ3", "A5xZ2", "D4xS3", "S5xS5", "A4xZ2xZ2", "M11xZ2"}) {
    CAPTURE(name);
    const PermutationGroup group = named_group(name);
    const std::vector<PermutationGroup> factors = direct_factors(group);
    CHECK(factors.size() >= 2);
    Integer size = 1;
    std::vector<Permutation> all;
    for (const PermutationGroup& factor : factors) {
      size *= order(factor);
      const StabiliserChain chain(factor);
      for (const NamedPermutation& h : factor.generators()) {
        all.push_back(h.value);
        for (const NamedPermutation& g : group.generators())
          CHECK(chain.contains(g.value.inverse() * h.value * g.value));
      }
    }
    CHECK(size == order(group));
    CHECK(order(PermutationGroup::from_generators(group.degree(), all)) == size);
  }
  for (const char* name : {"S5", "Q8", "D4", "M11", "S4"}) CHECK(direct_factors(named_group(name)).size() == 1);
}

TEST_CASE("nilpotent, perfect and simple") {
  for (const char* name : {"A5", "M11", "PSL(2,7)", "Z7"}) CHECK(is_simple(named_group(name)));
  for (const char* name : {"S5", "Z4", "A4", "A5xA5", "S1", "Q8"}) CHECK_FALSE(is_simple(named_group(name)));
  for (const char* name : {"A5", "M11", "A5xA6", "S1"}) CHECK(is_perfect(named_group(name)));
  CHECK_FALSE(is_perfect(named_group("S5")));
  const auto is_nilpotent = [](const char* name) { return is_trivial(lower_central_series(named_group(name)).back()); };
  for (const char* name : {"D4", "Q8", "Q16", "Z6", "D4xZ9"}) CHECK(is_nilpotent(name));
  for (const char* name : {"D3", "A4", "F21"}) CHECK_FALSE(is_nilpotent(name));
}
