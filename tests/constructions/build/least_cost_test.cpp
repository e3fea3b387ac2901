#include "krohn/constructions/build/least_cost.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <tuple>

#include "krohn/constructions/build/planner.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/groups/error.h"
#include "tests/constructions/sample_automata.h"

using namespace krohn;

namespace {

auto figures(const PlanRow& row) {
  return std::tuple(row.construction, row.theorem, row.possible, row.reason, row.layers, row.state_numbers,
                    row.reflections, row.alphabet_sizes, row.exact_in, row.locked_in, row.snap_every, row.margin,
                    row.chosen);
}

std::string message_of(const std::exception_ptr& failure) {
  try {
    if (failure) std::rethrow_exception(failure);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

/// How many rows were built for the choice that leaves rows out; it must be the choice among all, row by row.
std::size_t check_choice(const Dfa& automaton, const BuildOptions& wishes) {
  const Choice all = choose(automaton, wishes, PlanRows::kAll), needed = choose(automaton, wishes, PlanRows::kNeeded);
  REQUIRE(all.rows.size() == construction_names().size());
  REQUIRE(message_of(all.failure) == message_of(needed.failure));
  REQUIRE((all.chosen() == nullptr) == (needed.chosen() == nullptr));
  REQUIRE(all.network.has_value() == (all.chosen() != nullptr));
  REQUIRE(needed.network.has_value() == all.network.has_value());
  for (const PlanRow& row : needed.rows) {
    const auto same = std::ranges::find(all.rows, row.construction, &PlanRow::construction);
    REQUIRE(figures(*same) == figures(row));
  }
  if (!all.chosen()) return needed.rows.size();
  REQUIRE(needed.chosen()->construction == all.chosen()->construction);
  REQUIRE(canonical_weights(*needed.network) == canonical_weights(*all.network));
  REQUIRE(needed.network->provenance.construction == all.chosen()->construction);
  REQUIRE(size_of(*needed.network).state_numbers == needed.chosen()->state_numbers);
  return needed.rows.size();
}

std::vector<std::vector<State>> all_maps(State states) {
  std::vector<std::vector<State>> maps{{}};
  for (State q = 0; q < states; ++q) {
    std::vector<std::vector<State>> longer;
    for (const auto& map : maps)
      for (State image = 0; image < states; ++image) {
        longer.push_back(map);
        longer.back().push_back(image);
      }
    maps = std::move(longer);
  }
  return maps;
}

BuildOptions with(auto change) {
  BuildOptions wishes;
  change(wishes);
  return wishes;
}

const std::vector<BuildOptions> kManyWishes = {
    {},
    with([](auto& w) { w.exact = true; }),
    with([](auto& w) { w.exact = true, w.precision = Precision::kBf16; }),
    with([](auto& w) { w.precision = Precision::kFp32; }),
    with([](auto& w) { w.keys = KeyStyle::kDoubled; }),
    with([](auto& w) { w.keys = KeyStyle::kUnit; }),
    with([](auto& w) { w.max_dimension = 2; }),
    with([](auto& w) { w.max_dimension = 6; }),
    with([](auto& w) { w.max_reflections = 1; }),
    with([](auto& w) { w.max_reflections = 1, w.exact = true, w.max_dimension = 3; }),
    with([](auto& w) { w.construction = "one-hot"; }),
    with([](auto& w) { w.construction = "permutation-vector"; }),
    with([](auto& w) { w.construction = "rotation", w.exact = true; }),
    with([](auto& w) { w.construction = "permutation", w.keys = KeyStyle::kDoubled; }),
};

}  // namespace

TEST_CASE("leaving rows out changes no choice: all automata of two states and two letters, by many wishes") {
  for (const auto& f : all_maps(2))
    for (const auto& g : all_maps(2))
      for (const BuildOptions& wishes : kManyWishes) check_choice(automaton_of_maps({f, g}), wishes);
}

TEST_CASE("leaving rows out changes no choice: all automata of three states and two letters") {
  for (const auto& f : all_maps(3))
    for (const auto& g : all_maps(3))
      if (f <= g) check_choice(automaton_of_maps({f, g}), {});
}

TEST_CASE("leaving rows out changes no choice: samples of every kind, by many wishes") {
  for (const Dfa& automaton :
       {counter(1, {0}), counter(5, {1}), counter(12, {3, 4}), word_problem("S3", "transpositions"),
        word_problem("Q8", "standard"), point_action("A5", "standard"), random_automaton(4, 6, 2), ends_in_abb(),
        automaton_of_maps({{1, 2, 0}, {0, 0, 0}}), automaton_of_maps({{0, 1, 2}, {1, 1, 1}, {2, 2, 2}})})
    for (const BuildOptions& wishes : kManyWishes) check_choice(automaton, wishes);
}

TEST_CASE("leaving rows out changes no choice: counters of every order around those of the plane") {
  for (State m = 1; m <= 26; ++m) check_choice(counter(m, {1 % m}), {});
  for (const State m : {3, 4, 7, 12, 24}) check_choice(counter(m, {1, 2}), kManyWishes[2]);
}

TEST_CASE("most rows of a large automaton are left out") {
  CHECK(check_choice(random_automaton(7, 40, 2), {}) == 2);  // one-hot and block-diagonal
  CHECK(check_choice(word_problem("S5", "transpositions"), {}) == 6);
}

TEST_CASE("facts of letters, one by one") {
  struct Fact {
    std::vector<std::vector<State>> maps;
    bool permute, commute, permute_or_reset, hold_or_reset;
    std::uint64_t reflections;
  };
  for (const Fact& fact : {Fact{{{0}}, true, true, true, true, 0},
                           {{{1, 0}}, true, true, true, false, 1},
                           {{{1, 1}, {0, 1}}, false, true, true, true, 2},
                           {{{1, 1}, {0, 0}}, false, false, true, true, 2},
                           {{{1, 1}, {1, 0}}, false, false, true, false, 2},
                           {{{1, 2, 0}, {1, 0, 2}}, true, false, true, false, 2},
                           {{{1, 2, 0}, {1, 0, 0}}, false, false, false, false, 2},
                           {{{1, 2, 3, 0}, {2, 3, 0, 1}}, true, true, true, false, 3}}) {
    const LetterFacts facts(automaton_of_maps(fact.maps));
    CHECK(facts.states() == fact.maps[0].size());
    CHECK(facts.all_permute() == fact.permute);
    CHECK(facts.all_commute() == fact.commute);
    CHECK(facts.permute_or_reset() == fact.permute_or_reset);
    CHECK(facts.hold_or_reset() == fact.hold_or_reset);
    CHECK(facts.reflections() == fact.reflections);
  }
}
