#include <doctest/doctest.h>

#include "krohn/automata/cascades/holonomy.h"
#include "krohn/constructions/build/builders.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/prove/claims/closed_layer.h"
#include "krohn/simulate/prove/claims/unit_moves.h"
#include "krohn/simulate/prove/self_check.h"
#include "tests/simulate/hand_built.h"
#include "tests/simulate/proving.h"

using namespace krohn;
using namespace krohn::hand_built;

namespace {

Layer unit_layer(Label labels, std::uint32_t copies, std::vector<Matrix> matrices) {
  Layer layer;
  layer.dimension = labels * copies;
  layer.labels = labels;
  layer.decoder.unit_copies = copies;
  layer.initial = codeword(layer, 0);
  for (Matrix& a : matrices) layer.transitions.push_back({std::move(a), {}});
  for (Action action = 0; action < layer.transitions.size(); ++action) layer.wiring.action_of.push_back(action);
  return layer;
}

/// The codeword that every number of A e_i says it is, if any.
template <class A>
std::optional<std::uint32_t> written_out(const RoundedLayer<A>& rounded, const Layer& layer, Action action,
                                         std::uint32_t from) {
  using Number = typename A::Number;
  const auto numbers = [&](std::uint32_t i) {
    const Eigen::MatrixXd code = codeword(layer, i);
    std::vector<Number> rounded_code;
    for (Eigen::Index j = 0; j < code.size(); ++j) rounded_code.push_back(round_weight<A>(code(j)));
    return rounded_code;
  };
  const std::vector<Number> before = numbers(from);
  std::vector<Number> after(before.size());
  rounded.move(action, before.data(), after.data());
  for (std::uint32_t to = 0; to < layer.labels; ++to) {
    const std::vector<Number> expected = numbers(to);
    if (std::equal(after.begin(), after.end(), expected.begin(),
                   [](Number a, Number b) { return state_bits<A>(a) == state_bits<A>(b); }))
      return to;
  }
  return std::nullopt;
}

/// How many moves the short way knows, and how many there are; it must know what writing out finds, where it is to.
struct Known {
  std::size_t moves = 0, all = 0;
};

Known compare(const Layer& layer, bool all_known) {
  Known known;
  for (const ArithmeticName name : ArithmeticName::all())
    with_arithmetic(name, [&](auto type) {
      using A = decltype(type);
      const RoundedLayer<A> rounded(layer, Form::kStructured);
      const UnitMoves short_way(layer, name, Form::kStructured);
      for (Action action = 0; action < layer.transitions.size(); ++action)
        for (std::uint32_t i = 0; i < layer.labels; ++i, ++known.all) {
          const auto expected = written_out<A>(rounded, layer, action, i), found = short_way(action, i);
          known.moves += found.has_value();
          if (found || all_known) REQUIRE(found == expected);
        }
    });
  return known;
}

std::vector<std::vector<Point>> all_maps(Point degree) {
  std::vector<std::vector<Point>> maps{{}};
  for (Point point = 0; point < degree; ++point) {
    std::vector<std::vector<Point>> longer;
    for (const auto& map : maps)
      for (Point image = 0; image < degree; ++image) {
        longer.push_back(map);
        longer.back().push_back(image);
      }
    maps = std::move(longer);
  }
  return maps;
}

Reflection reflection(std::vector<Reflection::Entry> entries, double beta, std::int64_t over = 1) {
  return {.entries = std::move(entries), .scale_squared_denominator = over, .beta = beta};
}

}  // namespace

TEST_CASE("all maps of up to four coordinates, in up to four copies") {
  for (const auto& [labels, copies] : {std::pair{1, 1}, {2, 1}, {3, 1}, {4, 1}, {1, 2}, {2, 2}, {1, 3}, {1, 4}}) {
    CAPTURE(labels);
    CAPTURE(copies);
    std::vector<Matrix> matrices;
    for (std::vector<Point>& map : all_maps(static_cast<Point>(labels * copies)))
      matrices.push_back(MapMatrix{Transformation::from_images(std::move(map))});
    compare(unit_layer(static_cast<Label>(labels), static_cast<std::uint32_t>(copies), std::move(matrices)), true);
  }
}

TEST_CASE("all products of up to three of these reflections") {
  std::vector<Reflection> factors;
  for (const auto& [i, j] : all_swaps(4)) {
    factors.push_back(reflection({{i, 1}, {j, -1}}, 1));     // swaps
    factors.push_back(reflection({{i, 1}, {j, -1}}, 2, 2));  // swaps, but for rounding
    factors.push_back(reflection({{i, 1}, {j, 1}}, 1));      // swaps and negates
    factors.push_back(reflection({{i, 1}, {j, -1}}, 0.5));   // halves
  }
  factors.push_back(reflection({{2, 1}}, 2));                               // negates
  factors.push_back(reflection({{0, 1}, {1, -1}, {2, 1}, {3, -1}}, 2, 4));  // swaps two pairs: doubled keys
  factors.push_back(reflection({{0, 1}, {1, -1}, {2, 1}, {3, -1}}, 0));     // nothing
  std::vector<Matrix> matrices{ReflectionProduct{4, {}}};
  for (const Reflection& a : factors) {
    matrices.push_back(ReflectionProduct{4, {a}});
    for (const Reflection& b : factors) {
      matrices.push_back(ReflectionProduct{4, {a, b}});
      matrices.push_back(ReflectionProduct{4, {a, b, factors[0]}});
      matrices.push_back(ReflectionProduct{4, {a, factors[9], b}});
    }
  }
  const Known one = compare(unit_layer(4, 1, matrices), true);
  CHECK(one.moves > one.all / 10);
  CHECK(one.moves < one.all);
  compare(unit_layer(2, 2, matrices), true);
}

TEST_CASE("what is not known for certain is written out") {
  const Reflection swap = reflection({{0, 1}, {1, -1}}, 1);
  const auto with_b = [](Layer layer) {
    layer.transitions[0].b = Eigen::MatrixXd::Zero(layer.dimension, 1);
    return layer;
  };
  const Matrix map = MapMatrix{Transformation::from_images({1, 0})};
  CHECK(compare(unit_layer(2, 1, {map}), true).moves == 2 * ArithmeticName::all().size());
  CHECK(compare(with_b(unit_layer(2, 1, {map})), false).moves == 0);
  CHECK(compare(with_b(unit_layer(2, 1, {ReflectionProduct{2, {swap}}})), false).moves == 0);
  CHECK(compare(unit_layer(2, 1, {DiagonalMatrix{{1, 1}}}), false).moves == 0);
  Layer listed = unit_layer(2, 1, {map});
  listed.decoder = {{codeword(listed, 0), codeword(listed, 1)}, {}, {}, 0};
  CHECK(compare(listed, false).moves == 0);
}

TEST_CASE("a key that overflows makes zeros into NaN, wherever it is") {
  // 65504 is the greatest number of fp16 and 65520 rounds to infinity; infinity · 0 is NaN in coordinates 0 and 1.
  for (const std::int32_t value : {65519, 65520}) {
    Layer layer = unit_layer(3, 1, {ReflectionProduct{3, {reflection({{0, value}, {1, -value}}, 0)}}});
    const RoundedLayer<Fp16> rounded(layer, Form::kStructured);
    const UnitMoves short_way(layer, Precision::kFp16, Form::kStructured);
    const auto expected = written_out<Fp16>(rounded, layer, 0, 2);
    CHECK(expected.has_value() == (value == 65519));
    CHECK(short_way(0, 2) == expected);
  }
}

TEST_CASE("the machine of labels is the same the short way, and so is the proof") {
  std::mt19937_64 random(5);
  for (const State states : {1, 2, 7, 30}) {
    Network network = one_hot(random_automaton(random, states, 3));
    const auto listed = certify_closed_codewords(network, in(Precision::kBf16));
    network.layers[0].decoder = {{}, {}, {}, 1};
    const auto unlisted = certify_closed_codewords(network, in(Precision::kBf16));
    REQUIRE(listed);
    REQUIRE(unlisted);
    CHECK(listed->pairs == unlisted->pairs);
    CHECK(listed->evidence == unlisted->evidence);
    CHECK(listed->proof == unlisted->proof);
  }
}

TEST_CASE("thirty thousand one-hot states are proved") {
  std::mt19937_64 random(6);
  const State states = 30'000;
  std::vector<Matrix> actions;
  const Dfa dfa = random_automaton(random, states, 2);
  for (Letter letter = 0; letter < 2; ++letter) actions.emplace_back(MapMatrix{dfa.letter_map(letter)});
  Layer layer = unit_layer(states, 1, std::move(actions));
  Network network{dfa, {std::move(layer)}, Readout{{identity_readout(states)}}, {}};
  const auto certificate = certify_closed_codewords(network, {});
  REQUIRE(certificate);
  CHECK(certificate->is<Proved>());
  const std::size_t reached = std::get<ClosedCodewords>(certificate->proof).layers[0].codewords.size();
  CHECK(certificate->pairs == 2 * reached);
  CHECK(reached > states / 2);
  // One arc of the oracle bent: nothing is proved.
  std::vector<State> table(dfa.table().begin(), dfa.table().end());
  table[0] = (table[0] + 1) % states;
  network.automaton = automaton(2, std::move(table));
  CHECK_FALSE(certify_closed_codewords(network, {}));
}

// One-hot networks along words, beside the evaluator that writes every number out.

namespace {

/// One-hot states whose codewords are named, not written.
Network units(Dfa dfa, std::vector<Matrix> actions) {
  Eigen::MatrixXd initial = unit(dfa.states(), dfa.initial());
  Network network = one_layer(std::move(dfa), std::move(initial), std::move(actions), {});
  network.layers[0].decoder.unit_copies = 1;
  return network;
}

Network units(Dfa dfa) {
  std::vector<Matrix> actions;
  for (Letter letter = 0; letter < dfa.letters(); ++letter) actions.emplace_back(MapMatrix{dfa.letter_map(letter)});
  return units(std::move(dfa), std::move(actions));
}

/// Swaps of neighbours among n states, by maps and reflections in turn.
Network neighbours(std::uint32_t n) {
  std::vector<State> table(std::size_t{n} * (n - 1));
  std::vector<Matrix> actions;
  for (std::uint32_t i = 0; i + 1 < n; ++i) {
    for (State q = 0; q < n; ++q) table[q * (n - 1) + i] = q == i ? i + 1 : q == i + 1 ? i : q;
    actions.push_back(swap_matrix(n, i, i + 1, i % 2 == 0 ? Swap::kMap : Swap::kUnnormalised));
  }
  return units(automaton(n - 1, std::move(table)), std::move(actions));
}

/// One-hot states, permuted, reset and reflected, in one layer and in several.
std::vector<Network> networks() {
  std::vector<Network> all{neighbours(5)};
  std::mt19937_64 random(11);
  for (int i = 0; i < 6; ++i) {
    const Dfa dfa = hand_built::random_automaton(random, 5, 2);
    all.push_back(units(dfa));
    all.push_back(cascade_network(dfa, holonomy_decomposition(dfa), {}));
  }
  all.push_back(units(all[1].automaton));
  all.back().automaton = all[3].automaton;  // a network of another language
  return all;
}

}  // namespace

TEST_CASE("a run of ones answers as the evaluator does on all words of up to six letters") {
  std::uint64_t followed = 0, lost = 0;
  for (const Network& network : networks())
    for (const ArithmeticName arithmetic : {ArithmeticName(Precision::kFp32), ArithmeticName(Precision::kBf16)})
      for (const Form form : {Form::kStructured, Form::kDense}) {
        const auto run = make_unit_run(network, arithmetic, form);
        if (!run) continue;
        const auto evaluator = make_evaluator(network, arithmetic, form);
        const Letter letters = network.automaton.letters();
        std::uint64_t words = 1;
        for (std::uint32_t length = 1; length <= 6; ++length) {
          words *= letters;
          for (std::uint64_t number = 0; number < words; ++number) {
            run->reset();
            evaluator->reset();
            std::uint64_t rest = number;
            for (std::uint32_t t = 0; t < length; ++t, rest /= letters) {
              const auto letter = static_cast<Letter>(rest % letters);
              const auto answer = run->step(letter);
              const auto wanted = evaluator->step(letter);
              if (!answer && ++lost) break;
              ++followed;
              REQUIRE(*answer == wanted.value_or(kNoState));
            }
          }
        }
      }
  CHECK(followed > 1000);
  MESSAGE(followed << " letters followed, " << lost << " words lost");
}

TEST_CASE("a run of ones is impossible, or ends, where states are others") {
  CHECK_FALSE(make_unit_run(rotation(5, {0, 1}), Precision::kFp32, Form::kStructured));
  Network away = units(counter(3, {0, 1}));
  const auto whole = make_unit_run(away, Precision::kFp32, Form::kStructured);
  REQUIRE(whole);
  CHECK(whole->step(1) == State{1});
  away.layers[0].initial(1) = 1;  // two ones are no codeword
  CHECK_FALSE(make_unit_run(away, Precision::kFp32, Form::kStructured));
}

TEST_CASE("a large one-hot network is replayed to the last letter") {
  const Network network = units(counter(20'000, {1, 7}));
  Certificate proved{.claim = Proved{}};
  std::uint64_t letters = 0;
  CHECK_FALSE(replay(network, proved, 100'000, letters));
  CHECK(letters == 100'000);
}
