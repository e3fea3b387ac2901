// Cascades are certified layer by layer: the numbers of each layer close by themselves, and the labels emulate.
#include <doctest/doctest.h>

#include "krohn/automata/cascades/cascade.h"
#include "krohn/automata/cascades/holonomy.h"
#include "krohn/constructions/build/cascade_network.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/prove/certify_codewords.h"
#include "krohn/simulate/prove/pairs/certify_reachable.h"
#include "tests/simulate/hand_built.h"
#include "tests/simulate/replayed_search.h"

using namespace krohn;
using namespace krohn::hand_built;

namespace {

constexpr Precision kPrecisions[] = {Precision::kFp64, Precision::kFp32, Precision::kFp16, Precision::kBf16};

/// Both decompositions, with bijections as permutation matrices and as exact reflections.
std::vector<Network> networks_of(const Dfa& dfa) {
  std::vector<Network> networks;
  for (const Cascade& cascade : {chain_decomposition(dfa), holonomy_decomposition(dfa)})
    for (const std::optional<KeyStyle> keys :
         {std::optional<KeyStyle>{}, std::optional(KeyStyle::kUnnormalised), std::optional(KeyStyle::kDoubled)})
      networks.push_back(cascade_network(dfa, cascade, {keys}));
  return networks;
}

Dfa symmetric_group_on_points(std::uint32_t n) { return symmetric(n, 1, Swap::kMap).automaton; }

}  // namespace

TEST_CASE("cascades of random automata are proved in every precision and both forms") {
  std::mt19937_64 random(12);
  for (int i = 0; i < 12; ++i) {
    const Dfa dfa = random_automaton(random, static_cast<State>(2 + random() % 6), 2 + random() % 2);
    for (const Network& network : networks_of(dfa))
      for (const Precision precision : kPrecisions)
        for (const Form form : {Form::kStructured, Form::kDense}) {
          CertifyOptions options;
          options.arithmetic = precision;
          options.form = form;
          const auto certificate = certify_closed_codewords(network, options);
          REQUIRE(certificate);
          CHECK(certificate->is<Proved>());
        }
  }
}

TEST_CASE("a cascade with 10! reachable label tuples is proved all the same") {
  // S_10 on ten points: the chain's labels reach every tuple of widths 10, 9, …, 2 when it does not stop early.
  const Dfa dfa = symmetric_group_on_points(10);
  ChainOptions whole;
  whole.early_stop = false;
  const Cascade cascade = chain_decomposition(dfa, whole);
  REQUIRE(cascade.layers.size() == 9);
  const Certificate certificate = certify(cascade_network(dfa, cascade), {});
  CHECK(certificate.is<Proved>());
  CHECK(certificate.method == "closed codewords");
  CHECK(certificate.pairs < 10'000);
}

TEST_CASE("a cascade of another automaton is refuted by a shortest word") {
  std::mt19937_64 random(3);
  int refuted = 0;
  for (int i = 0; i < 40; ++i) {
    const Dfa dfa = random_automaton(random, 5, 2);
    std::vector<State> table(dfa.table().begin(), dfa.table().end());
    table[random() % table.size()] = static_cast<State>(random() % 5);
    const Dfa changed = automaton(2, table);
    Network network = cascade_network(dfa, chain_decomposition(dfa));
    network.automaton = changed;
    const Certificate certificate = certify(network, {});
    const ReplayedSearch plain = replayed_search(network, Precision::kFp32, Form::kStructured, 2000);
    REQUIRE(plain.ended == !plain.failing_word.has_value());
    CHECK((certificate.is<Refuted>()) == plain.failing_word.has_value());
    if (plain.failing_word) CHECK(certificate.failing_word()->size() == plain.failing_word->size());
    refuted += plain.failing_word.has_value();
  }
  CHECK(refuted > 5);
}

TEST_CASE("tables of cascades, changed at random, are never proved when they are wrong") {
  std::mt19937_64 random(8);
  int wrong = 0, right = 0;
  for (int i = 0; i < 300; ++i) {
    const Dfa dfa = random_automaton(random, 4, 2);
    const auto networks = networks_of(dfa);
    Network network = networks[random() % networks.size()];
    Layer& layer = network.layers[random() % network.layers.size()];
    std::vector<Context>& level = network.readout.next[random() % network.readout.next.size()];
    switch (random() % 4) {
      case 0:
        level[random() % level.size()] = static_cast<Context>(random() % 4);
        break;
      case 1:
        layer.wiring.action_of[random() % layer.wiring.action_of.size()] = 0;
        break;
      case 2:
        layer.transitions[random() % layer.transitions.size()] = layer.transitions.back();
        break;
      default:
        if (layer.wiring.next.empty()) continue;
        layer.wiring.next[random() % layer.wiring.next.size()] = layer.wiring.next[random() % layer.wiring.next.size()];
    }
    try {
      validate(network);
    } catch (const InputError&) {
      continue;
    }
    const ReplayedSearch plain = replayed_search(network, Precision::kFp32, Form::kStructured, 2000);
    REQUIRE(plain.ended == !plain.failing_word.has_value());
    const auto codewords = certify_closed_codewords(network, {});
    CHECK(codewords.has_value() == plain.ended);  // exact layers: closed, so the labels decide
    CHECK((certify_reachable_set(network, {}).is<Proved>()) == plain.ended);
    ++(plain.ended ? right : wrong);
  }
  CHECK(wrong > 40);
  CHECK(right > 40);
}
