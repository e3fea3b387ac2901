#include "krohn/constructions/build/cascade_network.h"

#include <doctest/doctest.h>

#include <Eigen/Core>
#include <cmath>
#include <random>

#include "krohn/automata/cascades/holonomy.h"
#include "krohn/automata/cascades/swap_cascade.h"
#include "krohn/constructions/exactness/exactness.h"
#include "krohn/groups/error.h"
#include "tests/constructions/reference.h"
#include "tests/constructions/sample_automata.h"

using namespace krohn;

namespace {

template <class Number>
using State1 = std::vector<Number>;

/// A key entry as a layer in this precision would hold it.
template <class Number>
Number key_entry(const Reflection& reflection, const Reflection::Entry& entry) {
  const double scale_squared = static_cast<double>(reflection.scale_squared_numerator) /
                               static_cast<double>(reflection.scale_squared_denominator);
  return static_cast<Number>(std::sqrt(scale_squared) * entry.value);
}

/// h ← h − β k (kᵀ h), every product and sum rounded.
template <class Number>
void reflect(const Reflection& reflection, State1<Number>& h) {
  Number dot(0);
  for (const auto& entry : reflection.entries)
    dot = Number(dot + Number(key_entry<Number>(reflection, entry) * h[entry.position]));
  const Number scaled(Number(reflection.beta) * dot);
  for (const auto& entry : reflection.entries)
    h[entry.position] = Number(h[entry.position] - Number(scaled * key_entry<Number>(reflection, entry)));
}

template <class Number>
State1<Number> move(const Transition& transition, State1<Number> h) {
  if (const auto* product = std::get_if<ReflectionProduct>(&transition.a)) {
    for (const Reflection& factor : product->factors) reflect(factor, h);
    return h;
  }
  const LongMatrix a = to_dense(transition.a);
  State1<Number> next(h.size(), Number(0));
  for (std::size_t i = 0; i < h.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    for (std::size_t j = 0; j < h.size(); ++j)
      next[i] = Number(next[i] + Number(Number(static_cast<double>(a(row, static_cast<Eigen::Index>(j)))) * h[j]));
    if (transition.b.size() != 0) next[i] = Number(next[i] + Number(transition.b(row, 0)));
  }
  return next;
}

template <class Number>
State1<Number> numbers(const Eigen::MatrixXd& h) {
  State1<Number> result;
  for (Eigen::Index i = 0; i < h.rows(); ++i) result.push_back(Number(h(i, 0)));
  return result;
}

/// Every label under every action goes to the exact codeword of its image: with the wiring, exact at every length.
template <class Number>
void check_closed_codewords(const Network& network, const Cascade& cascade) {
  for (std::size_t k = 0; k < network.layers.size(); ++k) {
    const Layer& layer = network.layers[k];
    REQUIRE(layer.transitions.size() == cascade.layers[k].actions.size());
    for (Action a = 0; a < layer.transitions.size(); ++a)
      for (Label x = 0; x < layer.labels; ++x) {
        const Label y = cascade.layers[k].actions[a][x];
        CHECK(move(layer.transitions[a], numbers<Number>(codeword(layer, x))) == numbers<Number>(codeword(layer, y)));
      }
  }
}

Dfa random_automaton(unsigned seed, State states) {
  std::mt19937 random(seed);
  std::vector<State> table(3 * states);
  for (State& target : table) target = static_cast<State>(random() % states);
  return Dfa::acceptor(Alphabet::of_characters("abc"), table, 0, std::vector<bool>(states, true));
}

/// All of T_5.
Dfa t5() {
  return Dfa::acceptor(Alphabet::of_characters("cte"), {1, 1, 1, 2, 0, 1, 3, 2, 2, 4, 3, 3, 0, 4, 4}, 0,
                       {true, false, false, false, false});
}

}  // namespace

TEST_CASE("with permutation matrices, un-normalised and doubled keys a cascade is exact in every precision") {
  for (const Dfa& dfa : {t5(), random_automaton(1, 6), random_automaton(2, 8), random_automaton(3, 8)}) {
    const Cascade cascade = chain_decomposition(dfa);
    for (const std::optional<KeyStyle> keys :
         {std::optional<KeyStyle>{}, std::optional(KeyStyle::kUnnormalised), std::optional(KeyStyle::kDoubled)}) {
      const Network network = cascade_network(dfa, cascade, {keys});
      check_closed_codewords<double>(network, cascade);
      check_closed_codewords<float>(network, cascade);
      check_closed_codewords<Eigen::half>(network, cascade);
      check_closed_codewords<Eigen::bfloat16>(network, cascade);
    }
  }
}

TEST_CASE("shapes, sizes and forms follow the key style") {
  const Dfa dfa = t5();
  const Cascade cascade = chain_decomposition(dfa);
  const Network plain = cascade_network(dfa, cascade);
  CHECK(plain.provenance.construction == "cascade-chain");
  CHECK(size_of(plain).layers == 4);
  CHECK(size_of(plain).state_numbers == 5 + 4 + 3 + 2);
  CHECK(size_of(plain).alphabet_sizes == cascade.alphabet_sizes());
  CHECK(plain.layers[0].wiring.next == cascade.layers[0].wiring.next);
  const Network doubled = cascade_network(dfa, cascade, {KeyStyle::kDoubled});
  CHECK(size_of(doubled).state_numbers == 2 * (5 + 4 + 3 + 2));
  // The reset writes e_c + e_{n+c}.
  const Transition& reset = doubled.layers[0].transitions[2];
  CHECK(form_name(reset.a) == "zero");
  CHECK(reset.b.sum() == 2);
  CHECK(reset.b == codeword(doubled.layers[0], *cascade.layers[0].actions[2].constant_image()));
}

TEST_CASE("the paper's unit keys are right but not exact") {
  const Dfa dfa = t5();
  const Cascade cascade = chain_decomposition(dfa);
  const Network network = cascade_network(dfa, cascade, {KeyStyle::kUnit});
  const Layer& layer = network.layers[0];
  double worst = 0;
  for (Action a = 0; a < layer.transitions.size(); ++a)
    for (Label x = 0; x < layer.labels; ++x) {
      const auto got = move(layer.transitions[a], numbers<double>(codeword(layer, x)));
      const auto wanted = numbers<double>(codeword(layer, cascade.layers[0].actions[a][x]));
      for (std::size_t i = 0; i < got.size(); ++i) worst = std::max(worst, std::abs(got[i] - wanted[i]));
    }
  CHECK(worst > 0);
  CHECK(worst < 1e-14);
}

TEST_CASE("resets in rows and single swaps: one reflection a token in every layer, exact in every precision") {
  std::vector<Dfa> samples{t5(), ends_in_abb(), counter(5, {1, 2}), word_problem("S3", "all"), counter(1, {0})};
  for (unsigned seed = 0; seed < 60; ++seed) samples.push_back(random_automaton(seed, 2 + seed % 4));
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
  const Dfa dfa = random_automaton(4, 4);
  CHECK_THROWS_AS(cascade_network(t5(), chain_decomposition(dfa)), InputError);
  Cascade cascade = chain_decomposition(dfa);
  cascade.layers[0].actions[0] = Transformation::from_images({0, 0, 1});
  CHECK_THROWS_AS(cascade_network(dfa, cascade), InputError);
}
