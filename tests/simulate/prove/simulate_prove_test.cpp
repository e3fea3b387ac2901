#include "krohn/automata/cascades/emulation.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/constructions/network/exactness.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/arithmetic/arithmetic.h"
#include "krohn/simulate/arithmetic/rounded_operations.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/evaluate/exact_network.h"
#include "krohn/simulate/evaluate/lanes/batch.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/pairs/pair_search.h"
#include "krohn/simulate/words/random_letters.h"
#include "tests/simulate/hand_built.h"
#include "tests/simulate/proving.h"
#include "tests/simulate/reference_evaluator.h"
#include "tests/testing.h"

using namespace krohn;
using namespace krohn::hand_built;

namespace {

CertifyOptions exactly(std::uint64_t max_pairs = 20'000) { return in(ArithmeticName::exact(), max_pairs); }

struct Named {
  std::string name;
  Network network;
};

std::vector<Named> exact_networks() {
  std::mt19937_64 random(3);
  std::vector<Named> networks;
  networks.push_back({"one-hot", one_hot(random_automaton(random, 7, 3))});
  networks.push_back({"rotation 7", rotation(7, {1, 3})});
  networks.push_back({"rotation 60", rotation(60, {1, 59, 7})});
  networks.push_back({"points of S_5, unit keys", symmetric(5, 1, Swap::kUnit)});
  networks.push_back({"S_4, unit keys", symmetric(4, 3, Swap::kUnit)});
  networks.push_back({"S_4, doubled", symmetric(4, 3, Swap::kDoubled)});
  networks.push_back({"two reflections, modulo 5", two_reflections(5)});
  networks.push_back({"flip-flop", flip_flop_toggle()});
  networks.push_back({"delayed", delayed_toggle()});
  return networks;
}

}  // namespace

TEST_CASE("cyclotomic numbers obey trigonometry, exactly") {
  const CyclotomicField field(60);
  CHECK(field.degree() == 16);
  for (const auto& [order, degree] : {std::pair{1U, 1U}, {4U, 2U}, {28U, 12U}, {36U, 12U}, {128U, 64U}, {420U, 96U}})
    CHECK(CyclotomicField(order).degree() == degree);
  CHECK(field.cosine(Turn{1, 6}) == ExactNumber{Rational(1, 2)});
  CHECK(field.cosine(Turn{1, 4}).empty());
  CHECK(field.sine(Turn{3, 4}) == exact_number(-1));
  const ExactNumber one = exact_number(1), two = exact_number(2);
  ExactNumber sum;
  for (std::int64_t a = 0; a < 60; ++a) {
    const Turn x{a, 60};
    sum = field.add(sum, field.cosine(x));
    CHECK(field.add(field.multiply(field.cosine(x), field.cosine(x)), field.multiply(field.sine(x), field.sine(x))) ==
          one);
    for (const std::int64_t b : {1, 7, 25, 59}) {
      const ExactNumber product = field.multiply(two, field.multiply(field.cosine(x), field.cosine(Turn{b, 60})));
      CHECK(product == field.add(field.cosine(Turn{a + b, 60}), field.cosine(Turn{a - b, 60})));
    }
    const Interval bounds = field.enclosure(field.sine(x));
    CHECK(bounds.contains(static_cast<double>(x.sine())));
    CHECK(bounds.upper() - bounds.lower() < 1e-14);
  }
  CHECK(sum.empty());
  CHECK_THROWS_AS(field.cosine(Turn{1, 7}), InputError);
  CHECK_THROWS_AS(CyclotomicField(1'000'000), LimitError);
}

TEST_CASE("a rational number lies in its interval") {
  CHECK(enclosure(Rational(1, 3)).lower() < enclosure(Rational(1, 3)).upper());
  CHECK(enclosure(Rational(3, 4)) == Interval(0.75));
  const Interval third = enclosure(Rational(-1, 3));
  CHECK(Rational(third.lower()) < Rational(-1, 3));
  CHECK(Rational(third.upper()) > Rational(-1, 3));
}

TEST_CASE("exact evaluation follows the automaton, and the numbers of fp64") {
  for (const auto& [name, network] : exact_networks()) {
    CAPTURE(name);
    const auto exact = make_evaluator(network, ArithmeticName::exact());
    const auto rounded = make_evaluator(network, Precision::kFp64);
    const RandomWord word(network.automaton.letters(), 21);
    State state = network.automaton.initial();
    CHECK(exact->current() == state);
    for (std::uint64_t t = 0; t < 150; ++t) {
      state = network.automaton.next(state, word.at(t));
      REQUIRE(exact->step(word.at(t)) == state);
      rounded->step(word.at(t));
      const auto a = exact->numbers(), b = rounded->numbers();
      for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(std::fabs(a[i] - b[i]) < 1e-12);
    }
    exact->reset();
    CHECK(exact->current() == network.automaton.initial());
    CHECK(exact->fresh()->numbers() == exact->numbers());
  }
}

TEST_CASE("exact constructions are proved in exact arithmetic, rotations and unit keys too") {
  for (const auto& [name, network] : exact_networks()) {
    CAPTURE(name);
    const Certificate certificate = certify(network, exactly());
    CHECK(certificate.is<Proved>());
    CHECK(certificate.method == "closed exact states");
    CHECK(certificate.arithmetic == ArithmeticName::exact());
  }
  CHECK(certify_exact(rotation(60, {1, 59, 7}), exactly()).pairs == 60 * 3);
  CHECK(certify_exact(symmetric(5, 1, Swap::kUnit), exactly()).pairs == 5 * 10);
}

TEST_CASE("what is wrong is refuted by a shortest word") {
  Network late = rotation(12, {1});
  std::swap(late.layers[0].decoder.codewords[8], late.layers[0].decoder.codewords[9]);
  Network tie = rotation(3, {1});
  tie.layers[0].decoder.codewords[1] = tie.layers[0].decoder.codewords[2];
  Network start = one_hot(counter(3, {1}));
  start.readout.next[0] = {1, 2, 0};
  for (const auto& [network, length] : {std::pair{late, 8U}, {tie, 1U}, {start, 0U}}) {
    const Certificate certificate = certify(network, exactly());
    CHECK(certificate.is<Refuted>());
    REQUIRE(certificate.failing_word());
    CHECK(certificate.failing_word()->size() == length);
    CHECK(certificate.is_shortest());
  }
  std::mt19937_64 random(8);
  for (int i = 0; i < 40; ++i) {  // networks with one target changed, against the search in fp64
    Network network = one_hot(random_automaton(random, 6, 2));
    network.layers[0].transitions[0].a = MapMatrix{random_automaton(random, 6, 1).letter_map(0)};
    const Certificate certificate = certify(network, exactly());
    const Certificate searched = certify_reachable_set(network, CertifyOptions{.arithmetic = Precision::kFp64});
    CHECK(to_string(certificate.claim) == to_string(searched.claim));
    if (searched.failing_word()) CHECK(certificate.failing_word()->size() == searched.failing_word()->size());
  }
}

TEST_CASE("what has no exact form is said so, and what does not close is not decided") {
  Network dense = rotation(5, {1});
  dense.layers[0].transitions[0].a = DenseMatrix{to_dense(dense.layers[0].transitions[0].a).cast<double>()};
  CHECK_THROWS_WITH_AS(certify(dense, exactly()), doctest::Contains("layer 0, action 0: the weight"), InputError);
  CHECK_THROWS_AS(make_evaluator(dense, ArithmeticName::exact()), InputError);
  const Certificate open = certify(quantise(rotation(5, {1}), Precision::kBf16), exactly(500));
  CHECK(open.is<ProvedUpTo>());
  CHECK(open.length() == 0);
  CHECK_FALSE(open.limit.empty());
  Network fine = rotation(5, {1});
  fine.layers[0].transitions[0].a = RotationBlocks{{{false, Turn{1, 999'983}}}};
  CHECK(certify(fine, exactly()).is<ProvedUpTo>());
}

TEST_CASE("signs are decided however small the number, and zero is zero") {
  // 2 cos ⅛ = √2, and p/q → √2 with p² − 2q² = ±1: the sign of q√2 − p is known, and its size is about 1/(2p).
  const CyclotomicField field(8);
  const ExactNumber root = field.multiply(exact_number(2), field.cosine(Turn{1, 8}));
  boost::multiprecision::cpp_int p = 1, q = 1;
  for (int n = 0; n < 1200; ++n) {  // to 2^−1500 or so, squared
    const ExactNumber difference = field.subtract(field.multiply({Rational(q)}, root), {Rational(p)});
    const int right = p * p < 2 * q * q ? 1 : -1;
    REQUIRE(field.sign(difference) == right);
    REQUIRE(field.sign(field.subtract({}, difference)) == -right);
    REQUIRE(field.sign(field.subtract(difference, difference)) == 0);
    const auto next = p + 2 * q;
    q += p;
    p = next;
  }
  // All small sums of cosines of twentieths and sixtieths, where long double can tell.
  for (const std::uint64_t order : {20U, 60U}) {
    const CyclotomicField turns(order);
    for (int code = 0; code < 625; ++code) {
      ExactNumber sum;
      long double value = 0;
      for (int i = 0, rest = code; i < 4; ++i, rest /= 5) {
        const Turn turn{2 * i + 1, static_cast<std::int64_t>(order)};
        sum = turns.add(sum, turns.multiply(exact_number(rest % 5 - 2), turns.cosine(turn)));
        value += static_cast<long double>(rest % 5 - 2) * turn.cosine();
      }
      REQUIRE(turns.sign(sum) == (std::fabs(value) < 1e-12L ? 0 : value > 0 ? 1 : -1));
    }
  }
}

TEST_CASE("of any three codewords, in any order, the nearest is found, and a tie where two are nearest") {
  const CyclotomicField field;
  const auto point = [](int code) { return std::pair{code % 3 - 1, code / 3 - 1}; };
  for (int code = 0; code < 729; ++code) {
    const int picks[] = {code % 9, code / 9 % 9, code / 81};
    Layer layer;
    layer.dimension = 2;
    layer.labels = 3;
    layer.initial = Eigen::MatrixXd::Zero(2, 1);
    for (const int pick : picks) {
      Eigen::MatrixXd codeword(2, 1);
      codeword << point(pick).first, point(pick).second;
      layer.decoder.codewords.push_back(codeword);
    }
    const ExactLayer exact(layer, field, "layer");
    for (int x = -4; x <= 4; ++x)
      for (int y = -4; y <= 4; ++y) {  // thirds, so that few states are doubles
        Label nearest = kNoLabel;
        int least = INT32_MAX;
        for (Label i = 0; i < 3; ++i) {
          const auto [a, b] = point(picks[i]);
          const int distance = (x - 3 * a) * (x - 3 * a) + (y - 3 * b) * (y - 3 * b);
          if (distance == least) nearest = kNoLabel;
          if (distance < least) nearest = i;
          least = std::min(least, distance);
        }
        const auto third = [](int n) { return n == 0 ? ExactNumber{} : ExactNumber{Rational(n, 3)}; };
        REQUIRE(exact.decode({third(x), third(y)}, 0) == nearest);
      }
  }
}

namespace {

/// One letter that turns cyclic layers of these sizes, and one layer more that repeats the first: words reach as many
/// tuples as the sizes have products, and induction over all tuples breaks where the repeated layer is out of step.
Network out_of_step(const std::vector<std::uint32_t>& sizes) {
  std::uint32_t states = 1;
  for (const std::uint32_t size : sizes) states *= size;
  std::vector<State> table(states);
  for (State state = 0; state < states; ++state) {
    State rest = state, next = 0, place = 1;
    for (const std::uint32_t size : sizes) {
      next += (rest % size + 1) % size * place;
      place *= size;
      rest /= size;
    }
    table[state] = next;
  }
  Network network = one_hot(counter(sizes[0], {1}));
  network.automaton = automaton(1, std::move(table));
  network.readout.next.clear();
  std::uint32_t nodes = 1;
  for (const std::uint32_t size : sizes) {
    if (nodes > 1) network.layers.push_back(one_hot(counter(size, {1})).layers[0]);
    std::vector<Context>& next = network.readout.next.emplace_back();
    for (std::uint32_t node = 0; node < nodes; ++node)
      for (std::uint32_t label = 0; label < size; ++label) next.push_back(node + label * nodes);
    nodes *= size;
  }
  network.layers.push_back(network.layers[0]);
  std::vector<Context>& last = network.readout.next.emplace_back();
  for (std::uint32_t node = 0; node < nodes; ++node)
    for (std::uint32_t label = 0; label < sizes[0]; ++label) last.push_back(label == node % sizes[0] ? node : 0);
  for (std::size_t k = 0; k + 1 < network.layers.size(); ++k)
    network.layers[k].wiring.next.assign(network.layers[k].labels, 0);
  return network;
}

}  // namespace

TEST_CASE("the time of exact arithmetic ends the search over tuples, which keeps what it found") {
  const Network network = out_of_step({7, 9, 11, 13});
  CertifyOptions options = exactly(100'000);
  const auto start = std::chrono::steady_clock::now();
  const Certificate whole = certify(network, options);
  CHECK(whole.is<Proved>());
  CHECK(test::contains(whole.evidence, "all 9009 tuples"));
  // Closing the layers takes a small part of the time of the whole: some limit ends the search and not the layers.
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  Certificate found;
  options.max_seconds = seconds;
  for (int tries = 0; tries < 300 && found.length() == 0; ++tries) {
    const bool met_layers = found.is<ProvedUpTo>();  // on a busy machine one step may pass over the search
    options.max_seconds = met_layers ? seconds : options.max_seconds * 0.85;
    found = certify(network, options);
    if (found.is<Proved>()) continue;
    CHECK(found.is<ProvedUpTo>());
    CHECK(test::contains(found.limit, "the time is over (--time"));
  }
  CHECK(found.length() > 0);
  CHECK(found.length() < 9009);
  options.progress = [](std::uint64_t) { throw Interrupted(""); };
  CHECK_THROWS_AS(certify(network, options), Interrupted);
}

TEST_CASE("the time of exact arithmetic ends layers that do not close") {
  // H ← H + 1: no state comes back, and only the limits of memory would end it.
  Network network = one_hot(counter(2, {0}));
  Layer& layer = network.layers[0];
  layer.transitions[0].b = Eigen::MatrixXd::Ones(2, 1);
  CertifyOptions options = exactly(1'000'000'000);
  options.max_seconds = 0.05;
  const Certificate found = certify(network, options);
  CHECK(found.is<ProvedUpTo>());
  CHECK(found.length() == 0);
  CHECK(test::contains(found.limit, "the time is over (--time 0.05)"));
}

TEST_CASE("a search that is out of time finds nothing, and other limits are its caller's") {
  const auto slow = []() -> std::optional<int> {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
    while (std::chrono::steady_clock::now() < end) TimeLimit::check();
    return 1;
  };
  CHECK(within_time(0.5, slow) == 1);
  const TimeLimit hour(3600, "--time 3600");
  CHECK(within_time(0.5, slow) == 1);
  CHECK_FALSE(within_time(1e-10, slow));
  const auto full = []() -> std::optional<int> { throw LimitError("memory"); };
  CHECK_THROWS_AS(within_time(0.5, full), LimitError);
}

// MATH.md §4, Monotone steps: in small formats every letter and every two letters, in every rounding; in krohn's own
// arithmetics every number of 16 bits; and what is one unit past each hypothesis.

namespace {

enum class Mode { kNearest, kFlushed, kUp, kDown, kToZero, kAway };
constexpr std::array kModes{Mode::kNearest, Mode::kFlushed, Mode::kUp, Mode::kDown, Mode::kToZero, Mode::kAway};

/// All numbers of a format of two significant bits, exponents −1 to 1, with ½ and ¼ of the least and both infinities.
class SmallFormat {
 public:
  SmallFormat() {
    const double infinity = std::numeric_limits<double>::infinity();
    for (const double positive : {0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, infinity}) {
      numbers_.push_back(positive);
      numbers_.push_back(-positive);
    }
    numbers_.push_back(0);
    std::ranges::sort(numbers_);
  }
  const std::vector<double>& numbers() const { return numbers_; }
  std::size_t none() const { return numbers_.size(); }  ///< NaN
  std::size_t count() const { return numbers_.size() + 1; }

  double rounded(double exact, Mode mode) const {
    if (std::isnan(exact)) return exact;
    if (mode == Mode::kFlushed && std::fabs(exact) < 0.5) return 0;
    const auto above = std::ranges::lower_bound(numbers_, exact);
    if (*above == exact) return exact;
    const double up = *above, down = *(above - 1);
    switch (mode) {
      case Mode::kUp:
        return up;
      case Mode::kDown:
        return down;
      case Mode::kToZero:
        return std::fabs(up) < std::fabs(down) ? up : down;
      case Mode::kAway:
        return std::fabs(up) > std::fabs(down) ? up : down;
      default:  // past the greatest number there is the infinity; ties go to the smaller one, which is as monotone
        return std::isinf(up) || (!std::isinf(down) && exact - down <= up - exact) ? down : up;
    }
  }
  std::size_t place(double number) const {
    if (std::isnan(number)) return none();
    return static_cast<std::size_t>(std::ranges::find(numbers_, number) - numbers_.begin());
  }
  /// x ↦ fl(fl(a x) + b), or fl(a x + b), as places of numbers.
  std::vector<std::size_t> step(double a, double b, Mode mode, bool fused) const {
    std::vector<std::size_t> to;
    for (const double x : numbers_) to.push_back(place(rounded((fused ? a * x : rounded(a * x, mode)) + b, mode)));
    to.push_back(none());
    return to;
  }

 private:
  std::vector<double> numbers_;
};

using Map = std::vector<std::size_t>;

Map after(const Map& first, const Map& second) {
  Map both;
  for (const std::size_t to : first) both.push_back(second[to]);
  return both;
}

/// The longest cycle.
std::size_t period(const Map& map) {
  std::size_t longest = 0, time = 1;
  std::vector<std::size_t> met(map.size(), 0);  // when first; 0: not yet
  for (std::size_t x = 0; x < map.size(); ++x) {
    const std::size_t begun = time;
    std::size_t at = x;
    for (; met[at] == 0; at = map[at]) met[at] = time++;
    if (met[at] >= begun) longest = std::max(longest, time - met[at]);
  }
  return longest;
}

template <class A>
void check_rises() {
  using Number = typename A::Number;
  std::vector<double> numbers;
  for (std::uint32_t bits = 0; bits < 1u << 16; ++bits)
    if (const double number = static_cast<double>(std::bit_cast<float>(bits << 16)); std::isfinite(number))
      numbers.push_back(number);
  std::ranges::sort(numbers);
  const double least = std::ldexp(1.0, A::least_exponent - A::digits + 1);
  for (const double a : {0.0, least, 0.25, 0.5, 0.5 + A::unit_roundoff, 1 - 2 * A::unit_roundoff, 1.0, 1.5})
    for (const double b : {0.0, least, -least, 1.0, -3.25, 100.0}) {
      double before = -std::numeric_limits<double>::infinity();
      std::size_t falls = 0;
      for (const double number : numbers) {
        const auto x = Number(static_cast<float>(number));
        // As a diagonal layer computes: the product, then B.
        const auto sum =
            A::add(A::product(Number(static_cast<float>(a)), A::load(x)), A::load(Number(static_cast<float>(b))));
        const auto next = static_cast<double>(A::store(sum));
        if (std::isnan(next)) continue;
        falls += next < before;
        before = next;
      }
      CAPTURE(a);
      CAPTURE(b);
      CHECK(falls == 0);
    }
}

}  // namespace

TEST_CASE("a rounded step with a factor that is not negative has no cycle, and one that is has none above 2") {
  const SmallFormat format;
  for (const Mode mode : kModes)
    for (const bool fused : {false, true}) {
      std::vector<Map> rising, falling;
      for (const double a : format.numbers())
        for (const double b : format.numbers()) {
          if (std::isinf(a) || std::isinf(b)) continue;
          Map map = format.step(a, b, mode, fused);
          const std::size_t cycle = period(map);
          REQUIRE(cycle <= (a < 0 ? 2 : 1));
          (a < 0 ? falling : rising).push_back(std::move(map));
        }
      std::size_t turned = 0;  // the least factor below 0: some of its steps do have a cycle
      for (const Map& one : rising)
        for (const Map& two : rising) REQUIRE(period(after(one, two)) == 1);
      for (const Map& one : falling) {
        turned += period(one) == 2;
        for (const Map& two : rising) {
          const std::size_t cycle = period(after(one, two));
          REQUIRE((cycle == 1 || cycle == 2));
        }
      }
      CHECK(turned > 0);
    }
  // One unit below 0, and away from it: −¼ · ¼ is −¼ once it is rounded.
  CHECK(period(format.step(-0.25, 0, Mode::kAway, false)) == 2);
  CHECK(period(format.step(0.25, 0, Mode::kAway, false)) == 1);
}

TEST_CASE("numbers whose steps are chosen by those before them have no cycle either, or one of a power of two") {
  std::mt19937 random(11);
  constexpr std::size_t kValues = 5, kNumbers = 3, kLetters = 2;
  for (const bool rising : {true, false})
    for (int system = 0; system < 3000; ++system) {
      const std::size_t states = kValues * kValues * kValues;
      // Letter, what stood and stands before it ↦ a monotone map of its values.
      std::array<std::vector<Map>, kNumbers> steps;
      for (std::size_t i = 0, before = kLetters; i < kNumbers; ++i, before *= kValues * kValues)
        for (std::size_t k = 0; k < before; ++k) {
          Map map(kValues);
          for (std::size_t& to : map) to = random() % kValues;
          std::ranges::sort(map);
          if (!rising && random() % 2 == 0) std::ranges::reverse(map);
          steps[i].push_back(std::move(map));
        }
      std::array<Map, kLetters> letters;
      for (std::size_t letter = 0; letter < kLetters; ++letter)
        for (std::size_t state = 0; state < states; ++state) {
          const std::array old{state / (kValues * kValues), state / kValues % kValues, state % kValues};
          std::size_t next = 0, chosen = letter;
          for (std::size_t i = 0; i < kNumbers; ++i) {
            const std::size_t to = steps[i][chosen][old[i]];
            next = next * kValues + to;
            chosen = (chosen * kValues + old[i]) * kValues + to;
          }
          letters[letter].push_back(next);
        }
      Map word = letters[random() % kLetters];
      for (std::size_t length = random() % 4; length > 0; --length) word = after(word, letters[random() % kLetters]);
      const std::size_t cycle = period(word);
      REQUIRE((rising ? cycle == 1 : (cycle & (cycle - 1)) == 0));
    }
}

TEST_CASE("steps of krohn's arithmetics rise with every number of 16 bits") {
  const FloatEnvironment environment;
  for (const ArithmeticName name : ArithmeticName::all())
    if (!name.is_exact()) with_arithmetic(name, [](auto type) { check_rises<decltype(type)>(); });
}

TEST_CASE("integers of 8 bits: steps that wrap have cycles of powers of two, and those that saturate keep the order") {
  constexpr int kSize = 256;
  Map wrapped(kSize);
  for (const IntegerType& type : std::span(kIntegerTypes)) {
    if (type.bits != 8) continue;
    CAPTURE(to_string(ArithmeticName(type)));
    const RoundedOperations in{ArithmeticName(type)};
    const int least = type.is_signed ? -128 : 0, end = least + kSize;
    const auto fit = [&](int exact) {
      if (type.saturates) return std::clamp(exact, least, end - 1);
      return type.is_signed ? int{static_cast<std::int8_t>(exact)} : int{static_cast<std::uint8_t>(exact)};
    };
    const auto as_int = [](double number) { return static_cast<int>(number); };
    // Every product and every sum of two numbers, so that the steps below are made of them.
    std::vector<int> products, sums;
    for (int a = least; a < end; ++a)
      for (int h = least; h < end; ++h) {
        products.push_back(as_int(in.store(in.product(a, h))));
        sums.push_back(as_int(in.store(in.add(a, h))));
      }
    std::set<std::size_t> periods;
    for (int a = least; a < end; ++a)
      for (int b = least; b < end; ++b) {
        bool is_right = true, keeps_its_way = true;
        int before = 0;
        for (int h = least; h < end; ++h) {
          const int product = products[static_cast<std::size_t>((a - least) * kSize + h - least)];
          const int next = sums[static_cast<std::size_t>((product - least) * kSize + b - least)];
          is_right &= next == fit(fit(a * h) + b) && as_int(in.add_product(b, a, h)) == fit(b + a * h);
          keeps_its_way &= h == least || (a < 0 ? next <= before : next >= before);
          before = next;
          wrapped[static_cast<std::size_t>(h - least)] = static_cast<std::size_t>(next - least);
        }
        REQUIRE(is_right);
        if (type.saturates)
          REQUIRE(keeps_its_way);
        else
          periods.insert(period(wrapped));
      }
    if (!type.saturates) CHECK(periods == std::set<std::size_t>{1, 2, 4, 8, 16, 32, 64, 128, 256});
  }
  // Modulo another number than a power of two, and with a shift before the product wraps.
  CHECK(period({1, 2, 3, 4, 5, 0}) == 6);
  for (int h = 0; h < kSize; ++h) wrapped[static_cast<std::size_t>(h)] = static_cast<std::uint8_t>(3 * h / 2);
  CHECK(wrapped[108] == 162);
  CHECK(wrapped[162] == 243);
  CHECK(wrapped[243] == 108);
}

TEST_CASE("past each hypothesis there are cycles") {
  // A gate that depends on the number that it scales.
  const auto gated = [](float x) { return (x < 1.25f ? 0.5f : 0.0f) * x + 1; };
  CHECK(gated(1) == 1.5f);
  CHECK(gated(1.5f) == 1);
  // Rises in both numbers, which are mixed.
  CHECK(period({0, 2, 1, 3}) == 2);
  // A rounding that exchanges two neighbours.
  const SmallFormat format;
  Map exchanged = format.step(1, 0, Mode::kNearest, false);
  std::swap(exchanged[format.place(1)], exchanged[format.place(1.5)]);
  CHECK(period(exchanged) == 2);
}

TEST_CASE("one delta head with eigenvalues 0 and 1 holds parity in bf16, by rounding, and not in exact arithmetic") {
  Eigen::MatrixXd even(2, 1), odd(2, 1);
  even << 129, 130;
  odd << 130, 129;
  Reflection erasure;  // I − k kᵀ, k = (1, −1)/√2
  erasure.entries = {{0, 1}, {1, -1}};
  erasure.scale_squared_denominator = 2;
  erasure.beta = 1;
  const Network network =
      one_layer(counter(2, {0, 1}), even, {Matrix{ReflectionProduct{2, {}}}, Matrix{ReflectionProduct{2, {erasure}}}},
                {even, odd});
  CertifyOptions how{.arithmetic = Precision::kBf16};
  CHECK(certify(network, how).is<Proved>());
  how.arithmetic = Precision::kFp32;
  CHECK(certify(network, how).is<Refuted>());
  how.arithmetic = ArithmeticName::parse("exact");
  CHECK(certify(network, how).is<Refuted>());
}

namespace {

Network snapping(Network network, std::uint64_t every) {
  network.snap_every = every;
  return network;
}

/// Z_4 by a turn of 80° a letter instead of 90°: 10° more wrong after every letter, and 45° are half-way.
Network lagging_counter(std::uint64_t snap_every) {
  Network network = rotation(4, {1});
  network.layers[0].transitions[0].a = RotationBlocks{{{false, Turn{2, 9}}}};
  return snapping(std::move(network), snap_every);
}

Network snapped_rotation(std::uint32_t m, Precision precision) {
  return build(counter(m, all_residues(m)), BuildOptions{.construction = "rotation-snapped", .precision = precision});
}

Certificate certify_in(const Network& network, ArithmeticName arithmetic, std::uint64_t max_pairs = 2'000'000) {
  return certify(network, in(arithmetic, max_pairs));
}

}  // namespace

TEST_CASE("snapping in time repairs a lag, and too late does not") {
  for (const ArithmeticName arithmetic : {ArithmeticName(Precision::kFp64), ArithmeticName(Precision::kBf16),
                                          ArithmeticName::parse("fp32+fma"), ArithmeticName::parse("bf16/fp32")}) {
    CAPTURE(to_string(arithmetic));
    for (std::uint64_t every = 1; every <= 4; ++every) {
      CAPTURE(every);
      const Certificate certificate = certify_in(lagging_counter(every), arithmetic);
      CHECK(certificate.is<Proved>());
    }
    for (const std::uint64_t every : {0, 5, 6, 100}) {
      CAPTURE(every);
      const Certificate certificate = certify_in(lagging_counter(every), arithmetic);
      CHECK(certificate.is<Refuted>());
      REQUIRE(certificate.failing_word());
      CHECK(certificate.failing_word()->size() == 5);
    }
  }
}

TEST_CASE("the search knows how long ago the network snapped") {
  // All states are met after every number of letters since the last snap: 4 codewords and their lags.
  for (std::uint64_t every = 1; every <= 4; ++every) {
    const Certificate certificate = certify_reachable_set(lagging_counter(every), {});
    CHECK(certificate.is<Proved>());
    CHECK(certificate.pairs == std::lcm(std::uint64_t{4}, every));
  }
}

TEST_CASE("the evaluator snaps as its reference does") {
  std::mt19937_64 random(31);
  std::vector<Network> networks{rotation(7, all_residues(7)), symmetric(4, 2, Swap::kUnit), flip_flop_toggle(),
                                one_hot(random_automaton(random, 6, 3))};
  for (Network& network : networks)
    for (const std::uint64_t every : {1, 2, 7}) {
      network.snap_every = every;
      validate(network);
      for (const ArithmeticName arithmetic : ArithmeticName::all()) {
        CAPTURE(to_string(arithmetic));
        const auto fast = make_evaluator(network, arithmetic);
        const auto reference = reference_evaluator(network, arithmetic);
        const RandomWord word(network.automaton.letters(), 5);
        for (std::uint64_t t = 0; t < 60; ++t) {
          REQUIRE(fast->step(word.at(t)) == reference->step(word.at(t)));
          REQUIRE(fast->numbers() == reference->numbers());
        }
        fast->reset();
        reference->reset();
        for (std::uint64_t t = 0; t < 10; ++t) fast->step(word.at(t)), reference->step(word.at(t));
        CHECK(fast->numbers() == reference->numbers());
      }
    }
}

TEST_CASE("batches of words snap too") {
  const Network network = snapping(rotation(10, all_residues(10)), 11);
  constexpr std::size_t kWords = 37, kLength = 50;
  std::vector<Letter> letters(kWords * kLength);
  const RandomWord random(10, 12);
  for (std::size_t i = 0; i < letters.size(); ++i) letters[i] = random.at(i);
  const std::vector<State> ends = batch_final_states(network, Precision::kBf16, letters, kWords, kLength);
  for (std::size_t w = 0; w < kWords; ++w) {
    const auto evaluator = make_evaluator(network, Precision::kBf16);
    State state = kNoState;
    for (std::size_t t = 0; t < kLength; ++t) state = evaluator->step(letters[t * kWords + w]).value_or(kNoState);
    CHECK(ends[w] == state);
  }
}

TEST_CASE("rotations that drift are proved once they snap") {
  struct Fact {
    Precision precision;
    std::uint32_t m;
    std::uint64_t every;
  };
  for (const Fact& fact :
       {Fact{Precision::kBf16, 5, 27}, Fact{Precision::kBf16, 10, 15}, Fact{Precision::kBf16, 60, 2}}) {
    CAPTURE(to_string(fact.precision));
    CAPTURE(fact.m);
    const Network network = snapped_rotation(fact.m, fact.precision);
    CHECK(network.snap_every == fact.every);
    CHECK(test::contains(network.provenance.note, "not linear"));
    CHECK(certify_in(snapping(network, 0), fact.precision).is<Refuted>());
    CHECK(certify_in(network, fact.precision).is<Proved>());
    CHECK(certify_reachable_set(network, in(fact.precision)).is<Proved>());
  }
}

TEST_CASE("bounds prove snaps that no search could, by induction over blocks") {
  struct Fact {
    Precision precision;
    std::uint32_t m;
  };
  for (const Fact& fact : {Fact{Precision::kFp32, 5}, Fact{Precision::kFp32, 60}, Fact{Precision::kFp64, 7},
                           Fact{Precision::kFp16, 11}, Fact{Precision::kBf16, 10}}) {
    CAPTURE(to_string(fact.precision));
    CAPTURE(fact.m);
    Network network = snapped_rotation(fact.m, fact.precision);
    const CertifyOptions options = in(fact.precision);
    const auto certificate = certify_snapped(network, options);
    REQUIRE(certificate);
    CHECK(certificate->is<Proved>());
    CHECK(certificate->method == "snapped horizon bound");
    CHECK(certificate->evidence.find("not linear") == 0);
    // The bound is not proved for blocks that are much longer, nor without snaps.
    network.snap_every *= 4;
    CHECK_FALSE(certify_snapped(network, options));
    network.snap_every = 0;
    CHECK_FALSE(certify_snapped(network, options));
  }
}

TEST_CASE("the drift bound is the first-order horizon, and never more") {
  for (const auto& [precision, u] : {std::pair{Precision::kBf16, 0x1p-8},
                                     {Precision::kFp16, 0x1p-11},
                                     {Precision::kFp32, 0x1p-24},
                                     {Precision::kFp64, 0x1p-53}})
    for (const std::uint32_t m : {3, 5, 7, 11, 30}) {
      CAPTURE(to_string(precision));
      CAPTURE(m);
      const double margin = std::sin(std::numbers::pi / m);
      const double first_order = std::log1p(margin) / (3 * std::sqrt(2.0) * u);
      const auto letters = static_cast<double>(letters_before_drift(1, margin, precision));
      CHECK(letters <= first_order);
      CHECK(letters >= 0.9 * first_order - 3);
    }
  CHECK(letters_before_drift(1, 1e-3, Precision::kBf16) == 0);
  CHECK(letters_before_drift(1, std::sin(std::numbers::pi / 60), Precision::kFp32) == 201'724);
}

TEST_CASE("a network that snaps has one code book for each layer, and is refused where only linear ones are meant") {
  CHECK_THROWS_WITH_AS(validate(snapping(two_reflections(5), 3)),
                       "layer 2: has several code books; a network that snaps has one for each layer", InputError);
  CHECK_NOTHROW(require_linear(rotation(5, {1}), "scan"));
  CHECK_THROWS_AS(require_linear(snapping(rotation(5, {1}), 3), "scan"), InputError);
  CHECK_THROWS_AS(format_onnx(snapping(rotation(5, {1}), 3)), InputError);
}

TEST_CASE("the file says that a network snaps") {
  const Network network = snapped_rotation(5, Precision::kBf16);
  TensorFile file = to_tensors(network);
  CHECK(file.metadata.at("snap_every") == std::to_string(network.snap_every));
  CHECK(from_tensors(file, "z5").snap_every == network.snap_every);
  CHECK(to_tensors(rotation(5, {1})).metadata.count("snap_every") == 0);
  for (const char* bad : {"", "0", "07", "-1", "+3", "3 ", "3.0", "x", "99999999999999999999999"}) {
    CAPTURE(bad);
    file.metadata["snap_every"] = bad;
    CHECK_THROWS_AS(from_tensors(file, "z5"), InputError);
  }
}

TEST_CASE("the planner offers snapping by name, says that it is not linear, and never calls it exact") {
  BuildOptions wishes{.precision = Precision::kFp32};
  bool offered = false;
  for (const PlanRow& row : plan(counter(60, {1}), wishes)) {
    CHECK((row.snap_every > 0) == (row.construction == "rotation-snapped"));
    if (row.snap_every == 0) continue;
    offered = true;
    CHECK_FALSE(row.chosen);
    CHECK(row.exact_in.empty());
    CHECK(row.locked_in.empty());
    CHECK(row.state_numbers == 2);
    CHECK(row.reason.find("not linear: snaps to the nearest of 60 codewords every ") == 0);
  }
  CHECK(offered);
  wishes.construction = "rotation-snapped";
  wishes.exact = true;
  CHECK_THROWS_AS(build(counter(60, {1}), wishes), InputError);
  wishes.exact = false;
  CHECK_THROWS_AS(build(counter(2, {1}), wishes), InputError);
}
