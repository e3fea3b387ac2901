#include <boost/math/constants/constants.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/cpp_int.hpp>

#include "krohn/constructions/build/builders.h"
#include "krohn/constructions/network/matrix.h"
#include "krohn/constructions/network/network.h"
#include "tests/constructions/sample_automata.h"
#include "tests/testing.h"

using namespace krohn;
namespace mp = boost::multiprecision;

using Wide = mp::number<mp::cpp_bin_float<400, mp::digit_base_2>>;

namespace {

/// Cut off after 64 bits with the last bit 1: what rounding to odd makes of a number that has more.
Wide to_odd(const Wide& value) {
  int exponent = 0;
  const Wide significand = mp::floor(mp::ldexp(mp::frexp(mp::abs(value), &exponent), 64));
  mp::cpp_int bits(significand);
  bits |= 1;
  const Wide size = mp::ldexp(Wide(bits), exponent - 64);
  return value < 0 ? Wide(-size) : size;
}

Wide true_cosine(std::int64_t p, std::int64_t q) {
  return mp::cos(2 * boost::math::constants::pi<Wide>() * Wide(p) / Wide(q));
}

}  // namespace

TEST_CASE("cosines of turns are rounded to odd, all of those with denominators up to 90") {
  for (std::int64_t q = 1; q <= 90; ++q)
    for (std::int64_t p = 0; p < q; ++p) {
      CAPTURE(p);
      CAPTURE(q);
      const long double given = cosine_of_turn(p, q);
      const bool is_rational = 12 * p % q == 0 && (4 * p % q == 0 || 6 * p % q == 0);
      if (is_rational) {
        CHECK(2 * given == std::round(2 * static_cast<double>(given)));
        CHECK(mp::abs(Wide(given) - true_cosine(p, q)) < 1e-90);
      } else {
        CHECK(Wide(given) == to_odd(true_cosine(p, q)));
      }
    }
}

TEST_CASE("cosines of turns by the least angle that there is, beside every eighth of a turn") {
  for (const std::int64_t q : {std::int64_t{1} << 58, (std::int64_t{1} << 58) - 3, (std::int64_t{1} << 56) - 5})
    for (int eighth = 0; eighth < 8; ++eighth)
      for (std::int64_t by = -2; by <= 2; ++by) {
        const std::int64_t p = (q / 8 * eighth + by + q) % q;
        if (4 * p % q == 0) continue;
        CAPTURE(p);
        CAPTURE(q);
        CHECK(Wide(cosine_of_turn(p, q)) == to_odd(true_cosine(p, q)));
      }
}

TEST_CASE(
    "a weight in double is the nearest to the exact cosine or sine, also where long double's nearest leads astray") {
  int astray = 0;
  for (std::int64_t q = 5; q <= 400; ++q)
    for (std::int64_t p = 1; 4 * p < q; ++p) {
      const Wide exact = true_cosine(p, q);
      const double given = static_cast<double>(Turn{p, q}.cosine());
      CAPTURE(p);
      CAPTURE(q);
      if (given != exact.convert_to<double>()) CHECK(given == exact.convert_to<double>());
      astray += static_cast<double>(exact.convert_to<long double>()) != given;
    }
  CHECK(astray > 0);  // rounding twice, to nearest both times, is another function
  CHECK(Turn{(std::int64_t{1} << 56) - 1, std::int64_t{1} << 56}.sine() < 0);
  CHECK(static_cast<double>(Turn{1, std::int64_t{1} << 56}.sine()) == 2 * M_PI * 0x1p-56);
}

TEST_CASE("turns: the exact values are exact, the others are right to an ulp or two") {
  for (const std::int64_t q : {1, 2, 3, 4, 6, 12, 24})
    for (std::int64_t p = -2 * q; p <= 2 * q; ++p) {
      const Turn turn{p, q};
      if (4 * p % q == 0 || (6 * p % q == 0 && 12 % q == 0)) {
        const long double twice = 2 * turn.cosine();
        const bool rational = std::abs(std::cos(2 * M_PI * double(p) / double(q)) * 2 -
                                       std::round(std::cos(2 * M_PI * double(p) / double(q)) * 2)) < 1e-9;
        if (rational) CHECK(twice == std::round(twice));
      }
    }
  for (std::int64_t q = 1; q <= 300; ++q)
    for (std::int64_t p = 0; p < q; p += 1 + q / 40) {
      const Turn turn{p, q};
      const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(p) / q;
      CHECK(std::abs(turn.cosine() - std::cos(angle)) < 1e-18L);
      CHECK(std::abs(turn.sine() - std::sin(angle)) < 1e-18L);
      CHECK(Turn{p - 3 * q, q}.cosine() == turn.cosine());
    }
  CHECK(Turn{-1, 4}.normalised() == Turn{3, 4});
  CHECK(Turn{10, 60}.normalised() == Turn{1, 6});
  CHECK(Turn{1, 6}.cosine() == 0.5L);
  CHECK(Turn{5, 12}.sine() == 0.5L);
  CHECK(Turn{1, 4}.cosine() == 0);
  CHECK_THROWS_AS((Turn{1, 0}.normalised()), InputError);
}

namespace {

Reflection key(std::vector<Reflection::Entry> entries, double beta) {
  return {.entries = std::move(entries), .beta = beta};
}

Eigen::MatrixXd matrix(std::initializer_list<std::initializer_list<double>> rows) { return Eigen::MatrixXd(rows); }

}  // namespace

TEST_CASE("dense forms and reflection counts") {
  struct Fact {
    Matrix matrix;
    Eigen::MatrixXd dense;
    std::int64_t reflections;
  };
  const std::vector<Fact> facts{
      {MapMatrix{Transformation::from_images({1, 0})}, matrix({{0, 1}, {1, 0}}), 1},
      {MapMatrix{Transformation::from_images({1, 1})}, matrix({{0, 0}, {1, 1}}), -1},
      {SignedPermutationMatrix{Permutation::from_images({1, 0}), {1, -1}}, matrix({{0, -1}, {1, 0}}), 2},
      {SignedPermutationMatrix{Permutation::from_images({1, 0}), {-1, -1}}, matrix({{0, -1}, {-1, 0}}), 1},
      {ReflectionProduct{2, {key({{0, 1}, {1, -1}}, 1)}}, matrix({{0, 1}, {1, 0}}), 1},
      {ReflectionProduct{2, {key({{0, 1}}, 2), key({{0, 1}, {1, -1}}, 1)}}, matrix({{0, 1}, {-1, 0}}), 2},
      {RotationBlocks{{{false, {1, 4}}, {true, {1, 2}}}}, matrix({{0, -1, 0}, {1, 0, 0}, {0, 0, -1}}), 3},
      {DiagonalMatrix{{1, -1, 0.5}}, matrix({{1, 0, 0}, {0, -1, 0}, {0, 0, 0.5}}), 2},
      {DiagonalMatrix{{2}}, matrix({{2}}), -1},
      {ZeroMatrix{2}, matrix({{0, 0}, {0, 0}}), 2},
      {DenseMatrix{matrix({{0, 1}, {1, 0}})}, matrix({{0, 1}, {1, 0}}), 1},
      {DenseMatrix{matrix({{0, -1}, {1, 0}})}, matrix({{0, -1}, {1, 0}}), 2},
      {FactoredMatrix{2, {{0}, {1}}, {{1}, {0}}, {0, 1}}, matrix({{0, 1}, {1, 0}}), 1},
      {DenseMatrix{matrix({{1, 1}, {0, 1}})}, matrix({{1, 1}, {0, 1}}), -1},
      {BlockDiagonalMatrix{{matrix({{-1}}), matrix({{0, 1}, {1, 0}})}}, matrix({{-1, 0, 0}, {0, 0, 1}, {0, 1, 0}}), 2},
      {FactoredMatrix{2, {{0}, {1}}, {{0, 1}, {0}}, {0}}, matrix({{1, 1}, {0, 0}}), -1}};
  for (std::size_t i = 0; i < facts.size(); ++i) {
    CAPTURE(i);
    CAPTURE(form_name(facts[i].matrix));
    CHECK(to_dense(facts[i].matrix) == LongMatrix(facts[i].dense.cast<long double>()));
    CHECK(reflection_count(facts[i].matrix) == facts[i].reflections);
    CHECK(dimension(facts[i].matrix) == facts[i].dense.rows());
    CHECK_NOTHROW(validate(facts[i].matrix, dimension(facts[i].matrix), "here"));
    CHECK_THROWS_AS(validate(facts[i].matrix, dimension(facts[i].matrix) + 1, "here"), InputError);
  }
}

TEST_CASE("faults of matrices are named") {
  const double nan = std::nan("");
  const std::vector<Matrix> bad{SignedPermutationMatrix{Permutation::identity(2), {1}},
                                SignedPermutationMatrix{Permutation::identity(2), {1, 0}},
                                ReflectionProduct{2, {key({{0, 1}, {1, -1}}, 2)}},  // eigenvalue −3
                                ReflectionProduct{2, {key({{1, 1}, {0, -1}}, 1)}},
                                ReflectionProduct{2, {key({{2, 1}}, 1)}},
                                ReflectionProduct{2, {key({{0, 1}}, nan)}},
                                ReflectionProduct{1, {key({}, 2)}},
                                RotationBlocks{{{true, {1, 3}}, {true, {0, 1}}}},
                                RotationBlocks{{{false, {1, 0}}}},
                                DiagonalMatrix{{1, nan}},
                                DenseMatrix{Eigen::MatrixXd::Zero(2, 3)},
                                BlockDiagonalMatrix{{Eigen::MatrixXd::Constant(2, 2, nan)}},
                                FactoredMatrix{2, {{0}}, {}, {}},
                                FactoredMatrix{2, {{2}}, {{0}}, {0}},
                                FactoredMatrix{2, {{0}}, {{0}}, {1}}};
  for (std::size_t i = 0; i < bad.size(); ++i) {
    CAPTURE(i);
    CHECK_THROWS_AS(validate(bad[i], 2, "layer 1"), InputError);
  }
}

namespace {

struct Fault {
  const char* message;
  std::function<void(Network&)> make;
};

void check_faults(const Network& sound, const std::vector<Fault>& faults) {
  CHECK_NOTHROW(validate(sound));
  for (const Fault& fault : faults) {
    CAPTURE(fault.message);
    Network broken = sound;
    fault.make(broken);
    CHECK(test::error_of([&] { validate(broken); }) == fault.message);
  }
}

}  // namespace

TEST_CASE("faults of a network with stored codewords are named") {
  const double nan = std::nan("");
  check_faults(
      build_two_layer_reflections(counter(3, {1, 2})),
      {{"layer 1: has 0×1 states and 2 labels; all must be positive", [](Network& n) { n.layers[0].dimension = 0; }},
       {"layer 1, action 0: A is a reflections of dimension 1; the layer has 2",
        [](Network& n) { n.layers[0].dimension = 2; }},
       {"layer 2, action 1, B: is 1×1; it must be 2×1",
        [](Network& n) { n.layers[1].transitions[1].b = Eigen::MatrixXd::Zero(1, 1); }},
       {"layer 2, H_0: holds a number that is not finite", [=](Network& n) { n.layers[1].initial(0, 0) = nan; }},
       {"layer 2: H_0 does not decode to the initial label 1", [](Network& n) { n.layers[1].initial_label = 1; }},
       {"layer 2: initial label 3 of 3", [](Network& n) { n.layers[1].initial_label = 3; }},
       {"layer 2, decoder: 6 codewords for 3 labels, with a table of 5",
        [](Network& n) { n.layers[1].decoder.label_of.pop_back(); }},
       {"layer 2, decoder: label 2 has no codeword",
        [](Network& n) {
          for (Label& label : n.layers[1].decoder.label_of) label = label == 2 ? 1 : label;
        }},
       {"layer 2, decoder: 6 codewords, but 5 are in books", [](Network& n) { n.layers[1].decoder.book.pop_back(); }},
       {"layer 2, decoder: codeword 4 of 6 is in book 2147483648",
        [](Network& n) { n.layers[1].decoder.book[4] = 0x80000000U; }},
       {"layer 2, decoder: book 0 of 2 has no codeword",
        [](Network& n) { std::fill(n.layers[1].decoder.book.begin(), n.layers[1].decoder.book.end(), 1U); }},
       {"layer 1: context 1 calls for action 7 of 1", [](Network& n) { n.layers[0].wiring.action_of[1] = 7; }},
       {"layer 1: the wiring leads to context 9 of 4", [](Network& n) { n.layers[0].wiring.next[2] = 9; }},
       {"layer 1: the wiring has 3 entries instead of 4", [](Network& n) { n.layers[0].wiring.next.pop_back(); }},
       {"layer 2: the wiring has 1 entries instead of 0", [](Network& n) { n.layers[1].wiring.next.push_back(0); }},
       {"layer 2: code book 2 of 2", [](Network& n) { n.layers[1].book_of_context[0] = 2; }},
       {"layer 2: 4 contexts, but 3 name a code book", [](Network& n) { n.layers[1].book_of_context.pop_back(); }},
       {"readout: has 1 levels for 2 layers", [](Network& n) { n.readout.next.pop_back(); }},
       {"readout, level 2: leads to state 3 of 3", [](Network& n) { n.readout.next[1][2] = 3; }},
       {"readout, level 1: leads to node 1 of 1", [](Network& n) { n.readout.next[0][1] = 1; }},
       {"readout: the initial labels lead nowhere", [](Network& n) { n.readout.next[1][0] = kNoContext; }},
       {"readout: the initial labels give state 1; the automaton starts in 0",
        [](Network& n) { n.readout.next[1][0] = 1; }},
       {"layer 1: is wired for 1 letter; the alphabet has 2", [](Network& n) {
          n.layers[0].wiring.action_of.pop_back();
          n.layers[0].wiring.next.resize(2);
        }}});
}

TEST_CASE("faults of a network with unit codewords are named") {
  check_faults(build_one_hot(ends_in_abb()),
               {{"layer 1, decoder: 4 unit codewords in 2 copies do not fit 4×1 states",
                 [](Network& n) { n.layers[0].decoder.unit_copies = 2; }},
                {"layer 1, decoder: unit codewords are not stored, but the decoder holds some",
                 [](Network& n) { n.layers[0].decoder.book.push_back(0); }},
                {"layer 1: H_0 does not decode to the initial label 0",
                 [](Network& n) { n.layers[0].initial.col(0).reverseInPlace(); }},
                {"readout, level 1: has 3 entries instead of 4, for 1 node of 4 labels",
                 [](Network& n) { n.readout.next[0].pop_back(); }}});
}

TEST_CASE("unit codewords are what they stand for") {
  const Layer layer = build_permutation(counter(3, {1}), {KeyStyle::kDoubled}).layers[0];
  CHECK(codeword_count(layer) == 3);
  for (Label i = 0; i < 3; ++i) {
    const Eigen::MatrixXd code = codeword(layer, i);
    for (Label j = 0; j < 6; ++j) CHECK(code(j, 0) == (j % 3 == i ? 1 : 0));
    CHECK(codeword_label(layer, i) == i);
    CHECK(codeword_book(layer, i) == 0);
  }
}

TEST_CASE("sizes") {
  const NetworkSize two = size_of(build_two_layer_reflections(counter(7, {0, 1, 2, 3, 4, 5, 6})));
  CHECK(two.layers == 2);
  CHECK(two.state_numbers == 3);
  CHECK(two.reflections_per_token == 2);
  CHECK(two.alphabet_sizes == std::vector<std::size_t>{1, 14});
  const NetworkSize hot = size_of(build_one_hot(ends_in_abb()));
  CHECK(hot.reflections_per_token == -1);
  CHECK(hot.weights == 8);
}
