#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/evaluate/reflection_chunk.h"
#include "tests/simulate/formed_networks.h"
#include "tests/simulate/reference_evaluator.h"
#include "tests/testing.h"

using namespace krohn;
using namespace krohn::formed_networks;

namespace {

constexpr std::uint64_t kSeed = 20240;
constexpr Form kForms[] = {Form::kStructured, Form::kDense};

std::vector<Order> orders() {
  std::vector<Order> parsed;
  for (const char* name :
       {"chunked:1", "chunked:7", "chunked:64", "scan", "scan:5", "scan:16", "doubling", "doubling:1", "doubling:12"})
    parsed.push_back(parse_order(name));
  return parsed;
}

Reflection random_reflection(std::mt19937_64& random, std::uint32_t n) {
  Reflection reflection;
  std::int64_t norm = 0;
  for (std::uint32_t i = 0; i < n; ++i)
    if (const auto value = static_cast<std::int32_t>(random() % 7) - 3; value != 0) {
      reflection.entries.push_back({i, value});
      norm += value * value;
    }
  reflection.scale_squared_denominator = std::max<std::int64_t>(norm, 1);
  reflection.beta = static_cast<double>(random() % 9) / 4;
  return reflection;
}

struct Named {
  const char* name;
  Network network;
};

std::vector<Named> networks() {
  std::mt19937_64 random(kSeed);
  const Matrix map = MapMatrix{Transformation::from_images({1, 1, 0, 1, 4})};
  const Matrix sign = SignedPermutationMatrix{Permutation::from_images({2, 0, 1, 4, 3}), {1, -1, 1, -1, -1}};
  const Matrix turn = RotationBlocks{{{false, Turn{1, 7}}, {true, Turn{1, 2}}, {false, Turn{2, 5}}}};
  const Matrix diagonal = DiagonalMatrix{{0.5, -1, 0.3, 1, -0.9}};
  const Matrix blocks = BlockDiagonalMatrix{{random_matrix(random, 2, 2), random_matrix(random, 3, 3)}};
  const Matrix dense = DenseMatrix{random_matrix(random, 5, 5)};
  const Matrix factored = FactoredMatrix{5, {{0, 1}, {2}, {0, 3, 4}}, {{1, 2, 3}, {0}, {2, 4}}, {0, 2}};
  std::vector<Matrix> reflections{ReflectionProduct{5, {}}};
  for (int letter = 0; letter < 3; ++letter) {
    ReflectionProduct product{5, {}};
    for (int factor = 0; factor <= letter; ++factor) product.factors.push_back(random_reflection(random, 5));
    reflections.emplace_back(product);
  }
  std::vector<Named> all;
  all.push_back(
      {"every form",
       meaningless(random, {map, sign, reflections[2], turn, diagonal, ZeroMatrix{5}, dense, blocks, factored}, 2,
                   true)});
  all.push_back({"diagonal with B", meaningless(random, {diagonal, ZeroMatrix{5}, diagonal}, 3, true)});
  all.push_back({"2×2 and 3×3 blocks", meaningless(random, {blocks, diagonal}, 1, false)});
  all.push_back({"rotations", rotation(7, {0, 1, 3})});
  all.push_back({"maps and resets", meaningless(random, {map, sign, ZeroMatrix{5}, map}, 2, true)});
  all.push_back({"reflections", meaningless(random, reflections, 3, false)});
  all.push_back({"reflections with B", meaningless(random, reflections, 1, true)});
  all.push_back({"two layers, resets", flip_flop_toggle()});
  all.push_back({"code books", delayed_toggle()});
  all.push_back({"two layers, reflections", two_reflections(5)});
  return all;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

void check_against_reference(const Network& network, ArithmeticName arithmetic, Form form, Order order,
                             const Word& word) {
  const OrderedReading reference = reference_reading(network, arithmetic, form, order, word);
  const auto evaluator = make_evaluator(network, arithmetic, form, order);
  for (std::size_t t = 0; t <= word.size(); ++t) {
    CAPTURE(t);
    REQUIRE((t == 0 ? evaluator->current() : evaluator->step(word[t - 1])) == reference.answers[t]);
    const std::vector<double> numbers = evaluator->numbers();
    REQUIRE(numbers.size() == reference.numbers[t].size());
    for (std::size_t i = 0; i < numbers.size(); ++i) REQUIRE(same(numbers[i], reference.numbers[t][i]));
  }
}

}  // namespace

TEST_CASE("orders have names") {
  for (const char* name : {"sequential", "chunked:64", "chunked:1", "scan", "scan:1024", "doubling", "doubling:3"})
    CHECK(to_string(parse_order(name)) == name);
  CHECK(to_string(parse_order("chunked")) == "chunked:64");
  CHECK(Order{}.is_sequential());
  for (const char* name : {"", "blelloch", "scan:", "scan:0", "scan:x", "scan:1k", "scan:-1", "chunked:1048577",
                           "doubling:99999999999999", "sequential:4", "Scan"})
    CHECK_THROWS_AS(parse_order(name), InputError);
}

TEST_CASE("every order is its reference, number by number, in every arithmetic") {
  for (const auto& [name, network] : networks()) {
    CAPTURE(std::string(name));
    const Word word = RandomWord(network.automaton.letters(), kSeed).slice(0, 37);
    for (const ArithmeticName arithmetic : ArithmeticName::all())
      for (const Form form : kForms)
        for (const Order order : orders()) {
          CAPTURE(to_string(arithmetic));
          CAPTURE(to_string(form));
          CAPTURE(to_string(order));
          check_against_reference(network, arithmetic, form, order, word);
        }
  }
}

TEST_CASE("what is exact is the same in every order as letter by letter") {
  std::vector<Network> exact;
  for (const Swap style : {Swap::kMap, Swap::kUnnormalised, Swap::kDoubled}) exact.push_back(symmetric(5, 4, style));
  exact.push_back(rotation(4, {0, 1, 3}));
  exact.push_back(flip_flop_toggle());
  for (const Network& network : exact)
    for (const ArithmeticName arithmetic : ArithmeticName::all())
      for (const Order order : orders()) {
        CAPTURE(to_string(arithmetic));
        CAPTURE(to_string(order));
        const auto sequential = make_evaluator(network, arithmetic);
        const auto ordered = make_evaluator(network, arithmetic, Form::kStructured, order);
        const RandomWord word(network.automaton.letters(), kSeed);
        for (std::uint64_t t = 0; t < 150; ++t) {
          REQUIRE(sequential->step(word.at(t)) == ordered->step(word.at(t)));
          REQUIRE(sequential->numbers() == ordered->numbers());
        }
      }
}

TEST_CASE("where numbers round, the orders differ, and a scan of one letter is sequential") {
  const Network network = rotation(7, all_residues(7));
  const Word word = RandomWord(7, kSeed).slice(0, 600);
  const auto numbers_after = [&](const char* order) {
    const auto evaluator = make_evaluator(network, Precision::kBf16, Form::kStructured, parse_order(order));
    for (const Letter letter : word) evaluator->step(letter);
    return evaluator->numbers();
  };
  const auto sequential = numbers_after("sequential");
  for (const char* order : {"chunked:1", "scan:1", "doubling:1"}) CHECK(numbers_after(order) == sequential);
  for (const char* order : {"chunked:64", "scan", "doubling"}) CHECK(numbers_after(order) != sequential);
  CHECK(numbers_after("scan") != numbers_after("doubling"));
}

TEST_CASE("an evaluator starts again, runs many letters at once, and shares its weights with a fresh one") {
  const Network network = rotation(5, all_residues(5));
  for (const Order order : orders()) {
    const auto one = make_evaluator(network, Precision::kBf16, Form::kStructured, order);
    const Word word = RandomWord(5, kSeed).slice(0, 300);
    std::vector<State> first(word.size()), second(word.size()), third(word.size());
    one->run(word, first);
    one->reset();
    CHECK(one->current() == network.automaton.initial());
    for (std::size_t t = 0; t < word.size(); ++t) second[t] = one->step(word[t]).value_or(kNoState);
    one->fresh()->run(word, third);
    CHECK(first == second);
    CHECK(first == third);
  }
}

TEST_CASE("the UT transform of integer keys: T is an inverse, with entries of at most 2") {
  std::mt19937_64 random(kSeed);
  for (const std::uint32_t n : {2U, 5U, 12U}) {
    constexpr Eigen::Index kFactors = 96;
    ReflectionChunk<Bf16> chunk(n, 1, kFactors);
    const std::vector<Eigen::bfloat16> h(n, Eigen::bfloat16(1));
    chunk.start(h.data());
    Eigen::MatrixXd keys = Eigen::MatrixXd::Zero(kFactors, n), t = Eigen::MatrixXd::Identity(kFactors, kFactors);
    for (Eigen::Index r = 0; r < kFactors; ++r) {
      const auto i = static_cast<std::uint32_t>(random() % n);
      const auto j = static_cast<std::uint32_t>((i + 1 + random() % (n - 1)) % n);
      keys(r, i) = 1;
      keys(r, j) = -1;
      chunk.append(
          {{{std::min(i, j), Eigen::bfloat16(i < j ? 1 : -1)}, {std::max(i, j), Eigen::bfloat16(i < j ? -1 : 1)}},
           Eigen::bfloat16(1)});
      for (Eigen::Index c = 0; c < r; ++c)
        t(r, c) = to_double(chunk.t(static_cast<std::size_t>(r), static_cast<std::size_t>(c)));
    }
    const Eigen::MatrixXd gram = keys * keys.transpose();
    const Eigen::MatrixXd lower = Eigen::MatrixXd(gram.triangularView<Eigen::StrictlyLower>());
    CHECK(t * (Eigen::MatrixXd::Identity(kFactors, kFactors) + lower) == Eigen::MatrixXd::Identity(kFactors, kFactors));
    CHECK(t.cwiseAbs().maxCoeff() == 2);
  }
}

TEST_CASE("maps and chunks that would not fit are refused") {
  const auto identity = Eigen::MatrixXd::Identity(5000, 5000);
  Network wide = one_layer(counter(1, {0}), unit(5000, 0), {Matrix{DenseMatrix{0.5 * identity}}}, {unit(5000, 0)});
  CHECK_THROWS_AS(make_evaluator(wide, Precision::kFp32, Form::kStructured, parse_order("scan")), LimitError);
  const Network keys = symmetric(5, 1, Swap::kUnit);
  CHECK_NOTHROW(make_evaluator(keys, Precision::kFp32, Form::kStructured, parse_order("chunked:2048")));
  CHECK_THROWS_AS(make_evaluator(keys, Precision::kFp32, Form::kStructured, parse_order("chunked:1048576")),
                  LimitError);
}
