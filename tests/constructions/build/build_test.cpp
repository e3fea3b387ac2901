#include <Eigen/Core>

#include "krohn/automata/cascades/cascade.h"
#include "krohn/automata/cascades/holonomy.h"
#include "krohn/constructions/build/based_action.h"
#include "krohn/constructions/build/builders.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/constructions/network/exactness.h"
#include "krohn/constructions/network/matrix.h"
#include "tests/automata/bestiary.h"
#include "tests/constructions/reference.h"
#include "tests/constructions/sample_automata.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

/// 1 at [to][from][letter] for every transition among the reachable states.
std::vector<std::uint8_t> tensor_of(const Dfa& automaton, const TrackedStates& tracked) {
  std::vector<std::uint8_t> tensor;
  for (const State to : tracked.states)
    for (const State from : tracked.states)
      for (Letter letter = 0; letter < automaton.letters(); ++letter)
        tensor.push_back(automaton.next(from, letter) == to);
  return tensor;
}

/// Σ_r outputs ⊗ inputs ⊗ letters, entry by entry.
std::vector<std::uint8_t> expand(const CpFactors& factors, std::uint32_t states, Letter letters) {
  std::vector<std::uint8_t> tensor(std::size_t{states} * states * letters, 0);
  for (std::size_t r = 0; r < factors.rank(); ++r)
    for (const auto i : factors.outputs[r])
      for (const auto j : factors.inputs[r])
        for (const auto k : factors.letters[r]) ++tensor[(std::size_t{i} * states + j) * letters + k];
  return tensor;
}

}  // namespace

TEST_CASE("CP factors of every mode multiply out to the tensor") {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    const Dfa automaton = random_automaton(seed, 2 + seed % 9, 1 + seed % 4);
    const TrackedStates tracked = tracked_states(automaton);
    const std::vector<std::uint8_t> tensor = tensor_of(automaton, tracked);
    std::size_t least = SIZE_MAX;
    for (const FibreMode mode : {FibreMode::kOutput, FibreMode::kInput, FibreMode::kLetter}) {
      const CpFactors factors = cp_factors(automaton, mode);
      CHECK(expand(factors, tracked.count(), automaton.letters()) == tensor);
      least = std::min(least, factors.rank());
    }
    CHECK(smallest_cp_factors(automaton).rank() == least);
    CHECK(closure_error(build_factored(automaton)) == 0);
  }
}

TEST_CASE("CP ranks of random state machines") {
  struct Fact {
    State m;
    std::size_t least, most;
  };
  // MATH.md §7: m = 10: 65–71; 25: about 405; 50: about 1600, near (1 − 1/e) m² = 1580.
  for (const Fact& fact : {Fact{10, 58, 74}, Fact{25, 380, 425}, Fact{50, 1530, 1640}})
    for (unsigned seed = 1; seed <= 10; ++seed) {
      CAPTURE(fact.m);
      CAPTURE(seed);
      const std::size_t rank = smallest_cp_factors(random_state_machine(seed, fact.m)).rank();
      CHECK(rank >= fact.least);
      CHECK(rank <= fact.most);
    }
}

TEST_CASE("letters that act alike share their terms") {
  CHECK(smallest_cp_factors(automaton_of_maps({{1, 2, 0}, {1, 2, 0}, {1, 2, 0}})).rank() == 3);
}

TEST_CASE("parallel decompositions") {
  struct Fact {
    const char* group;
    std::uint32_t dimension;
  };
  for (const Fact& fact : {Fact{"Z6", 5}, Fact{"Z60", 12}, Fact{"Z2xZ2xZ2", 6}, Fact{"Z3xZ5", 8}, Fact{"S3xZ5", 10}}) {
    CAPTURE(fact.group);
    const Network network = build_block_diagonal(word_problem(fact.group, "standard"));
    CHECK(network.layers[0].dimension == fact.dimension);
    CHECK(closure_error(network) == 0);
  }
}

TEST_CASE("a product of automata without inverses is taken apart") {
  // (ends in a) × (parity of b) × (a seen at least once), 8 states of which the reachable ones matter.
  std::vector<std::vector<State>> maps(2, std::vector<State>(8));
  for (State q = 0; q < 8; ++q) {
    const State parity = q >> 1 & 1;
    maps[0][q] = 1 | parity << 1 | 4;
    maps[1][q] = 0 | (1 - parity) << 1 | (q & 4);
  }
  const Network network = build_block_diagonal(automaton_of_maps(maps));
  CHECK(network.layers[0].dimension <= 5);
  CHECK(closure_error(network) == 0);
  check_random_word(network, 5, 100);
}

namespace {

struct Sample {
  const char* name;
  Dfa automaton;
};

std::vector<Sample> samples() {
  return {{"one state", counter(1, {0, 0})},
          {"parity", counter(2, {0, 1})},
          {"Z4", counter(4, {1, 3})},
          {"Z6", counter(6, {0, 1, 4})},
          {"Z60", counter(60, {1, 7, 59})},
          {"Z2xZ4", word_problem("Z2xZ4", "standard")},
          {"Z2^3", word_problem("Z2^3", "all")},
          {"S3", word_problem("S3", "standard")},
          {"D4", word_problem("D4", "standard")},
          {"Q8", word_problem("Q8", "standard")},
          {"S5", word_problem("S5", "transpositions")},
          {"S5 points", point_action("S5", "standard")},
          {"A5 points", point_action("A5", "standard")},
          {"ends in abb", ends_in_abb()},
          {"random 7x3", random_automaton(5, 7, 3)},
          {"permutations 6x2", random_permutation_automaton(9, 6, 2)},
          {"random state machine", random_state_machine(1, 10)}};
}

struct Builder {
  const char* name;
  std::function<Network(const Dfa&)> build;
};

template <KeyStyle keys>
Network permutation_with(const Dfa& a) {
  return build_permutation(a, {keys});
}
template <KeyStyle keys>
Network base_with(const Dfa& a) {
  return build_permutation_base(a, PermutationOptions{keys});
}
template <KeyStyle keys>
Network vector_with(const Dfa& a) {
  return build_permutation_vector(a, PermutationOptions{keys});
}

std::vector<Builder> builders() {
  return {{"one-hot", build_one_hot},
          {"permutation", [](const Dfa& a) { return build_permutation(a); }},
          {"permutation, unit", permutation_with<KeyStyle::kUnit>},
          {"permutation, unnormalised", permutation_with<KeyStyle::kUnnormalised>},
          {"permutation, doubled", permutation_with<KeyStyle::kDoubled>},
          {"base", [](const Dfa& a) { return build_permutation_base(a); }},
          {"base, unit", base_with<KeyStyle::kUnit>},
          {"base, doubled", base_with<KeyStyle::kDoubled>},
          {"vector", [](const Dfa& a) { return build_permutation_vector(a); }},
          {"vector, unnormalised", vector_with<KeyStyle::kUnnormalised>},
          {"vector, doubled", vector_with<KeyStyle::kDoubled>},
          {"parity scalar", build_parity_scalar},
          {"real diagonal", build_real_diagonal},
          {"rotation", build_rotation},
          {"rotation, primary", build_rotation_primary},
          {"R2", build_r2},
          {"signed permutation", build_signed_permutation},
          {"cyclotomic", build_integral_cyclotomic},
          {"standard", [](const Dfa& a) { return build_integral_standard(a); }},
          {"bilinear", build_bilinear},
          {"factored", build_factored},
          {"block-diagonal", [](const Dfa& a) { return build_block_diagonal(a); }},
          {"registers", build_registers}};
}

}  // namespace

TEST_CASE("every construction closes on its codewords, exactly where it claims so") {
  for (const Sample& sample : samples())
    for (const Builder& builder : builders()) {
      CAPTURE(sample.name);
      CAPTURE(builder.name);
      try {
        const Network network = builder.build(sample.automaton);
        const long double error = closure_error(network);
        CHECK(error < 1e-12L);
        if (!exact_precisions(network).empty()) CHECK(error == 0);
        check_random_word(network, 17, 60);
      } catch (const InputError& reason) {
        CHECK(std::string(reason.what()).size() > 20);
      }
    }
}

TEST_CASE("which constructions a sample admits") {
  struct Fact {
    const char* sample;
    std::vector<const char*> possible;
  };
  const std::vector<Fact> facts{
      {"ends in abb", {"one-hot", "bilinear", "factored", "registers"}},
      {"random 7x3", {"one-hot", "bilinear", "factored"}},
      {"Z4",
       {"one-hot", "permutation", "permutation, unit", "permutation, unnormalised", "permutation, doubled", "vector",
        "vector, unnormalised", "vector, doubled", "rotation", "rotation, primary", "R2", "signed permutation",
        "cyclotomic", "standard", "bilinear", "factored", "registers"}}};
  for (const Fact& fact : facts)
    for (const Sample& sample : samples()) {
      if (std::string(sample.name) != fact.sample) continue;
      std::vector<std::string> possible;
      for (const Builder& builder : builders()) try {
          builder.build(sample.automaton);
          possible.push_back(builder.name);
        } catch (const InputError&) {
        }
      CAPTURE(fact.sample);
      CHECK(possible == std::vector<std::string>(fact.possible.begin(), fact.possible.end()));
    }
}

TEST_CASE("every letter of a permutation takes exactly n − c reflections, in every style") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const Dfa automaton = random_permutation_automaton(seed, 9, 3);
    const TrackedStates tracked = tracked_states(automaton);
    for (const KeyStyle keys : {KeyStyle::kUnit, KeyStyle::kUnnormalised, KeyStyle::kDoubled}) {
      const Network network = build_permutation(automaton, {keys});
      for (std::size_t action = 0; action < tracked.maps.size(); ++action) {
        const auto& product = std::get<ReflectionProduct>(network.layers[0].transitions[action].a);
        CHECK(product.factors.size() == tracked.maps[action].to_permutation().reflection_length());
        for (const Reflection& factor : product.factors) {
          double norm = 0;
          for (const auto& entry : factor.entries) norm += entry.value * entry.value;
          norm *= double(factor.scale_squared_numerator) / double(factor.scale_squared_denominator);
          CHECK(1 - factor.beta * norm == -1);
        }
      }
    }
  }
}

TEST_CASE("a reflection product is the permutation's matrix, doubled or not") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const Dfa automaton = random_permutation_automaton(seed, 7, 1);
    const Permutation p = automaton.letter_map(0).to_permutation();
    const LongMatrix expected = to_dense(permutation_matrix(p, std::nullopt));
    CHECK((to_dense(permutation_matrix(p, KeyStyle::kUnit)) - expected).cwiseAbs().maxCoeff() < 1e-17L);
    CHECK(to_dense(permutation_matrix(p, KeyStyle::kUnnormalised)) == expected);
    LongMatrix doubled = LongMatrix::Zero(14, 7);  // e_i ↦ e_i + e_{n+i}
    doubled.topRows(7) = doubled.bottomRows(7) = LongMatrix::Identity(7, 7);
    CHECK(to_dense(permutation_matrix(p, KeyStyle::kDoubled)) * doubled == doubled * expected);
  }
}

TEST_CASE("word problems in the least degree and with a base") {
  struct Fact {
    const char* group;
    const char* generators;
    std::uint32_t dimension, columns;
    std::int64_t reflections;
  };
  for (const Fact& fact :
       {Fact{"S5", "transpositions", 5, 4, 1}, Fact{"S5", "standard", 5, 4, 4}, Fact{"S4", "all", 4, 3, 3},
        Fact{"A5", "standard", 5, 3, 4}, Fact{"D4", "standard", 4, 2, 3}, Fact{"Z60", "1,7", 12, 1, 9},
        Fact{"Z2xZ4", "standard", 6, 1, 3}, Fact{"Z2xZ3xZ5", "standard", 10, 1, 4}, Fact{"S3xS4", "standard", 7, 3, 3},
        Fact{"S6", "standard", 6, 5, 3}}) {
    CAPTURE(fact.group);
    CAPTURE(fact.generators);
    const Network network = build_permutation_base(word_problem(fact.group, fact.generators));
    CHECK(network.layers[0].dimension == fact.dimension);
    CHECK(network.layers[0].columns == fact.columns);
    CHECK(size_of(network).reflections_per_token == fact.reflections);
    CHECK(least_codeword_distance(network.layers[0]) >= std::sqrt(2.0) - 1e-15);
  }
}

TEST_CASE("groups whose regular action is already the smallest keep their states") {
  // Q_8 and Z_{p^a} have no faithful action of smaller degree.
  for (const Dfa& automaton : {word_problem("Q8", "standard"), counter(7, {1}), counter(9, {1, 2})})
    CHECK_THROWS_AS(build_permutation_base(automaton), InputError);
}

TEST_CASE("Z_60 as signed permutations: 10 numbers, 8 reflections; rotations with exact fractions") {
  const Dfa automaton = counter(60, {1, 7, 59});
  const Network network = build_signed_permutation(automaton);
  CHECK(network.layers[0].dimension == 10);
  CHECK(reflection_count(network.layers[0].transitions[0].a) == 8);
  const auto turn_of = [](const Network& n, std::size_t action) {
    return std::get<RotationBlocks>(n.layers[0].transitions[action].a).blocks[0].turn;
  };
  const Network rotation = build_rotation(automaton);
  CHECK(rotation.layers[0].dimension == 2);
  CHECK(turn_of(rotation, 0) == Turn{1, 60});
  CHECK(turn_of(rotation, 1) == Turn{7, 60});
  CHECK(turn_of(rotation, 2) == Turn{59, 60});
  CHECK(size_of(rotation).reflections_per_token == 2);
  CHECK(build_rotation_primary(automaton).layers[0].dimension == 6);
  CHECK(build_integral_cyclotomic(automaton).layers[0].dimension == 2 + 2 + 4);
}

TEST_CASE("dimensions of the abelian constructions") {
  struct Fact {
    const char* group;
    std::uint32_t rotation, primary, r2, signed_permutation, cyclotomic;
  };
  for (const Fact& fact : {Fact{"Z2", 1, 1, 2, 1, 1}, Fact{"Z2xZ4", 3, 3, 4, 3, 3}, Fact{"Z2xZ3", 2, 3, 2, 4, 3},
                           Fact{"Z6xZ4", 3, 5, 4, 6, 5}, Fact{"Z8", 2, 2, 2, 4, 4}, Fact{"Z2^3", 3, 3, 6, 3, 3},
                           Fact{"Z4xZ6xZ10", 4, 8, 6, 12, 10}}) {
    CAPTURE(fact.group);
    const Dfa automaton = word_problem(fact.group, "standard");
    CHECK(build_rotation(automaton).layers[0].dimension == fact.rotation);
    CHECK(build_rotation_primary(automaton).layers[0].dimension == fact.primary);
    CHECK(build_r2(automaton).layers[0].dimension == fact.r2);
    CHECK(build_signed_permutation(automaton).layers[0].dimension == fact.signed_permutation);
    CHECK(build_integral_cyclotomic(automaton).layers[0].dimension == fact.cyclotomic);
    CHECK(closure_error(build_rotation(automaton)) < 1e-15L);
  }
}

TEST_CASE("the paper's H_0 = (1, …, n) has a small margin, one-hot a large one") {
  const Network vector = build_permutation_vector(point_action("S5", "standard"));
  CHECK(vector.layers[0].decoder.codewords.size() == 120);
  CHECK(least_codeword_distance(vector.layers[0]) / vector.layers[0].initial.norm() ==
        doctest::Approx(0.19).epsilon(0.01));
  const Network one_hot = build_permutation(point_action("S5", "standard"));
  CHECK(least_codeword_distance(one_hot.layers[0]) == doctest::Approx(1.41).epsilon(0.01));
  const Network word = build_permutation_vector(word_problem("S5", "transpositions"));
  CHECK(word.layers[0].dimension == 5);
  CHECK(word.layers[0].decoder.codewords.size() == 120);
}

TEST_CASE("a letter that is no bijection is named with two states that it merges") {
  CHECK_THROWS_WITH_AS(build_permutation(ends_in_abb()),
                       "letter \"s0\" is not a bijection: it takes states 0 and 1 both to 1", InputError);
  CHECK_THROWS_WITH_AS(build_rotation(word_problem("S3", "(1 2),(1 2 3)")),
                       "the transition group is not abelian: letters \"s0\" and \"s1\" do not commute", InputError);
  CHECK_THROWS_WITH_AS(build_parity_scalar(counter(3, {1})), "the transition group is Z_3, not Z_2", InputError);
}

TEST_CASE("unreachable states are left out, and their letters may do what they like") {
  // States 0, 1 swap; state 2 falls onto 0.
  const Network network = build_permutation(automaton_of_maps({{1, 0, 0}}));
  CHECK(network.layers[0].dimension == 2);
  CHECK(closure_error(network) == 0);
}

TEST_CASE("one-hot stays cheap for many states") {
  const Network network = build_one_hot(random_automaton(3, 10'000, 70));
  CHECK(network.layers[0].decoder.codewords.empty());
  CHECK(size_of(network).weights <= 70ull * 10'000);
  CHECK(exact_precisions(network).size() == 4);
}

TEST_CASE("theorem 6: one reflection per token counts modulo m, m = 2 … 64") {
  for (State m = 2; m <= 64; ++m) {
    CAPTURE(m);
    std::vector<State> steps;
    for (State step = 0; step < m; ++step) steps.push_back(step);
    const Network network = build_two_layer_reflections(counter(m, steps));
    CHECK(size_of(network).reflections_per_token == 2);  // one in each of two layers
    for (const Layer& layer : network.layers)
      for (const Transition& transition : layer.transitions) CHECK(reflection_count(transition.a) == 1);
    CHECK(least_codeword_distance(network.layers[1]) == doctest::Approx(2 * std::sin(M_PI / m)));
    check_random_word(network, m, 400);
  }
}

namespace {

/// All of T_5.
Dfa t5() {
  return Dfa::acceptor(Alphabet::of_characters("cte"), {1, 1, 1, 2, 0, 1, 3, 2, 2, 4, 3, 3, 0, 4, 4}, 0,
                       {true, false, false, false, false});
}

}  // namespace

TEST_CASE("with permutation matrices, un-normalised and doubled keys a cascade is exact in every precision") {
  for (const Dfa& dfa : {t5(), random_automaton(1, 6, 3), random_automaton(2, 8, 3), random_automaton(3, 8, 3)}) {
    const Cascade cascade = chain_decomposition(dfa);
    for (const std::optional<KeyStyle> keys :
         {std::optional<KeyStyle>{}, std::optional(KeyStyle::kUnnormalised), std::optional(KeyStyle::kDoubled)}) {
      const Network network = cascade_network(dfa, cascade, {keys});
      CHECK(exact_precisions(network).size() == 4);
      for (std::size_t k = 0; k < network.layers.size(); ++k) {
        const Layer& layer = network.layers[k];
        for (Action a = 0; a < layer.transitions.size(); ++a)
          for (Label x = 0; x < layer.labels; ++x) {
            LongMatrix h = to_dense(layer.transitions[a].a) * long_codeword(layer, x);
            if (layer.transitions[a].b.size() > 0) h += layer.transitions[a].b.cast<long double>();
            CHECK(h == long_codeword(layer, cascade.layers[k].actions[a][x]));
          }
      }
      check_random_word(network, 3, 200);
    }
    // The paper's unit keys are right but not exact.
    const Network unit = cascade_network(dfa, cascade, {KeyStyle::kUnit});
    CHECK(exact_precisions(unit).empty());
    check_random_word(unit, 3, 200);
  }
}

TEST_CASE("shapes, sizes and forms follow the key style") {
  const Dfa dfa = t5();
  const Cascade cascade = chain_decomposition(dfa);
  const Network plain = cascade_network(dfa, cascade);
  CHECK(plain.provenance.construction == "cascade-chain");
  CHECK(size_of(plain).layers == 4);
  CHECK(size_of(plain).state_numbers == 5 + 4 + 3 + 2);
  for (std::size_t k = 0; k < cascade.layers.size(); ++k)
    CHECK(size_of(plain).alphabet_sizes[k] == cascade.layers[k].actions.size());
  CHECK(plain.layers[0].wiring.next == cascade.layers[0].wiring.next);
  const Network doubled = cascade_network(dfa, cascade, {KeyStyle::kDoubled});
  CHECK(size_of(doubled).state_numbers == 2 * (5 + 4 + 3 + 2));
  // The reset writes e_c + e_{n+c}.
  const Transition& reset = doubled.layers[0].transitions[2];
  CHECK(form_name(reset.a) == "zero");
  CHECK(reset.b.sum() == 2);
  CHECK(reset.b == codeword(doubled.layers[0], *cascade.layers[0].actions[2].constant_image()));
}

TEST_CASE("resets in rows and single swaps: one reflection a token in every layer, exact in every precision") {
  std::vector<Dfa> samples{t5(), ends_in_abb(), counter(5, {1, 2}), word_problem("S3", "all"), counter(1, {0})};
  for (unsigned seed = 0; seed < 60; ++seed) samples.push_back(random_automaton(seed, 2 + seed % 4, 3));
  for (const Dfa& dfa : samples)
    for (const KeyStyle keys : {KeyStyle::kUnnormalised, KeyStyle::kDoubled}) {
      const Network network = cascade_network(dfa, swap_cascade(holonomy_decomposition(dfa)), {keys, true});
      for (const Layer& layer : network.layers) {
        REQUIRE(reflections_of_layer(layer) <= 1);
        if (layer.columns > 1) REQUIRE(layer.dimension == 1);
      }
      REQUIRE(exact_precisions(network).size() == 4);
      check_random_word(network, 7, 300);
    }
}

TEST_CASE("one state gives one number") {
  const Dfa dfa = Dfa::acceptor(Alphabet::of_characters("ab"), {0, 0}, 0, {true});
  const Network network = cascade_network(dfa, chain_decomposition(dfa));
  CHECK(size_of(network).state_numbers == 1);
}

TEST_CASE("a cascade for another alphabet, or with an action that is neither kind, is refused") {
  const Dfa dfa = random_automaton(4, 4, 3);
  CHECK_THROWS_AS(cascade_network(t5(), chain_decomposition(dfa)), InputError);
  Cascade cascade = chain_decomposition(dfa);
  cascade.layers[0].actions[0] = Transformation::from_images({0, 0, 1});
  CHECK_THROWS_AS(cascade_network(dfa, cascade), InputError);
}

namespace {

auto figures(const PlanRow& row) {
  return std::tuple(row.construction, row.theorem, row.possible, row.reason, row.layers, row.state_numbers,
                    row.reflections, row.alphabet_sizes, row.exact_in, row.locked_in, row.snap_every, row.margin,
                    row.chosen);
}

/// How many rows were built for the choice that leaves rows out; it must be the choice among all, row by row.
std::size_t check_choice(const Dfa& automaton, const BuildOptions& wishes) {
  const Choice all = choose(automaton, wishes, PlanRows::kAll), needed = choose(automaton, wishes, PlanRows::kNeeded);
  REQUIRE(all.rows.size() == construction_names().size());
  const auto message_of = [](const std::exception_ptr& failure) {
    return test::error_of<Error>([&] {
      if (failure) std::rethrow_exception(failure);
    });
  };
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

TEST_CASE("leaving rows out changes no choice: all small automata, samples of every kind, counters, by many wishes") {
  const auto by_many_wishes = [](const Dfa& dfa) {
    for (const BuildOptions& wishes : kManyWishes) check_choice(dfa, wishes);
  };
  for_all_tables(2, 2, by_many_wishes);
  for_all_tables(3, 2, [](const Dfa& dfa) {
    if (dfa.letter_map(0) <= dfa.letter_map(1)) check_choice(dfa, {});
  });
  for (const Dfa& automaton :
       {counter(1, {0}), counter(5, {1}), counter(12, {3, 4}), word_problem("S3", "transpositions"),
        word_problem("Q8", "standard"), point_action("A5", "standard"), random_automaton(4, 6, 2), ends_in_abb(),
        automaton_of_maps({{1, 2, 0}, {0, 0, 0}}), automaton_of_maps({{0, 1, 2}, {1, 1, 1}, {2, 2, 2}})})
    by_many_wishes(automaton);
  for (State m = 1; m <= 26; ++m) check_choice(counter(m, {1 % m}), {});  // orders around those of the plane
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
      BuildOptions wishes{.construction = row.construction};
      wishes.integers = row.wraps_in;
      if (!row.possible) {
        CHECK(row.reason.size() > 20);
        CHECK_THROWS_AS(build(automaton, wishes), InputError);
        continue;
      }
      const Network network = build(automaton, wishes);
      CHECK(network.provenance.construction == row.construction);
      CHECK(size_of(network).state_numbers == row.state_numbers);
      CHECK(size_of(network).layers == row.layers);
      if (!row.wraps_in) check_random_word(network, 3, 200);  // in integers: wrapping_test
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
    const BuildOptions wishes{.keys = fact.keys};
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
    return row_of(plan(counter(n, {1}), BuildOptions{.keys = keys}), "permutation-vector").exact_in.size();
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
  BuildOptions few{.max_reflections = 1};
  CHECK(chosen(z60, few) == "cascade-single-reflections");  // exact
  few.max_dimension = 3;
  CHECK(chosen(z60, few) == "two-layer-reflections");
  few.max_reflections = 2;
  CHECK(chosen(z60, few) == "rotation");
  few.exact = true;
  CHECK(chosen(z60, few).empty());
  CHECK_THROWS_AS(build(z60, few), InputError);

  CHECK_THROWS_WITH_AS(build(word_problem("S5", "all"), BuildOptions{.max_reflections = 1}),
                       doctest::Contains("--construction cascade-single-reflections tries longer"), InputError);

  BuildOptions small{.max_dimension = 8};
  CHECK(chosen(z60, small) == "integral-cyclotomic");
  small.max_dimension = 2;
  CHECK(chosen(z60, small) == "rotation");

  BuildOptions keyed{.keys = KeyStyle::kDoubled};
  CHECK(chosen(point_action("S5", "standard"), keyed) == "permutation-reflections");
  keyed.construction = "permutation";
  CHECK(build(point_action("S5", "standard"), keyed).layers[0].dimension == 10);
  CHECK(chosen(ends_in_abb(), BuildOptions{.keys = KeyStyle::kUnit}) ==
        "cascade-single-reflections");  // of resets in rows, which have no keys to round

  CHECK_THROWS_WITH_AS(
      build(z60, BuildOptions{.construction = "rotation", .precision = Precision::kBf16, .exact = true}),
      "rotation does not fit: it is not bit-exact in bf16", InputError);
  CHECK_THROWS_AS(plan(z60, BuildOptions{.construction = "magic"}), InputError);
  const BuildOptions impossible{.construction = "permutation"};
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
