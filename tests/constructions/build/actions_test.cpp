#include "krohn/automata/cascades/cascade.h"
#include "krohn/automata/cascades/holonomy.h"
#include "krohn/constructions/build/based_action.h"
#include "tests/automata/cascades/checked_cascades.h"
#include "tests/constructions/sample_automata.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

std::vector<std::vector<State>> all_permutations(State points) {
  std::vector<std::vector<State>> all;
  std::vector<State> images(points);
  std::iota(images.begin(), images.end(), State{0});
  do all.push_back(images);
  while (std::ranges::next_permutation(images).found);
  return all;
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
    const Dfa dfa = automaton_of_maps(letters);
    if (commute(letters, 0)) {
      check_structure(dfa);
      ++abelian;
    } else {
      REQUIRE_THROWS_AS(abelian_structure(dfa, tracked_states(dfa)), InputError);
      ++refused;
    }
  };
  for (State n = 1; n <= 4; ++n) {
    const auto all = all_permutations(n);
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
    CHECK_THROWS_AS(abelian_structure(automaton_of_maps(letters), tracked_states(automaton_of_maps(letters))),
                    InputError);
  check_structure(automaton_of_maps({same, a, same, b}));
  check_structure(automaton_of_maps({same, turn}));
}

namespace {

Cascade columns_of(const Dfa& dfa) {
  const TrackedStates tracked = tracked_states(dfa);
  return column_cascade(dfa, tracked, best_based_action(dfa, tracked));
}

/// The columns emulate the automaton, and so they do cut into resets and swaps.
Cascade checked(const Dfa& dfa) {
  const Cascade columns = columns_of(dfa);
  const EmulationResult plain = check_emulation(columns, dfa);
  REQUIRE_MESSAGE(plain.holds, plain.counterexample);
  const Cascade swaps = swap_cascade(columns);
  const EmulationResult cut = check_emulation(swaps, dfa);
  REQUIRE_MESSAGE(cut.holds, cut.counterexample);
  return swaps;
}

}  // namespace

TEST_CASE("the group of every two permutations of at most four points, and both on the points") {
  for (Point degree = 1; degree <= 4; ++degree)
    for (const auto& a : all_permutations(degree))
      for (const auto& b : all_permutations(degree)) {
        checked(word_problem_of({Permutation::from_images(a), Permutation::from_images(b)}));
        checked(automaton_of_maps({a, b}));
      }
}

TEST_CASE("named groups: a register for each half of a block, and points of a base") {
  CHECK(widths(checked(word_problem("S5", "transpositions"))) == std::vector<Label>{5, 5, 5, 5});
  CHECK(widths(checked(word_problem("S5", "standard"))) == std::vector<Label>{2, 2, 2, 4, 12, 5, 5, 5, 5});
  CHECK(widths(checked(word_problem("S3", "all"))) == std::vector<Label>{2, 6, 6, 3, 3});
  CHECK(widths(checked(word_problem("Z2xZ4", "standard"))).size() > 2);
  for (const char* name : {"D4", "Q8", "A4", "Z6", "Z12", "A5"}) checked(word_problem(name, "standard"));
}

TEST_CASE("of the columns and the prime layers, whichever is cut into fewer layers") {
  struct Fact {
    const char *name, *letters;
    std::vector<Label> widths;
  };
  for (const Fact& fact : {Fact{"S4", "all", {2, 2, 3, 3, 3, 2, 2}},  // prime layers
                           {"S4", "standard", {2, 2, 4, 4, 4, 4}},    // columns
                           {"S4", "transpositions", {4, 4, 4}}}) {
    CAPTURE(fact.name);
    const Dfa dfa = word_problem(fact.name, fact.letters);
    const Cascade columns = columns_of(dfa), primes = prime_cascade(holonomy_decomposition(dfa));
    const Cascade* const both[] = {&columns, &primes};
    const Cascade smallest = smallest_swap_cascade(both);
    CHECK(widths(smallest) == fact.widths);
    CHECK(check_emulation(smallest, dfa).holds);
    CHECK(smallest.layers.size() == std::min(swap_cascade(columns).layers.size(), swap_cascade(primes).layers.size()));
  }
  // Past the limit of one, the other is taken; past both, the first one's limit is what is said.
  const Dfa s4 = word_problem("S4", "all");
  const Cascade columns = columns_of(s4), primes = prime_cascade(holonomy_decomposition(s4));
  const Cascade* const columns_first[] = {&columns, &primes};
  CHECK_THROWS_AS(swap_cascade(columns, {5000}), LimitError);
  CHECK(widths(smallest_swap_cascade(columns_first, {5000})) == widths(swap_cascade(primes)));
  CHECK_THROWS_WITH_AS(smallest_swap_cascade(columns_first, {10}), doctest::Contains("entries"), LimitError);
  CHECK_THROWS_AS(smallest_swap_cascade({}), InputError);
}

TEST_CASE("one state, and letters that do nothing") {
  CHECK(widths(checked(counter(1, {0, 0}))) == std::vector<Label>{1});
  CHECK(widths(checked(counter(3, {0, 0}))) == std::vector<Label>{1});
}

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
