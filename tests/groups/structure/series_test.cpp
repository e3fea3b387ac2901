#include "krohn/groups/structure/series.h"

#include <doctest/doctest.h>

#include "krohn/groups/error.h"
#include "krohn/groups/names/named_group.h"
#include "krohn/groups/structure/composition_series.h"
#include "tests/groups/transitive_groups.h"

using namespace krohn;

TEST_CASE("every transitive group of degree 2–8: order, solvable, abelian") {
  for (const TransitiveGroup& row : transitive_groups()) {
    CAPTURE(row.label);
    CHECK(order(row.group).str() == row.order);
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
  CHECK(is_nilpotent(named_group("Q8")));
  CHECK_FALSE(is_nilpotent(named_group("S3")));
  CHECK(is_perfect(named_group("A5")));
  CHECK_FALSE(is_perfect(named_group("S5")));
}
