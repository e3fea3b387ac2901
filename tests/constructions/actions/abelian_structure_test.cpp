#include "krohn/constructions/actions/abelian_structure.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "krohn/groups/error.h"

using namespace krohn;

namespace {

Dfa on_points(const std::vector<std::vector<State>>& letters) {
  const auto n = static_cast<State>(letters[0].size());
  std::vector<State> table;
  std::vector<std::string> names;
  for (State state = 0; state < n; ++state)
    for (const auto& letter : letters) table.push_back(letter[state]);
  for (std::size_t i = 0; i < letters.size(); ++i) names.push_back(std::string(1, static_cast<char>('a' + i)));
  return Dfa::acceptor(Alphabet::from_names(names), std::move(table), 0, std::vector<bool>(n, false));
}

bool commute(const std::vector<std::vector<State>>& letters, State reachable_from_0) {
  std::vector<bool> reached(letters[0].size(), false);
  std::vector<State> queue{reachable_from_0};
  reached[reachable_from_0] = true;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (const auto& letter : letters)
      if (!reached[letter[queue[i]]]) {
        reached[letter[queue[i]]] = true;
        queue.push_back(letter[queue[i]]);
      }
  for (const auto& f : letters)
    for (const auto& g : letters)
      for (const State state : queue)
        if (g[f[state]] != f[g[state]]) return false;
  return true;
}

/// States ↔ elements, letters are translations, and the orders divide one another.
void check_structure(const Dfa& dfa) {
  const TrackedStates tracked = tracked_states(dfa);
  for (const bool primary : {false, true}) {
    const AbelianStructure invariant = abelian_structure(dfa, tracked);
    const AbelianStructure structure = primary ? primary_structure(invariant) : invariant;
    std::uint64_t size = 1;
    for (const std::uint64_t order : structure.orders) size *= order;
    REQUIRE(size == tracked.count());
    REQUIRE(std::set(structure.of_state.begin(), structure.of_state.end()).size() == size);
    for (std::size_t i = 0; !primary && i + 1 < structure.orders.size(); ++i)
      REQUIRE(structure.orders[i + 1] % structure.orders[i] == 0);
    for (std::size_t action = 0; action < tracked.maps.size(); ++action)
      for (Label label = 0; label < tracked.count(); ++label)
        for (std::size_t i = 0; i < structure.orders.size(); ++i)
          REQUIRE(structure.of_state[tracked.maps[action][label]][i] ==
                  (structure.of_state[label][i] + structure.of_action[action][i]) % structure.orders[i]);
  }
}

}  // namespace

TEST_CASE("every pair of permutations of at most four points, and every triple of at most three, in every order") {
  int abelian = 0, refused = 0;
  const auto check = [&](const std::vector<std::vector<State>>& letters) {
    const Dfa dfa = on_points(letters);
    if (commute(letters, 0)) {
      check_structure(dfa);
      ++abelian;
    } else {
      REQUIRE_THROWS_AS(abelian_structure(dfa, tracked_states(dfa)), InputError);
      ++refused;
    }
  };
  for (State n = 1; n <= 4; ++n) {
    std::vector<std::vector<State>> all(1, std::vector<State>(n));
    std::iota(all[0].begin(), all[0].end(), State{0});
    for (std::vector<State> next = all[0]; std::next_permutation(next.begin(), next.end());) all.push_back(next);
    for (const auto& f : all)
      for (const auto& g : all) {
        check({f, g});
        for (const auto& h : all)
          if (n <= 3) check({f, g, h});
      }
  }
  CHECK(abelian > 100);
  CHECK(refused > 400);
}

TEST_CASE("a letter that keeps the start where it is, and is not the identity, is no translation") {
  // Before, between and behind generators of Z_2 x Z_2 and of Z_4.
  const std::vector<State> a{1, 0, 3, 2}, b{2, 3, 0, 1}, turn{1, 2, 3, 0}, fixes{0, 2, 1, 3}, same{0, 1, 2, 3};
  for (const auto& letters : std::vector<std::vector<std::vector<State>>>{
           {fixes, a, b}, {a, fixes, b}, {a, b, fixes}, {fixes, turn}, {turn, fixes}, {same, fixes, turn}})
    CHECK_THROWS_AS(abelian_structure(on_points(letters), tracked_states(on_points(letters))), InputError);
  check_structure(on_points({same, a, same, b}));
  check_structure(on_points({same, turn}));
}
