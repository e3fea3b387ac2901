#include "groups/series.h"

#include <doctest/doctest.h>

#include "groups/error.h"
#include "groups/named_group.h"
#include "groups/prime_series.h"
#include "tests/groups/transitive_groups.h"

using namespace krohn;

TEST_CASE("every transitive group of degree 2–8: order, solvable, abelian") {
  for (const TransitiveGroup& row : transitive_groups()) {
    CAPTURE(row.label);
    CHECK(order(row.group).str() == row.order);
    CHECK(is_solvable(row.group) == row.solvable);
    CHECK(is_abelian(row.group) == row.abelian);
    CHECK(is_trivial(derived_subgroup(row.group)) == row.abelian);
    if (!row.solvable) {
      CHECK_THROWS_AS(PrimeSeries::of(row.group), InputError);
      continue;
    }
    Integer product = 1;
    const PrimeSeries series = PrimeSeries::of(row.group);
    for (const PrimeSeries::Step& step : series.steps()) product *= step.prime;
    CHECK(product.str() == row.order);
  }
}

TEST_CASE("coordinates name every element once") {
  for (const char* name : {"S4", "Q8", "D4", "Z12", "F20", "S3xZ4"}) {
    CAPTURE(name);
    const PermutationGroup group = named_group(name);
    const PrimeSeries series = PrimeSeries::of(group);
    const StabiliserChain chain(group);
    Random random(7);
    for (int i = 0; i < 50; ++i) {
      const Permutation g = chain.random_element(random);
      Permutation rest = g, rebuilt = Permutation::identity(group.degree());
      for (std::size_t step = 0; step < series.steps().size(); ++step) {
        const std::uint32_t b = series.coordinate(step, rest);
        REQUIRE(b < series.steps()[step].prime);
        Permutation power = Permutation::identity(group.degree());
        for (std::uint32_t j = 0; j < b; ++j) power = power * series.steps()[step].transversal;
        rest = rest * power.inverse();
        rebuilt = power * rebuilt;
      }
      CHECK(rest.is_identity());
      CHECK(rebuilt == g);
    }
  }
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
  CHECK(is_nilpotent(named_group("Q8")));
  CHECK_FALSE(is_nilpotent(named_group("S3")));
  CHECK(is_perfect(named_group("A5")));
  CHECK_FALSE(is_perfect(named_group("S5")));
}
