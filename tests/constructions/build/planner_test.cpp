#include "krohn/constructions/build/planner.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "krohn/groups/error.h"
#include "tests/constructions/reference.h"
#include "tests/constructions/sample_automata.h"

using namespace krohn;

namespace {

const PlanRow& row_of(const std::vector<PlanRow>& rows, const std::string& name) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const PlanRow& row) { return row.construction == name; });
  REQUIRE(found != rows.end());
  return *found;
}

std::string chosen(const std::vector<PlanRow>& rows) {
  std::string name;
  for (const PlanRow& row : rows)
    if (row.chosen) {
      CHECK(name.empty());
      name = row.construction;
    }
  return name;
}

std::string chosen(const Dfa& automaton, const BuildOptions& wishes = {}) { return chosen(plan(automaton, wishes)); }

}  // namespace

TEST_CASE("the planner's own choice") {
  struct Fact {
    const char* name;
    Dfa automaton;
    const char* chosen;
    std::uint64_t state_numbers;
    std::int64_t reflections;
  };
  const std::vector<Fact> facts{
      {"one state", counter(1, {0}), "real-diagonal", 1, 0},
      {"parity", counter(2, {0, 1}), "parity-scalar", 1, 1},
      {"Z2^3", word_problem("Z2^3", "standard"), "real-diagonal", 3, 1},
      {"Z4", counter(4, {1}), "signed-permutation", 2, 2},
      {"Z5", counter(5, {0, 1}), "permutation", 5, 4},
      {"Z60", counter(60, {1}), "signed-permutation", 10, 8},
      {"S5 on points", point_action("S5", "standard"), "permutation", 5, 4},
      {"word problem of S5", word_problem("S5", "transpositions"), "permutation-base", 20, 1},
      {"word problem of S4", word_problem("S4", "all"), "permutation-base", 12, 3},
      {"Q8", word_problem("Q8", "standard"), "permutation", 8, 6},
      {"ends in abb", ends_in_abb(), "one-hot", 4, -1},
      {"random", random_automaton(5, 7, 3), "one-hot", 7, -1},
  };
  for (const Fact& fact : facts) {
    CAPTURE(fact.name);
    const auto rows = plan(fact.automaton, {});
    CHECK(rows.size() == construction_names().size());
    CHECK(chosen(rows) == fact.chosen);
    const PlanRow& row = row_of(rows, fact.chosen);
    CHECK(row.state_numbers == fact.state_numbers);
    CHECK(row.reflections == fact.reflections);
    CHECK(row.exact_in.size() == 4);
    const Network network = build(fact.automaton, {});
    CHECK(network.provenance.construction == fact.chosen);
    CHECK(closure_error(network) == 0);
  }
}

TEST_CASE("every possible row builds a network that tracks its automaton and has the row's cost") {
  for (const Dfa& automaton : {counter(6, {1, 2}), word_problem("S3", "standard"), ends_in_abb(), counter(2, {0, 1}),
                               random_automaton(8, 5, 2)})
    for (const PlanRow& row : plan(automaton, {})) {
      CAPTURE(row.construction);
      BuildOptions wishes;
      wishes.construction = row.construction;
      if (!row.possible) {
        CHECK(row.reason.size() > 20);
        CHECK_THROWS_AS(build(automaton, wishes), InputError);
        continue;
      }
      const Network network = build(automaton, wishes);
      CHECK(network.provenance.construction == row.construction);
      CHECK(size_of(network).state_numbers == row.state_numbers);
      CHECK(size_of(network).layers == row.layers);
      check_random_word(network, 3, 200);
    }
}

TEST_CASE("where constructions are exact") {
  const auto all = std::vector{Precision::kFp64, Precision::kFp32, Precision::kFp16, Precision::kBf16};
  struct Fact {
    const char* construction;
    std::optional<KeyStyle> keys;
    bool exact;
  };
  for (const Fact& fact :
       {Fact{"permutation", {}, true}, Fact{"permutation", KeyStyle::kUnnormalised, true},
        Fact{"permutation", KeyStyle::kDoubled, true}, Fact{"permutation", KeyStyle::kUnit, false},
        Fact{"rotation", {}, false}, Fact{"two-layer-reflections", {}, false}, Fact{"signed-permutation", {}, true},
        Fact{"integral-cyclotomic", {}, true}, Fact{"integral-standard", {}, true},
        Fact{"cascade-chain", KeyStyle::kUnit, false}, Fact{"cascade-chain", KeyStyle::kDoubled, true}}) {
    CAPTURE(fact.construction);
    BuildOptions wishes;
    wishes.keys = fact.keys;
    const std::string name = std::string(fact.construction) + (fact.keys ? "-reflections" : "");
    CHECK(row_of(plan(counter(5, {1}), wishes), name).exact_in == (fact.exact ? all : std::vector<Precision>{}));
  }
  for (const State m : {State{1}, State{2}, State{4}})
    CHECK(row_of(plan(counter(m, {1 % m}), {}), "rotation").exact_in == all);
  for (const State m : {State{3}, State{8}, State{12}})
    CHECK(row_of(plan(counter(m, {1}), {}), "rotation").exact_in.empty());
}

TEST_CASE("H_0 = (1, …, n) is exact while n fits the significand, half of that with doubled keys") {
  const auto exact_in = [](State n, std::optional<KeyStyle> keys) {
    BuildOptions wishes;
    wishes.keys = keys;
    return row_of(plan(counter(n, {1}), wishes), "permutation-vector").exact_in.size();
  };
  // Primes, so that the natural action is used.
  CHECK(exact_in(251, {}) == 4);
  CHECK(exact_in(257, {}) == 3);
  CHECK(exact_in(251, KeyStyle::kUnnormalised) == 4);
  CHECK(exact_in(251, KeyStyle::kDoubled) == 3);
  CHECK(exact_in(127, KeyStyle::kDoubled) == 4);
}

TEST_CASE("wishes narrow the choice, and what does not fit is said") {
  const Dfa z60 = counter(60, {1, 59});
  BuildOptions few;
  few.max_reflections = 1;
  CHECK(chosen(z60, few) == "cascade-single-reflections");  // exact
  few.max_dimension = 3;
  CHECK(chosen(z60, few) == "two-layer-reflections");
  few.max_reflections = 2;
  CHECK(chosen(z60, few) == "rotation");
  few.exact = true;
  CHECK(chosen(z60, few).empty());
  CHECK_THROWS_AS(build(z60, few), InputError);

  BuildOptions one;
  one.max_reflections = 1;
  CHECK_THROWS_WITH_AS(build(word_problem("S5", "all"), one),
                       doctest::Contains("--construction cascade-single-reflections tries longer"), InputError);

  BuildOptions small;
  small.max_dimension = 8;
  CHECK(chosen(z60, small) == "integral-cyclotomic");
  small.max_dimension = 2;
  CHECK(chosen(z60, small) == "rotation");

  BuildOptions keyed;
  keyed.keys = KeyStyle::kDoubled;
  CHECK(chosen(point_action("S5", "standard"), keyed) == "permutation-reflections");
  keyed.construction = "permutation";
  CHECK(build(point_action("S5", "standard"), keyed).layers[0].dimension == 10);
  CHECK(chosen(ends_in_abb(), [] {
          BuildOptions wishes;
          wishes.keys = KeyStyle::kUnit;
          return wishes;
        }()) == "cascade-single-reflections");  // of resets in rows, which have no keys to round

  BuildOptions inexact;
  inexact.construction = "rotation";
  inexact.exact = true;
  inexact.precision = Precision::kBf16;
  CHECK_THROWS_WITH_AS(build(z60, inexact), "rotation does not fit: it is not bit-exact in bf16", InputError);
  BuildOptions unknown;
  unknown.construction = "magic";
  CHECK_THROWS_AS(plan(z60, unknown), InputError);
  BuildOptions impossible;
  impossible.construction = "permutation";
  CHECK_THROWS_WITH_AS(build(ends_in_abb(), impossible),
                       "permutation is impossible: letter \"s0\" is not a bijection: it takes states 0 and 1 both to 1",
                       InputError);
}

TEST_CASE("margins") {
  CHECK(row_of(plan(counter(60, {1}), {}), "rotation").margin == doctest::Approx(2 * std::sin(M_PI / 60)));
  CHECK(row_of(plan(counter(60, {1}), {}), "rotation-primary").margin == doctest::Approx(2 * std::sin(M_PI / 5)));
  CHECK(row_of(plan(counter(5, {1}), {}), "one-hot").margin == doctest::Approx(std::sqrt(2.0)));
  CHECK(std::isinf(row_of(plan(counter(1, {0}), {}), "one-hot").margin));
}
