#include <boost/multiprecision/cpp_int.hpp>

#include "krohn/automata/monoid/algebra.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/constructions/smallest/smallest.h"
#include "krohn/groups/permutations/group_elements.h"
#include "krohn/groups/representations/least_representation.h"
#include "krohn/groups/structure/composition.h"
#include "tests/brute_force.h"
#include "tests/constructions/sample_automata.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

using Rational = boost::multiprecision::cpp_rational;

/// The block of the Hankel matrix of all rows and columns of at most `length` letters, over the rationals, entry by
/// entry; its rank by elimination.
std::size_t rank_of_block(const Dfa& dfa, std::span<const std::uint32_t> shown, std::size_t length, int modulo = 0) {
  std::vector<std::vector<Letter>> words{{}};
  for (std::size_t i = 0; i < words.size() && words[i].size() < length; ++i)
    for (Letter letter = 0; letter < dfa.letters(); ++letter) {
      words.push_back(words[i]);
      words.back().push_back(letter);
    }
  const std::set<std::uint32_t> values(shown.begin(), shown.end());
  std::vector<std::vector<Rational>> rows;
  for (const auto& u : words) {
    std::vector<Rational>& row = rows.emplace_back();
    for (const auto& v : words)
      for (const std::uint32_t value : values) row.emplace_back(shown[dfa.run(v, dfa.run(u))] == value ? 1 : 0);
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  std::size_t rank = 0;
  for (std::size_t column = 0; column < rows[0].size() && rank < rows.size(); ++column) {
    std::size_t pivot = rank;
    while (pivot < rows.size() && rows[pivot][column] == 0) ++pivot;
    if (pivot == rows.size()) continue;
    std::swap(rows[pivot], rows[rank]);
    for (std::size_t i = rank + 1; i < rows.size(); ++i) {
      if (rows[i][column] == 0) continue;
      if (modulo == 2) {  // all entries stay 0 and 1
        for (std::size_t j = column; j < rows[i].size(); ++j) rows[i][j] = rows[i][j] == rows[rank][j] ? 0 : 1;
      } else {
        const Rational times = rows[i][column] / rows[rank][column];
        for (std::size_t j = column; j < rows[i].size(); ++j) rows[i][j] -= times * rows[rank][j];
      }
    }
    ++rank;
  }
  return rank;
}

/// Every automaton of at most three states over two letters whose states are reachable, in breadth-first numbering.
template <class Use>
void for_every_automaton(Use use) {
  for (State states = 1; states <= 3; ++states) {
    std::uint32_t tables = 1;
    for (State i = 0; i < 2 * states; ++i) tables *= states;
    for (std::uint32_t code = 0; code < tables; ++code) {
      std::vector<State> table(2 * states);
      std::uint32_t rest = code;
      for (State& target : table) target = rest % states, rest /= states;
      for (std::uint32_t outputs = 0; outputs < (1U << states); ++outputs) {
        std::vector<bool> accepting(states);
        for (State q = 0; q < states; ++q) accepting[q] = outputs >> q & 1;
        const Dfa dfa = Dfa::acceptor(numbered_letters(2), table, 0, accepting);
        if (canonical(dfa) == dfa) use(dfa);
      }
    }
  }
}

/// The bound of finitely many values from its definition: all elements, all idempotents, all chains, and the groups by
/// counting.
std::uint64_t bound_by_brute_force(const Dfa& dfa) {
  std::vector<brute::Map> letters;
  brute::Map one(dfa.states());
  for (State q = 0; q < dfa.states(); ++q) one[q] = q;
  letters.push_back(one);
  for (Letter letter = 0; letter < dfa.letters(); ++letter) {
    const Transformation map = dfa.letter_map(letter);
    letters.emplace_back(map.images().begin(), map.images().end());
  }
  const std::set<brute::Map> monoid = *brute::products(letters, 100'000);
  std::map<brute::Map, std::uint64_t> value;
  std::vector<brute::Map> idempotents;
  for (const brute::Map& e : monoid)
    if (brute::then(e, e) == e) idempotents.push_back(e);
  const auto image_size = [](const brute::Map& e) { return std::set<std::uint32_t>(e.begin(), e.end()).size(); };
  std::sort(idempotents.begin(), idempotents.end(),
            [&](const auto& a, const auto& b) { return image_size(a) < image_size(b); });
  std::uint64_t most = 0;
  for (const brute::Map& e : idempotents) {
    const std::set<std::uint32_t> image(e.begin(), e.end());
    const std::vector<std::uint32_t> points(image.begin(), image.end());
    std::set<std::vector<std::uint32_t>> group;
    for (const brute::Map& m : monoid) {
      std::vector<std::uint32_t> action;
      for (const std::uint32_t p : points) {
        const std::uint32_t to = e[m[p]];
        action.push_back(
            static_cast<std::uint32_t>(std::lower_bound(points.begin(), points.end(), to) - points.begin()));
      }
      if (std::set<std::uint32_t>(action.begin(), action.end()).size() == points.size()) group.insert(action);
    }
    std::uint64_t best = orthogonal_dimension_by_counting({group.begin(), group.end()});
    for (const brute::Map& f : idempotents)
      if (f != e && brute::then(e, f) == f && brute::then(f, e) == f && value.contains(f))
        best = std::max(best, value[f] + 1);
    value[e] = best;
    most = std::max(most, best);
  }
  return most;
}

const SizeBound& row(const Smallest& found, const std::string& counted, const std::string& model) {
  const auto at = std::ranges::find_if(
      found.bounds, [&](const SizeBound& b) { return b.counted == counted && b.model.starts_with(model); });
  REQUIRE_MESSAGE(at != found.bounds.end(), counted << ", " << model);
  return *at;
}

Smallest of(const Dfa& dfa) { return smallest(dfa, states_shown(dfa)); }

}  // namespace

TEST_CASE("ranks of Hankel matrices against blocks of all short words, for every automaton of three states") {
  std::size_t seen = 0, lower_modulo_2 = 0;
  for_every_automaton([&](const Dfa& dfa) {
    const Shown shown = outputs_shown(dfa);
    const HankelRank rank = hankel_rank(dfa, shown);
    REQUIRE(rank.is_exact);
    REQUIRE(rank.rank == rank_of_block(dfa, shown, 2));
    REQUIRE(rank.modulo_2 == rank_of_block(dfa, shown, 2, 2));
    REQUIRE(holds(dfa, shown, rank));
    REQUIRE(hankel_rank(dfa, states_shown(dfa)).rank == dfa.states());
    lower_modulo_2 += rank.modulo_2 < rank.rank;
    ++seen;
  });
  CHECK(seen == 2 + 12 * 4 + 216 * 8);
  CHECK(lower_modulo_2 == 0);  // three states are too few: a determinant of zeros and ones of that size is 0, 1, −1, 2
}

TEST_CASE("a minor is refused with a wrong word, one row too few, or a claim one greater") {
  const Dfa dfa = minimise(word_problem("S3", "standard"));
  const Shown shown = outputs_shown(dfa);
  const HankelRank good = hankel_rank(dfa, shown);
  REQUIRE(holds(dfa, shown, good));
  HankelRank bad = good;
  ++bad.rank;
  CHECK_FALSE(holds(dfa, shown, bad));
  bad = good;
  bad.minor.rows.pop_back();
  CHECK_FALSE(holds(dfa, shown, bad));
  bad = good;
  bad.minor.rows[1] = bad.minor.rows[0];
  CHECK_FALSE(holds(dfa, shown, bad));
  bad = good;
  bad.minor.columns[1] = bad.minor.columns[0];
  CHECK_FALSE(holds(dfa, shown, bad));
}

TEST_CASE("a rank can be lower than the number of states, and lower still modulo 2") {
  // The values of two independent bits, added: one function of four is the sum of two less a third.
  const Dfa bits = automaton_of_maps({{1, 0, 3, 2}, {2, 3, 0, 1}});
  const Shown sum{0, 1, 1, 2};
  CHECK(hankel_rank(bits, sum).rank == rank_of_block(bits, sum, 4));
  const Dfa cycle = counter(7, {1});
  const Shown fano{1, 1, 0, 1, 0, 0, 0};  // lines of the Fano plane: rank 7 over the rationals, 4 modulo 2
  const HankelRank rank = hankel_rank(cycle, fano);
  CHECK(rank.rank == 7);
  CHECK(rank.modulo_2 == rank_of_block(cycle, fano, 7, 2));
  CHECK(rank.modulo_2 == 4);
  CHECK_THROWS_AS(hankel_rank(counter(601, {1}), states_shown(counter(601, {1}))), LimitError);
}

TEST_CASE("the bound of finitely many values against its definition, for every automaton of three states") {
  for_every_automaton([](const Dfa& dfa) {
    if (std::ranges::count(dfa.outputs(), 1U) != 0) return;  // what is accepted does not matter here
    const GreenStructure green = GreenStructure::of(letter_maps(dfa), dfa.states());
    const FiniteValuesBound bound = finite_values_bound(dfa, green);
    REQUIRE(bound.numbers == bound_by_brute_force(dfa));
    REQUIRE(holds(dfa, bound));
    FiniteValuesBound more = bound;
    ++more.numbers;
    CHECK_FALSE(holds(dfa, more));
    ++more.group_dimension;
    CHECK_FALSE(holds(dfa, more));
  });
}

TEST_CASE("the bound of finitely many values on random machines of five states, with groups below other things") {
  std::mt19937 random(11);
  for (int i = 0; i < 60; ++i) {
    std::vector<std::vector<State>> maps(2 + random() % 2, std::vector<State>(5));
    for (auto& map : maps)
      for (State& target : map) target = static_cast<State>(random() % 5);
    if (i % 2 == 0) maps[0] = {1, 2, 0, 4, 3};
    const Dfa dfa = canonical(automaton_of_maps(maps));
    const FiniteValuesBound bound = finite_values_bound(dfa, GreenStructure::of(letter_maps(dfa), dfa.states()));
    CHECK(bound.numbers == bound_by_brute_force(dfa));
    CHECK(holds(dfa, bound));
  }
}

TEST_CASE("all maps of n points need n−1 numbers, whatever reads them") {
  for (State n = 2; n <= 5; ++n) {
    std::vector<std::vector<State>> maps(3, std::vector<State>(n));
    for (State q = 0; q < n; ++q) maps[0][q] = (q + 1) % n, maps[1][q] = q < 2 ? 1 - q : q, maps[2][q] = q == 0 ? 1 : q;
    const Dfa dfa = automaton_of_maps(maps);
    const FiniteValuesBound bound = finite_values_bound(dfa, GreenStructure::of(letter_maps(dfa), n));
    CHECK(bound.numbers == n - 1);
    CHECK(holds(dfa, bound));
  }
}

TEST_CASE("which groups are quotients of finite groups of 3×3 matrices: by characters and by counting") {
  std::vector<PermutationGroup> groups;
  for (std::uint32_t size = 1; size <= 24; ++size)
    for (PermutationGroup& group : groups_of_order(size)) groups.push_back(std::move(group));
  for (const char* name : {"D16", "D14xZ2", "D15xZ2", "A5", "A5xZ2", "S5", "S4xZ2", "S4xZ4", "Q32", "Z30xZ2", "Z15xZ3"})
    groups.push_back(named_group(name));
  for (const PermutationGroup& group : groups) {
    CAPTURE(group.name());
    const GroupElements elements = GroupElements::enumerate(group);
    std::vector<std::vector<std::uint32_t>> all;
    for (ElementIndex e = 0; e < elements.size(); ++e)
      all.emplace_back(elements.images(e).begin(), elements.images(e).end());
    CHECK(orthogonal_dimension_by_counting(all) == least_orthogonal_dimension(group, order(group)));
  }
}

TEST_CASE("no network that is built is smaller than a bound, and known ones meet it") {
  struct Fact {
    const char* group;
    const char* letters;
    std::uint64_t numbers, reflections;
  };
  for (const auto& [group, letters, numbers, reflections] : {Fact{"Z2", "all", 1, 1},
                                                             {"Z5", "all", 2, 2},
                                                             {"S3", "transpositions", 2, 1},
                                                             {"Q8", "standard", 4, 4},
                                                             {"A4", "standard", 3, 2},
                                                             {"Z3xZ3", "standard", 4, 2}}) {
    CAPTURE(group);
    const Smallest found = of(word_problem(group, letters));
    CHECK(found.limits.empty());
    const SizeBound& least = row(found, "numbers of state", "one layer, a matrix");
    CHECK(least.at_least == numbers);
    CHECK(least.is_optimal());
    const SizeBound& fewest = row(found, "reflections per letter", "one layer, a matrix");
    CHECK(fewest.at_least == reflections);
    CHECK(fewest.built.value() >= reflections);
    CHECK(row(found, "reflections per letter", "one layer, finitely").at_least <= reflections);
  }
}

TEST_CASE("parity is optimal in every model of numbers; the last letter needs one number and n−1 read linearly") {
  const Smallest parity = of(counter(2, {0, 1}));
  for (const char* model : {"one layer, read linearly", "one layer, finitely", "one layer, a matrix"})
    CHECK(row(parity, "numbers of state", model).is_optimal());
  const Dfa last = automaton_of_maps({{0, 0, 0}, {1, 1, 1}, {2, 2, 2}});
  const Smallest found = of(last);
  CHECK(row(found, "numbers of state", "one layer, finitely").at_least == 1);
  CHECK(row(found, "numbers of state", "one layer, read linearly").at_least == 2);
  CHECK(row(found, "numbers of state", "one layer, no inputs").is_optimal());
  CHECK(row(found, "layers", "diagonal matrices").at_least == 1);
  CHECK(row(found, "layers", "diagonal matrices").is_optimal());
}

TEST_CASE("one reflection a letter tracks A_5 although its own representation needs two") {
  // The reflections of the icosahedron generate A_5 × Z_2; forgetting the sign, they move as involutions of A_5 do.
  const Dfa dfa = point_action("A5", "(1 2)(3 4),(1 3)(4 5),(1 2)(4 5)");
  CHECK(reflections_of_any_layer(dfa).value == 1);
  const Smallest found = of(dfa);
  CHECK(row(found, "reflections per letter", "one layer, a matrix").at_least == 2);
  CHECK(row(found, "reflections per letter", "one layer, finitely").at_least == 1);
}

TEST_CASE("reflections that any layer needs: merging, turning, and generating") {
  CHECK(reflections_of_any_layer(automaton_of_maps({{0, 1, 2}})).value == 0);
  CHECK(reflections_of_any_layer(automaton_of_maps({{1, 0, 2}, {0, 2, 1}})).value == 1);
  CHECK(reflections_of_any_layer(automaton_of_maps({{0, 0, 0}})).value == 1);
  CHECK(reflections_of_any_layer(automaton_of_maps({{1, 0, 0}})).value == 2);
  CHECK(reflections_of_any_layer(automaton_of_maps({{1, 2, 0, 0}})).value == 3);
  CHECK(reflections_of_any_layer(word_problem("S5", "standard")).value == 2);
  CHECK(reflections_of_any_layer(word_problem("Z2^3", "standard")).value == 1);
}

TEST_CASE("layers: the labels, numbers and depth that simple groups in the monoid ask for") {
  const auto bounds = [](const Dfa& dfa) {
    return divisor_bounds(dfa, GreenStructure::of(letter_maps(dfa), dfa.states()));
  };
  const DivisorBounds a5 = bounds(point_action("A5", "standard"));
  CHECK(a5.labels.value == 5);
  CHECK(a5.numbers.value == 3);
  CHECK_FALSE(a5.diagonal.has_value());
  const DivisorBounds s4 = bounds(point_action("S4", "standard"));
  CHECK(s4.labels.value == 3);
  CHECK(s4.numbers.value == 2);
  CHECK(s4.diagonal.value().value == 3);
  const DivisorBounds psl = bounds(point_action("PSL(3,2)", "standard"));
  CHECK(psl.labels.value == 7);
  CHECK(psl.numbers.value == 4);
  // xyx = yx fails for "a came, and no b before it".
  CHECK(layers_of_resets(automaton_of_maps({{1, 1, 2}, {2, 1, 2}})).value().value == 2);
  CHECK(layers_of_resets(automaton_of_maps({{0, 0}, {1, 1}, {0, 1}})).value().value == 1);
}

TEST_CASE("groups that are too large to be counted are checked by a subgroup, or not claimed") {
  // Generators of a group on n points, and resets to one point of each orbit.
  const auto machine = [](State points, std::vector<std::vector<State>> letters, const std::vector<State>& orbits) {
    for (const State first : orbits) letters.push_back(std::vector<State>(points, first));
    std::vector<State> table;
    for (State q = 0; q < points; ++q)
      for (const auto& letter : letters) table.push_back(letter[q]);
    std::vector<Output> outputs;
    std::vector<std::string> names, output_names;
    for (State q = 0; q < points; ++q) outputs.push_back(q), output_names.push_back(std::to_string(q));
    for (std::size_t i = 0; i < letters.size(); ++i) names.push_back("x" + std::to_string(i));
    return Dfa::moore(Alphabet::from_names(names), std::move(table), 0, std::move(outputs), std::move(output_names));
  };
  const auto cycle = [](State points, State from, State length) {
    std::vector<State> map(points);
    for (State q = 0; q < points; ++q) map[q] = q;
    for (State i = 0; i < length; ++i) map[from + i] = from + (i + 1) % length;
    return map;
  };
  // Z_2^15 by 15 swaps, Z_30^3 by three cycles, Z_30030 × Z_2 by one map and a swap.
  std::vector<std::vector<State>> swaps, cycles, both(1);
  for (State i = 0; i < 15; ++i) swaps.push_back(cycle(30, 2 * i, 2));
  for (State i = 0; i < 3; ++i) cycles.push_back(cycle(90, 30 * i, 30));
  State from = 0;
  std::vector<State> by_two, by_thirty{0, 30, 60}, unequal{41};
  for (State q = 0; q < 30; q += 2) by_two.push_back(q);
  for (State q = 0; q < 43; ++q) both[0].push_back(q);
  for (const State length : {2u, 3u, 5u, 7u, 11u, 13u}) {
    const auto part = cycle(43, from, length);
    for (State q = from; q < from + length; ++q) both[0][q] = part[q];
    unequal.push_back(from);
    from += length;
  }
  both.push_back(cycle(43, 41, 2));
  struct Fact {
    Dfa dfa;
    std::uint64_t group;
  };
  for (const auto& [dfa, group] :
       {Fact{machine(30, swaps, by_two), 4}, {machine(90, cycles, by_thirty), 4}, {machine(43, both, unequal), 3}}) {
    const Smallest found = smallest(dfa, states_shown(dfa));
    CAPTURE(dfa.states());
    for (const std::string& limit : found.limits) CHECK(!test::contains(limit, "too large for its check"));
    REQUIRE(found.finite_values);
    CHECK(found.finite_values->group_dimension == group);
  }
}
