#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/automata/language.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/simulate/arithmetic/rounded_operations.h"
#include "krohn/simulate/evaluate/nearest_codeword.h"
#include "krohn/simulate/prove/certify.h"
#include "tests/simulate/formed_networks.h"
#include "tests/simulate/hand_built.h"
#include "tests/simulate/proving.h"
#include "tests/simulate/reference_evaluator.h"
#include "tests/testing.h"

using namespace krohn;
using namespace krohn::formed_networks;
using namespace krohn::hand_built;

namespace {

constexpr Form kForms[] = {Form::kStructured, Form::kDense};

/// Every answer and every number after every letter of a random word, in every arithmetic of the list.
void check_against_reference(const Network& network, std::uint64_t letters,
                             std::span<const ArithmeticName> arithmetics = ArithmeticName::all(),
                             std::span<const Form> forms = kForms) {
  for (const ArithmeticName arithmetic : arithmetics)
    for (const Form form : forms) {
      CAPTURE(to_string(arithmetic));
      CAPTURE(to_string(form));
      const auto fast = make_evaluator(network, arithmetic, form);
      const auto reference = reference_evaluator(network, arithmetic, form);
      REQUIRE(fast->current() == reference->current());
      REQUIRE(fast->numbers() == reference->numbers());
      const RandomWord word(network.automaton.letters(), 99);
      for (std::uint64_t t = 0; t < letters; ++t) {
        CAPTURE(t);
        REQUIRE(fast->step(word.at(t)) == reference->step(word.at(t)));
        const std::vector<double> a = fast->numbers(), b = reference->numbers();
        REQUIRE(a.size() == b.size());
        for (std::size_t i = 0; i < a.size(); ++i) REQUIRE((a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))));
      }
    }
}

Network one_of_each(std::uint64_t seed, std::uint32_t columns) {
  std::mt19937_64 random(seed);
  std::vector<Matrix> actions = one_of_each_form(random);
  return meaningless(random, std::move(actions), columns, true);
}

/// The same with integers of 8 bits as weights, at least 0 where they are not signed.
Network one_of_each_integer(std::uint64_t seed, bool is_signed) {
  std::mt19937_64 random(seed);
  const auto rounded = [&](const Eigen::MatrixXd& matrix) -> Eigen::MatrixXd {
    return matrix.unaryExpr([&](double entry) { return std::round(127 * (is_signed ? entry : std::fabs(entry))); });
  };
  const auto entries = [&](Eigen::Index n) { return rounded(random_matrix(random, n, n)); };
  const FactoredMatrix factored{5, {{0, 1}, {2}, {0, 3, 4}}, {{1, 2, 3}, {0}, {2, 4}}, {0, 2}};
  const std::int32_t sign = is_signed ? -1 : 1;
  std::vector<Matrix> actions{MapMatrix{Transformation::from_images({1, 1, 0, 1, 4})},
                              SignedPermutationMatrix{Permutation::from_images({2, 0, 1, 4, 3}), {1, -1, 1, -1, -1}},
                              ReflectionProduct{5, {Reflection{{{0, 1}, {2, 3 * sign}, {4, 2}}, 4, 1, 0, {}, 3}}},
                              DiagonalMatrix{{1, 2, 127, 0, static_cast<double>(sign)}},
                              ZeroMatrix{5},
                              DenseMatrix{entries(5)},
                              BlockDiagonalMatrix{{entries(2), entries(3)}},
                              factored};
  if (is_signed) actions.emplace_back(RotationBlocks{{{false, Turn{1, 4}}, {true, Turn{1, 2}}, {false, Turn{1, 2}}}});
  Network network = meaningless(random, std::move(actions), 2, true);
  for (Layer& layer : network.layers) {
    layer.initial = rounded(layer.initial);
    for (Eigen::MatrixXd& code : layer.decoder.codewords) code = rounded(code);
    for (Transition& transition : layer.transitions) transition.b = rounded(transition.b);
  }
  return network;
}

const std::vector<ArithmeticName> kIntegers(kIntegerTypes.begin(), kIntegerTypes.end());

}  // namespace

TEST_CASE("in integers, every form is the reference's, number by number") {
  for (const ArithmeticName arithmetic : kIntegers)
    for (std::uint64_t seed = 1; seed <= 3; ++seed)  // of unsigned ones the dense form would have weights below 0
      check_against_reference(one_of_each_integer(seed, arithmetic.integer().is_signed), 60, std::span(&arithmetic, 1),
                              std::span(kForms).first(arithmetic.integer().is_signed ? 2 : 1));
}

TEST_CASE("integers at their ends: products and sums of the least, the greatest and their neighbours") {
  __extension__ typedef __int128 Wide;
  for (const ArithmeticName arithmetic : kIntegers) {
    CAPTURE(to_string(arithmetic));
    const IntegerType& type = arithmetic.integer();
    const RoundedOperations in(arithmetic);
    const auto check = [&](double said, Wide exact) {
      const Wide least = type.least(), greatest = type.greatest();
      if (type.saturates)
        CHECK(said == static_cast<double>(std::clamp(exact, least, greatest)));
      else  // the one number of the type that is the same modulo 2^bits
        CHECK(((static_cast<Wide>(said) >= least && static_cast<Wide>(said) <= greatest &&
                (static_cast<Wide>(said) - exact) % (Wide{1} << type.bits) == 0)));
    };
    std::vector<std::int64_t> ends{type.least(), type.least() + 1, 0, 1, 2, type.greatest() - 1, type.greatest()};
    if (type.is_signed) ends.insert(ends.end(), {-2, -1});
    for (const std::int64_t a : ends)
      for (const std::int64_t b : ends) {
        const auto first = static_cast<double>(a), second = static_cast<double>(b);
        check(in.product(first, second), Wide{a} * b);
        check(in.add(first, second), Wide{a} + b);
        for (const std::int64_t sum : ends) {
          check(in.add_product(static_cast<double>(sum), first, second), Wide{sum} + Wide{a} * b);
          check(in.add_product(static_cast<double>(sum), -first, second), Wide{sum} - Wide{a} * b);
        }
      }
    for (const std::int64_t past : {type.least() - 1, type.greatest() + 1}) {
      check(in.store(static_cast<double>(past)), past);
      CHECK(std::isnan(in.round(static_cast<long double>(past))));
    }
    for (const std::int64_t end : {type.least(), type.greatest()}) {
      CHECK(in.store(static_cast<double>(end)) == static_cast<double>(end));
      CHECK(in.round(static_cast<long double>(end)) == static_cast<double>(end));
      CHECK(std::isnan(in.round(static_cast<long double>(end) / 2 + 0.25L)));
    }
  }
}

TEST_CASE("permutations are proved in all integers, reflections in those with a sign, and cycles where they wrap") {
  for (const ArithmeticName arithmetic : kIntegers) {
    CAPTURE(to_string(arithmetic));
    const IntegerType& type = arithmetic.integer();
    for (const Network& network :
         {symmetric(3, 2, Swap::kMap), symmetric(3, 1, Swap::kMap), one_hot(counter(2, {0, 1}))})
      CHECK(certify(network, in(arithmetic)).is<Proved>());
    const Network reflections = symmetric(3, 2, Swap::kUnnormalised), parity = rotation(2, {0, 1});
    if (type.is_signed) {
      CHECK(certify(reflections, in(arithmetic)).is<Proved>());
      CHECK(certify(rotation(4, {0, 1, 2, 3}), in(arithmetic)).is<Proved>());
    } else {
      CHECK(test::error_of([&] { certify(reflections, in(arithmetic)); }).find("layer 0, action 0: the weight -1 is") ==
            0);
      CHECK(test::error_of([&] { certify(parity, in(arithmetic)); }).find("layer 0, action 1: the weight -1 is") == 0);
    }
    // 2^8 states in one number: more bits do not come round, nor do integers that saturate. 3 · 127 is past the end.
    const Certificate round = certify(wrapping_counter(256, {0, 1, 127}, type.is_signed ? -128 : 0, 1), in(arithmetic));
    CHECK(round.is<Proved>() == (type.bits == 8 && !type.saturates));
    if (!round.is<Proved>()) CHECK(*round.failing_word() == Word{2, 2, 2});
    const Network quarters =
        wrapping_counter(4, {0, 1}, static_cast<double>(type.least()), std::ldexp(1, type.bits - 2));
    CHECK(certify(quarters, in(arithmetic)).is<Proved>() == !type.saturates);
  }
}

TEST_CASE("a weight that is no integer of the type is refused by its place, and so is another order") {
  const auto refused = [](const Network& network, ArithmeticName arithmetic, Order order = {}) {
    return test::error_of([&] { make_evaluator(network, arithmetic, Form::kStructured, order); });
  };
  const ArithmeticName u8 = ArithmeticName::parse("u8"), i8 = ArithmeticName::parse("i8-saturating");
  CHECK(refused(symmetric(3, 2, Swap::kUnit), i8)
            .find("layer 0, action 0: the weight 0.7071067812 is no integer from -128") == 0);
  CHECK(refused(rotation(5, {1}), i8).find("layer 0, action 0: the weight 0.3090169944 is no integer") == 0);
  const auto with = [](double start, double factor, double added) {
    Network network = wrapping_counter(2, {1}, 0, 1);
    network.layers[0].initial(0) = start;
    network.layers[0].transitions[0] = {DiagonalMatrix{{factor}}, Eigen::MatrixXd::Constant(1, 1, added)};
    return network;
  };
  CHECK(refused(with(255, 255, 255), u8) == "no error");
  CHECK(refused(with(-128, 127, -128), i8) == "no error");
  CHECK(refused(with(256, 1, 1), u8).find("layer 0, H_0: the weight 256 is") == 0);
  CHECK(refused(with(0, 128, 1), i8).find("layer 0, action 0: the weight 128 is") == 0);
  CHECK(refused(with(0, 1, -1), u8).find("layer 0, action 0: the weight -1 is") == 0);
  Network codes = with(0, 1, 1);
  for (const double code : {0.5, -1.0, 256.0}) {
    codes.layers[0].decoder.codewords[1](0) = code;
    CHECK(refused(codes, u8).find(fmt::format("layer 0, codeword 1: the weight {} is", code)) == 0);
  }
  codes.layers[0].decoder.codewords[1](0) = -128;
  CHECK(refused(codes, i8) == "no error");
  const Network signs = one_layer(
      counter(2, {0, 1}), Eigen::MatrixXd::Constant(1, 1, 1),
      {SignedPermutationMatrix{Permutation::identity(1), {1}}, SignedPermutationMatrix{Permutation::identity(1), {-1}}},
      {Eigen::MatrixXd::Constant(1, 1, 1), Eigen::MatrixXd::Constant(1, 1, -1)});
  CHECK(refused(signs, u8).find("layer 0, codeword 1: the weight -1 is") == 0);  // its signs are no weights
  CHECK(refused(signs, i8) == "no error");
  CHECK(refused(with(0, 1, 1), u8, parse_order("scan")).find("integers are read letter after letter") == 0);
  CHECK_THROWS_AS(certify(with(0, 1, 1), in(u8, 1000, parse_order("scan"))), InputError);
}

TEST_CASE("hand-built networks are valid") {
  for (const Network& network : meaningful_networks()) CHECK_NOTHROW(validate(network));
  for (std::uint32_t m = 2; m <= 16; ++m) CHECK_NOTHROW(validate(two_reflections(m)));
  CHECK_NOTHROW(validate(one_of_each(3, 2)));
}

TEST_CASE("the evaluator is the reference, bit for bit") {
  for (const Network& network : meaningful_networks()) check_against_reference(network, 120);
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    check_against_reference(one_of_each(seed, static_cast<std::uint32_t>(1 + seed % 3)), 120);
  }
}

TEST_CASE("numbers that overflow do not decode, and evaluation goes on") {
  Eigen::MatrixXd growing = Eigen::MatrixXd::Identity(2, 2) * 1e30;
  growing(0, 1) = -1e30;
  Network network =
      one_layer(counter(2, {0, 1}), unit(2, 0), {DenseMatrix{growing}, ZeroMatrix{2}}, {unit(2, 0), unit(2, 1)});
  check_against_reference(network, 60);
  const auto evaluator = make_evaluator(network, Precision::kFp32);
  evaluator->step(0);
  CHECK(evaluator->step(0) == std::nullopt);
  CHECK(evaluator->step(1) == std::nullopt);  // zero is as near to one codeword as to the other
}

TEST_CASE("constructions that are exact follow the automaton") {
  std::mt19937_64 random(23);
  std::vector<Network> exact;
  exact.push_back(one_hot(random_automaton(random, 9, 4)));
  exact.push_back(rotation(4, all_residues(4)));
  exact.push_back(symmetric(5, 4, Swap::kUnnormalised));
  exact.push_back(symmetric(5, 1, Swap::kDoubled));
  exact.push_back(flip_flop_toggle());
  exact.push_back(delayed_toggle());
  for (const Network& network : exact)
    for (const ArithmeticName arithmetic : ArithmeticName::all()) {
      CAPTURE(to_string(arithmetic));
      const auto evaluator = make_evaluator(network, arithmetic);
      const Word word = RandomWord(network.automaton.letters(), 8).slice(0, 20'000);
      std::vector<State> states(word.size());
      evaluator->run(word, states);
      State state = network.automaton.initial();
      for (std::size_t t = 0; t < word.size(); ++t) {
        state = network.automaton.next(state, word[t]);
        REQUIRE(states[t] == state);
      }
    }
}

TEST_CASE("run is step by step, reset starts anew, fresh starts beside") {
  const Network network = rotation(7, all_residues(7));
  const auto evaluator = make_evaluator(network, Precision::kBf16);
  const Word word = RandomWord(7, 3).slice(0, 500);
  std::vector<State> states(word.size()), again(word.size());
  evaluator->run(word, states);
  const auto fresh = evaluator->fresh();
  for (std::size_t t = 0; t < word.size(); ++t) REQUIRE(fresh->step(word[t]).value_or(kNoState) == states[t]);
  CHECK(fresh->numbers() == evaluator->numbers());
  evaluator->reset();
  CHECK(evaluator->current() == network.automaton.initial());
  evaluator->run(word, again);
  CHECK(again == states);
}

TEST_CASE("the arithmetics differ where weights round, so that their names mean something") {
  const Network network = one_of_each(2, 1);
  const Word word = RandomWord(network.automaton.letters(), 3).slice(0, 200);
  std::map<std::vector<double>, std::string> courses;
  for (const ArithmeticName arithmetic : ArithmeticName::all()) {
    const auto evaluator = make_evaluator(network, arithmetic);
    std::vector<double> course;
    for (const Letter letter : word) {
      evaluator->step(letter);
      for (const double number : evaluator->numbers()) course.push_back(number);
    }
    const auto [same, fresh] = courses.try_emplace(std::move(course), to_string(arithmetic));
    CAPTURE(same->second);
    CAPTURE(to_string(arithmetic));
    CHECK(fresh);
  }
  CHECK_THROWS_AS(reference_evaluator(network, ArithmeticName::exact()), InputError);
}

TEST_CASE("forms have names") {
  for (const Form form : kForms) CHECK(parse_form(to_string(form)) == form);
  CHECK_THROWS_AS(parse_form("sparse"), InputError);
}

namespace {

constexpr Precision kFp64 = Precision::kFp64, kFp32 = Precision::kFp32, kFp16 = Precision::kFp16,
                    kBf16 = Precision::kBf16;

Network network_of(const Dfa& automaton, const char* construction, Precision precision) {
  return build(automaton, BuildOptions{.construction = construction, .precision = precision});
}

Certificate certify_in(const Network& network, Precision precision, std::uint64_t max_pairs = 200'000) {
  return certify(network, in(precision, max_pairs));
}

}  // namespace

TEST_CASE("locked rotations are proved in their precision, for all letters and every length") {
  struct Fact {
    const char* construction;
    Precision precision;
    std::vector<std::uint32_t> orders;
  };
  for (const Fact& fact :
       {Fact{"rotation-locked", kFp32, {3, 5, 6, 7, 9, 10, 12, 16, 24, 60}},
        Fact{"rotation-locked", kFp16, {3, 5, 6, 10, 12, 16, 24}},
        Fact{"rotation-locked", kBf16, {3, 5, 6, 10, 12, 16}}, Fact{"rotation-locked", kFp64, {5, 60}},
        Fact{"rotation-grid", kFp32, {3, 7, 9, 11, 13, 17, 19, 60, 64}}, Fact{"rotation-grid", kFp16, {5, 7, 9, 60}},
        Fact{"rotation-grid", kBf16, {3, 5, 7, 10, 12, 20}}, Fact{"rotation-grid", kFp64, {11, 60}}})
    for (const std::uint32_t m : fact.orders) {
      CAPTURE(fact.construction);
      CAPTURE(to_string(fact.precision));
      CAPTURE(m);
      const Network network = network_of(counter(m, all_residues(m)), fact.construction, fact.precision);
      const Certificate certificate = certify_in(network, fact.precision);
      CHECK(certificate.is<Proved>());
      CHECK(certificate.method == "closed codewords");
      CHECK(certificate.pairs == std::uint64_t{m} * m);
    }
}

TEST_CASE("what is locked in one precision is refuted in others, where its angles are wrong or rounding differs") {
  struct Fact {
    std::uint32_t m;
    Precision locked, other;
    std::vector<std::uint32_t> letters;
  };
  for (const Fact& fact : {Fact{5, kFp32, kBf16, all_residues(5)}, Fact{10, kFp32, kBf16, all_residues(10)},
                           Fact{5, kBf16, kFp16, {1}}, Fact{5, kBf16, kFp32, {1}}, Fact{5, kBf16, kFp64, {1}},
                           Fact{10, kFp16, kFp32, {1}}, Fact{60, kFp16, kFp64, {1}}}) {
    CAPTURE(fact.m);
    CAPTURE(to_string(fact.locked));
    CAPTURE(to_string(fact.other));
    const Network network = network_of(counter(fact.m, fact.letters), "rotation-locked", fact.locked);
    CHECK(certify_in(network, fact.locked).is<Proved>());
    const Certificate certificate = certify_in(network, fact.other, 2'000'000);
    CHECK(certificate.is<Refuted>());
    CHECK(certificate.is_shortest());
  }
}

TEST_CASE("one plane counts modulo 60 by one letter in every precision") {
  for (const Precision precision : {kFp64, kFp32, kFp16, kBf16}) {
    CAPTURE(to_string(precision));
    const Network network = network_of(counter(60, {0, 1}), "rotation-locked", precision);
    CHECK(network.layers[0].dimension == 2);
    CHECK(certify_in(network, precision).is<Proved>());
  }
}

TEST_CASE("complex diagonal networks with shifts of 3, 5 and 7 are proved in fp32") {
  for (const char* language : {"name:tomita6", "name:S3", "name:S4", "name:modarith3", "name:modarith5", "name:Z7"}) {
    CAPTURE(language);
    const Dfa automaton = minimise(load_language(language));
    const Network network = network_of(automaton, "diagonal-unit-circle", kFp32);
    const Certificate certificate = certify_in(network, kFp32);
    CHECK(certificate.is<Proved>());
    CHECK(certificate.method == "closed codewords");
    const auto rows = plan(automaton, {});
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [](const PlanRow& plan) { return plan.construction == "diagonal-unit-circle"; });
    REQUIRE(row != rows.end());
    CHECK(std::count(row->locked_in.begin(), row->locked_in.end(), kFp32) == 1);
  }
}

TEST_CASE("what a plan calls locked is proved") {
  for (const Dfa& automaton : {counter(3, {1, 2}), counter(12, {1, 5}), counter(6, {1}), counter(15, {2, 7})})
    for (const Precision precision : {kFp64, kFp32, kFp16, kBf16}) {
      BuildOptions wishes{.precision = precision};
      for (const PlanRow& row : plan(automaton, wishes))
        for (const Precision locked : row.locked_in) {
          CAPTURE(row.construction);
          CAPTURE(to_string(locked));
          wishes.construction = row.construction;
          const Network network = build(automaton, wishes);
          CHECK(certify_in(network, locked).is<Proved>());
        }
    }
}

namespace {

/// States on, near, between and far from codewords.
std::vector<double> random_state(std::mt19937_64& random, const Layer& layer) {
  const auto pick = [&] { return codeword(layer, random() % codeword_count(layer)); };
  std::normal_distribution<double> noise(0, std::pow(10.0, -static_cast<double>(random() % 9)));
  Eigen::MatrixXd state = pick();
  const auto kind = random() % 4;
  if (kind == 1) state = (state + pick()) / 2;
  if (kind >= 2)
    for (Eigen::Index i = 0; i < state.size(); ++i) state(i) += noise(random);
  if (kind == 3 && random() % 10 == 0) state(0) = std::numeric_limits<double>::infinity();
  if (kind == 3 && random() % 10 == 0) state(0) = std::numeric_limits<double>::quiet_NaN();
  if (kind == 3 && random() % 10 == 0) state *= 1e200;
  return {state.data(), state.data() + state.size()};
}

void check_decoder(const Layer& layer) {
  std::mt19937_64 random(31);
  for (std::uint32_t book = 0; book < books_of(layer); ++book) {
    const NearestCodeword decoder(layer, book);
    NearestCodeword::Hints hints = decoder.make_hints();
    for (int i = 0; i < 3000; ++i) {
      const std::vector<double> state = random_state(random, layer);
      REQUIRE(decoder.decode(state, hints) == decoder.reference(state));
    }
  }
}

}  // namespace

TEST_CASE("hints and unit vectors change no answer") {
  check_decoder(rotation(3, {1}).layers[0]);
  check_decoder(rotation(60, {1}).layers[0]);
  check_decoder(symmetric(5, 4, Swap::kMap).layers[0]);
  check_decoder(symmetric(4, 3, Swap::kDoubled).layers[0]);
  check_decoder(two_reflections(9).layers[1]);
  check_decoder(one_hot(counter(12, {1})).layers[0]);
}

TEST_CASE("unit codewords that are not stored decode as stored ones do") {
  for (const std::uint32_t copies : {1, 2, 3}) {
    Layer listed, unlisted;
    listed.labels = unlisted.labels = 6;
    listed.dimension = unlisted.dimension = 6 * copies;
    unlisted.decoder.unit_copies = copies;
    for (Label label = 0; label < 6; ++label) listed.decoder.codewords.push_back(codeword(unlisted, label));
    check_decoder(unlisted);
    const NearestCodeword a(listed, 0), b(unlisted, 0);
    CHECK(a.radius() == doctest::Approx(b.radius()).epsilon(1e-15));
    NearestCodeword::Hints hints = b.make_hints();
    std::mt19937_64 random(1);
    for (int i = 0; i < 1000; ++i) {
      const std::vector<double> state = random_state(random, listed);
      REQUIRE(a.reference(state) == b.decode(state, hints));
    }
    for (std::uint32_t c = 0; c < 6; ++c)
      for (std::size_t i = 0; i < listed.dimension; ++i) CHECK(a.entry(c, i) == b.entry(c, i));
  }
}

TEST_CASE("ties, coinciding codewords and numbers that are not finite do not decode") {
  Layer layer = one_hot(counter(3, {1})).layers[0];
  const NearestCodeword decoder(layer, 0);
  NearestCodeword::Hints hints = decoder.make_hints();
  const auto label = [&](std::vector<double> state) { return decoder.decode(state, hints); };
  CHECK(label({0, 1, 0}) == 1);
  CHECK(label({0.4, 0.5, 0.4}) == 1);
  CHECK(label({0.5, 0.5, 0}) == kNoLabel);
  CHECK(label({0, 0, 0}) == kNoLabel);
  CHECK(label({std::numeric_limits<double>::infinity(), 0, 0}) == kNoLabel);
  CHECK(label({std::numeric_limits<double>::quiet_NaN(), 1, 0}) == kNoLabel);
  layer.decoder.codewords[2] = layer.decoder.codewords[1];
  const NearestCodeword twin(layer, 0);
  hints = twin.make_hints();
  CHECK(twin.radius() == 0);
  CHECK(twin.decode(std::vector<double>{0, 1, 0}, hints) == kNoLabel);
  CHECK(twin.decode(std::vector<double>{1, 0, 0}, hints) == 0);
}

namespace {

/// True if sums of squares of doubles are told apart by the definition alone: a loop over the codewords.
Label by_definition(const Layer& layer, const std::vector<double>& state) {
  double least = std::numeric_limits<double>::infinity();
  Label nearest = kNoLabel;
  for (std::size_t i = 0; i < codeword_count(layer); ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < state.size(); ++k) {
      const double difference = state[k] - codeword(layer, i)(static_cast<Eigen::Index>(k));
      sum += difference * difference;
    }
    if (sum == least) nearest = kNoLabel;
    if (sum < least) nearest = codeword_label(layer, i);
    least = std::min(least, sum);
  }
  return nearest;
}

}  // namespace

TEST_CASE("a hint is taken only where it is proved right: codewords from the least scale to the greatest") {
  // Nine coordinates, so that hints are worth it. A square of 2^−537 is the least double; one of 2^512 overflows.
  for (const int exponent :
       {-1060, -1000, -600, -541, -540, -539, -538, -537, -536, -520, -500, -402, -401, -400, -399, -300,
        -1,    0,     300,  398,  399,  400,  401,  500,  509,  510,  511,  512,  513,  600,  1000}) {
    CAPTURE(exponent);
    const double unit = std::ldexp(1, exponent);
    for (const double gap : {1.0, 2.0, 3.0, 1.5}) {
      Layer layer;
      layer.dimension = 9;
      layer.labels = 3;
      for (const double at : {0.0, gap * unit, 7 * unit}) {
        layer.decoder.codewords.push_back(Eigen::MatrixXd::Zero(9, 1));
        layer.decoder.codewords.back()(4) = at;
      }
      const NearestCodeword decoder(layer, 0);
      NearestCodeword::Hints hints = decoder.make_hints();
      const double half = gap / 2 * unit;
      std::vector<double> places{0, gap * unit, 7 * unit, half, 0.99999 * half, 1.00001 * half, unit / 2, 0.1 * unit};
      for (int i = 0; i < 4; ++i) {
        places.push_back(std::nextafter(places[3 + static_cast<std::size_t>(i)], 0.0));
        places.push_back(std::nextafter(places[3 + static_cast<std::size_t>(i)], 8 * unit));
      }
      for (const double first : places)
        for (const double second : places) {  // the hint that the first leaves must not answer for the second
          std::vector<double> state(9, 0.0);
          for (const double place : {first, second}) {
            state[4] = place;
            REQUIRE(decoder.decode(state, hints) == by_definition(layer, state));
          }
        }
      const bool has_hints = !hints.empty();
      CHECK(has_hints == (half > 0x1p-400 && half < 0x1p400));
    }
  }
}

TEST_CASE("codewords found by their own numbers are the nearest ones") {
  // 24 codewords so that there is a table; the last two are `least` apart. Below 2^-400 there is none, and where the
  // square of their distance is zero, about 2^-538, they are a tie.
  for (const double least : {1.0, 0x1p-400, std::nextafter(0x1p-400, 0.0), 0x1p-537, 0x1p-538, 0x1p-1074, 0.0})
    for (const double scale : {0.0, 1.0, 0x1p-400}) {
      CAPTURE(least);
      CAPTURE(scale);
      Layer layer;
      layer.labels = 24;
      layer.dimension = 2;
      for (Label label = 0; label < 24; ++label) {
        Eigen::MatrixXd code(2, 1);
        code << (label < 22 ? 3.0 + label : scale), (label == 23 ? least : 0.0);
        layer.decoder.codewords.push_back(code);
      }
      const NearestCodeword decoder(layer, 0);
      NearestCodeword::Hints hints = decoder.make_hints();
      for (int again = 0; again < 2; ++again)
        for (Label label = 0; label < 24; ++label)
          for (const double zero : {0.0, -0.0}) {
            const Eigen::MatrixXd& code = layer.decoder.codewords[label];
            const std::vector<double> state{code(0) + zero, code(1) == 0 ? zero : code(1)};
            REQUIRE(decoder.decode(state, hints) == decoder.reference(state));
          }
      const std::vector<double> last{scale, least};
      CHECK((decoder.decode(last, hints) == kNoLabel) == (least * least == 0));
    }
}

TEST_CASE("forty thousand codewords are read without looking at them all") {
  Layer layer;  // the permutations of eight numbers
  layer.dimension = 8;
  std::vector<double> numbers{1, 2, 3, 4, 5, 6, 7, 8};
  do layer.decoder.codewords.push_back(Eigen::Map<const Eigen::MatrixXd>(numbers.data(), 8, 1));
  while (std::next_permutation(numbers.begin(), numbers.end()));
  layer.labels = static_cast<Label>(layer.decoder.codewords.size());
  const NearestCodeword decoder(layer, 0);
  NearestCodeword::Hints hints = decoder.make_hints();
  for (Label label = 0; label < layer.labels; ++label) {
    const Eigen::MatrixXd& code = layer.decoder.codewords[label];
    REQUIRE(decoder.decode({code.data(), 8}, hints) == label);
  }
  CHECK(decoder.reference(std::vector<double>{1, 2, 3, 4, 5, 6, 8, 7}) == 1);
}

using krohn::test::Scratch;

namespace {

constexpr Precision kFormats[] = {Precision::kFp64, Precision::kFp32, Precision::kFp16, Precision::kBf16};

std::vector<Network> sample_networks() {
  std::mt19937_64 random(31);
  std::vector<Network> networks{
      one_hot(random_automaton(random, 6, 3)), rotation(7, all_residues(7)), symmetric(4, 3, Swap::kUnit),
      symmetric(4, 1, Swap::kDoubled),         two_reflections(5),           flip_flop_toggle()};
  Network dense = rotation(5, {1, 2});
  for (Transition& transition : dense.layers[0].transitions) {
    transition.a = DenseMatrix{to_dense(transition.a).cast<double>()};
    transition.b = Eigen::MatrixXd::Constant(2, 1, 0.1);
  }
  networks.push_back(dense);
  return networks;
}

void check_same_course(const Network& a, const Network& b, ArithmeticName arithmetic) {
  const auto one = make_evaluator(a, arithmetic), other = make_evaluator(b, arithmetic);
  CHECK(one->numbers() == other->numbers());
  const RandomWord word(a.automaton.letters(), 5);
  for (std::uint64_t t = 0; t < 100; ++t) {
    REQUIRE(one->step(word.at(t)) == other->step(word.at(t)));
    REQUIRE(one->numbers() == other->numbers());
  }
}

const Reflection& first_factor(const Network& network) {
  return std::get<ReflectionProduct>(network.layers.back().transitions[0].a).factors[0];
}

}  // namespace

TEST_CASE("a quantised network computes in its format what the network did, and needs no more rounding") {
  for (const Network& network : sample_networks())
    for (const Precision format : kFormats) {
      CAPTURE(to_string(format));
      const Network rounded = quantise(network, format);
      CHECK_NOTHROW(validate(rounded));
      CHECK((rounded.provenance.note == "weights rounded to " + to_string(format)) == (format != Precision::kFp64));
      for (const ArithmeticName arithmetic : ArithmeticName::all())
        if (arithmetic.storage() == format && arithmetic != ArithmeticName::tf32())
          check_same_course(network, rounded, arithmetic);
      const Network again = quantise(rounded, format);
      for (std::size_t k = 0; k < rounded.layers.size(); ++k)
        for (std::size_t i = 0; i < rounded.layers[k].transitions.size(); ++i)
          CHECK(again.layers[k].transitions[i].a == rounded.layers[k].transitions[i].a);
    }
}

TEST_CASE("keys become numbers of the format: 1/√2 in bf16 is 181/256") {
  const Reflection unit_key = first_factor(quantise(symmetric(5, 1, Swap::kUnit), Precision::kBf16));
  CHECK(unit_key.entries == std::vector<Reflection::Entry>{{0, 181}, {1, -181}});
  CHECK(unit_key.scale_squared_denominator == 256 * 256);
  CHECK(unit_key.beta == 2);
  const Reflection doubled = first_factor(quantise(symmetric(5, 1, Swap::kDoubled), Precision::kBf16));
  CHECK(doubled.entries == first_factor(symmetric(5, 1, Swap::kDoubled)).entries);
  CHECK(doubled.scale_squared_denominator == 4);
  Network thin = two_reflections(5);
  std::get<ReflectionProduct>(thin.layers[1].transitions[0].a).factors[0].angle = Turn{1, 10'000}.normalised();
  CHECK_NOTHROW(quantise(thin, Precision::kBf16));
  CHECK_THROWS_AS(quantise(thin, Precision::kFp32), InputError);
}

TEST_CASE("a file keeps the rounded weights and their name") {
  const Scratch scratch("quantised");
  const std::string path = (scratch / "quantised.safetensors").string();
  for (const Network& network : sample_networks()) {
    const Network rounded = quantise(network, Precision::kBf16);
    save_network(rounded, path);
    const Network loaded = load_network(path);
    CHECK(loaded.provenance.note == "weights rounded to bf16");
    for (std::size_t k = 0; k < rounded.layers.size(); ++k) {
      CHECK(loaded.layers[k].initial == rounded.layers[k].initial);
      for (std::size_t i = 0; i < rounded.layers[k].transitions.size(); ++i)
        CHECK(loaded.layers[k].transitions[i].a == rounded.layers[k].transitions[i].a);
    }
  }
}

TEST_CASE("rounded weights are proved where rounding changes nothing, and refuted where it tells") {
  CertifyOptions options = in(Precision::kFp32, 10'000);
  CHECK(certify(quantise(symmetric(5, 4, Swap::kDoubled), Precision::kBf16), options).method == "closed codewords");
  // (255/256, 107/1024) is no rotation by 6 degrees: every letter adds an error that fp32 would not make.
  const Certificate certificate = certify(quantise(rotation(60, {1}), Precision::kBf16), options);
  CHECK(certificate.is<Refuted>());
  REQUIRE(certificate.failing_word());
  CHECK(certificate.failing_word()->size() < 1000);
  options.max_pairs = 2000;
  CHECK_FALSE(certify(rotation(60, {1}), options).is<Refuted>());
}

TEST_CASE("a weight that the format cannot hold is refused") {
  Network network = one_layer(counter(2, {1}), unit(2, 0), {DiagonalMatrix{{1e6, 1}}}, {unit(2, 0), unit(2, 1)});
  CHECK_NOTHROW(quantise(network, Precision::kBf16));
  CHECK_THROWS_AS(quantise(network, Precision::kFp16), InputError);
}

// Networks in the parameters of other architectures: what is written reads back as the same matrices and is proved;
// what an architecture cannot hold, and hostile files, are refused.

namespace {

Network built(const char* language, const std::string& construction) {
  return build(minimise(load_language(language)), BuildOptions{.construction = construction});
}

std::vector<float> numbers_of(const TensorFile& file, const std::string& name) {
  const Tensor& tensor = file.tensors.at(name);
  REQUIRE(tensor.dtype == "F32");
  std::vector<float> numbers(tensor.elements());
  std::memcpy(numbers.data(), tensor.bytes.data(), tensor.bytes.size());
  return numbers;
}

std::string claim_of(const Network& network, Precision precision) {
  return to_string(certify(network, in(precision, 1000)).claim);
}

}  // namespace

TEST_CASE("every family gives back the matrices that it was written from, and is proved") {
  struct Fact {
    const char* language;
    const char* construction;
    const char* family;
  };
  for (const Fact& fact : {Fact{"regex:(a|b)*abb", "bilinear", "bilinear"},
                           {"name:modarith5", "factored", "bilinear-cp"},
                           {"name:Z6", "block-diagonal", "bilinear-block"},
                           {"name:Z4", "r2", "bilinear-r2"},
                           {"name:S3", "one-hot", "pd-ssm"},
                           {"name:modarith5", "cascade-holonomy", "pd-ssm"},
                           {"name:Z12", "signed-permutation", "pd-ssm"},
                           {"regex:(a|b)*abb", "diagonal-unit-interval", "mamba"},
                           {"name:tomita3", "diagonal-signed", "mamba"},
                           {"name:Z6", "block-diagonal", "fan"},
                           {"regex:(a|b)*abb", "one-hot", "fan"}}) {
    CAPTURE(fact.language);
    CAPTURE(fact.family);
    const Network network = built(fact.language, fact.construction);
    const TensorFile file = to_recurrence(network, fact.family);
    CHECK(is_recurrence(file));
    const std::string bytes = format_safetensors(file);
    const Network read = from_recurrence(parse_safetensors(std::as_bytes(std::span(bytes)), "file"), "file");
    CHECK(read.automaton == network.automaton);
    REQUIRE(read.layers.size() == network.layers.size());
    for (std::size_t k = 0; k < read.layers.size(); ++k)
      for (std::size_t action = 0; action < read.layers[k].transitions.size(); ++action) {
        const Transition &ours = network.layers[k].transitions[action], &theirs = read.layers[k].transitions[action];
        CHECK(to_dense(theirs.a) == to_dense(ours.a));
        CHECK((theirs.b.size() == 0 || theirs.b.isZero(0)) == (ours.b.size() == 0 || ours.b.isZero(0)));
        if (ours.b.size() != 0) CHECK(theirs.b == ours.b);
      }
    for (const Precision precision : {Precision::kFp32, Precision::kBf16}) CHECK(claim_of(read, precision) == "proved");
  }
}

TEST_CASE("the first choices of a family are constructions that it holds") {
  for (const std::string& family : recurrence_families()) {
    CAPTURE(family);
    const char* language = family == "bilinear-r2" ? "name:Z6" : family == "mamba" ? "name:tomita4" : "name:Z6";
    const Network network = built(language, constructions_for(family).front());
    CHECK(from_recurrence(to_recurrence(network, family), "file").layers.size() == network.layers.size());
  }
}

TEST_CASE("parameters that are not krohn's are computed as the architecture computes them") {
  TensorFile file = to_recurrence(built("name:parity", "one-hot"), "pd-ssm");
  std::vector<float> factors = numbers_of(file, "layers.0.D");
  factors[0] = 0.5f;
  file.tensors.at("layers.0.D") = make_tensor(factors, {2, 2});
  CHECK(to_dense(from_recurrence(file, "file").layers[0].transitions[0].a)(0, 0) == 0.5L);

  file = to_recurrence(built("name:parity", "one-hot"), "fan");  // columns of norm above 1 are divided by it
  std::vector<float> columns = numbers_of(file, "layers.0.V.0");
  for (float& number : columns) number *= 3;
  file.tensors.at("layers.0.V.0") = make_tensor(columns, {2, 2, 2});
  const LongMatrix a = to_dense(from_recurrence(file, "file").layers[0].transitions[0].a);
  CHECK(static_cast<double>(a.cwiseAbs().maxCoeff()) == doctest::Approx(1).epsilon(1e-15));

  file = to_recurrence(built("name:tomita4", "diagonal-unit-interval"), "mamba");
  const std::vector<float> steps(numbers_of(file, "layers.0.dt").size(), 0);  // softplus(0) = ln 2
  file.tensors.at("layers.0.dt") = make_tensor(steps, file.tensors.at("layers.0.dt").shape);
  CHECK(static_cast<double>(to_dense(from_recurrence(file, "file").layers[0].transitions[0].a)(0, 0)) ==
        doctest::Approx(0.5).epsilon(1e-6));
}

TEST_CASE("what an architecture cannot hold is refused with the reason") {
  CHECK_THROWS_WITH_AS(to_recurrence(built("name:Z5", "rotation"), "pd-ssm"), doctest::Contains("rotation"),
                       InputError);
  CHECK_THROWS_WITH_AS(to_recurrence(built("name:S3", "one-hot"), "mamba"), doctest::Contains("diagonal"), InputError);
  CHECK_THROWS_WITH_AS(to_recurrence(built("name:S3", "one-hot"), "stone"), doctest::Contains("not one of"),
                       InputError);
  CHECK_THROWS_WITH_AS(to_recurrence(built("name:S3", "integral-standard"), "fan"), doctest::Contains("norm"),
                       InputError);
}

TEST_CASE("hostile files are refused") {
  const TensorFile good = to_recurrence(built("name:parity", "one-hot"), "pd-ssm");
  const auto refusal = [&](const auto& spoil) {
    TensorFile file = good;
    spoil(file);
    return test::error_of([&] { from_recurrence(file, "file"); });
  };
  CHECK(refusal([](TensorFile&) {}) == "no error");
  CHECK(test::contains(refusal([](TensorFile& file) { file.metadata["family"] = "rwkv"; }), "rwkv"));
  CHECK(test::contains(refusal([](TensorFile& file) { file.metadata.erase("family"); }), "family"));
  CHECK(refusal([](TensorFile& file) { file.metadata["layers"] = "{}"; }) != "no error");
  CHECK(refusal([](TensorFile& file) { file.metadata["layers"] = "[[[[[[[[[[["; }) != "no error");
  CHECK(test::contains(refusal([](TensorFile& file) { file.tensors.erase("layers.0.D"); }), "layers.0.D"));
  CHECK(test::contains(
      refusal([](TensorFile& file) { file.tensors["layers.0.Q"] = make_tensor(std::vector<float>{1}, {1}); }),
      "layers.0.Q"));
  CHECK(test::contains(refusal([](TensorFile& file) {
                         file.tensors["layers.0.P"] = make_tensor(std::vector<std::uint32_t>{0, 1, 2, 0}, {2, 2});
                       }),
                       "row 2"));
  CHECK(test::contains(refusal([](TensorFile& file) {
                         file.tensors["layers.0.D"] = make_tensor(std::vector<float>{1, NAN, 1, 1}, {2, 2});
                       }),
                       "layers.0.D"));
  CHECK(refusal([](TensorFile& file) {
          file.tensors["layers.0.H0"] = Tensor{"F32", {1u << 30, 0}, {}};
        }) != "no error");
  CHECK(refusal([](TensorFile& file) {
          file.tensors["layers.0.P"] = Tensor{"U32", {1ull << 40, 0}, {}};
        }) != "no error");
}
