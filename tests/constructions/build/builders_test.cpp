#include "krohn/constructions/build/builders.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "krohn/constructions/actions/permutation_matrix.h"
#include "krohn/constructions/actions/tracked_states.h"
#include "krohn/constructions/exactness/exactness.h"
#include "krohn/groups/error.h"
#include "tests/constructions/reference.h"
#include "tests/constructions/sample_automata.h"

using namespace krohn;

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

/// Theorem 6 in double, from the formulae of MATH.md §2 alone: all words of a length, by depth-first search.
void all_words(const Network& network, State m, std::size_t depth, std::size_t length, ReferenceRun run,
               State expected) {
  if (depth == length) return;
  for (Letter letter = 0; letter < m; ++letter) {
    ReferenceRun next = run;
    next.step(letter);
    const State state = network.automaton.next(expected, letter);
    CHECK(next.state() == state);
    all_words(network, m, depth + 1, length, next, state);
  }
}

}  // namespace

TEST_CASE("theorem 6 on all words of some length") {
  struct Fact {
    State m;
    std::size_t length;
  };
  for (const Fact& fact : {Fact{2, 8}, Fact{3, 6}, Fact{4, 4}, Fact{5, 4}, Fact{7, 3}}) {
    CAPTURE(fact.m);
    std::vector<State> steps;
    for (State step = 0; step < fact.m; ++step) steps.push_back(step);
    const Network network = build_two_layer_reflections(counter(fact.m, steps));
    all_words(network, fact.m, 0, fact.length, ReferenceRun(network), 0);
  }
}
