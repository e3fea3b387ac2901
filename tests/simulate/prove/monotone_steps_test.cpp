// MATH.md §4, Monotone steps: in small formats every letter and every two letters, in every rounding; in krohn's own
// arithmetics every number of 16 bits; and what is one unit past each hypothesis.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "krohn/simulate/arithmetic/arithmetic.h"
#include "krohn/simulate/prove/certify.h"
#include "tests/simulate/hand_built.h"

using namespace krohn;
using namespace krohn::hand_built;

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
  std::size_t longest = 0;
  for (std::size_t x = 0; x < map.size(); ++x) {
    std::size_t at = x, length = 1;
    for (std::size_t i = 0; i < map.size(); ++i) at = map[at];
    for (std::size_t next = map[at]; next != at; next = map[next]) ++length;
    longest = std::max(longest, length);
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
  CertifyOptions how;
  how.arithmetic = Precision::kBf16;
  CHECK(certify(network, how).is<Proved>());
  how.arithmetic = Precision::kFp32;
  CHECK(certify(network, how).is<Refuted>());
  how.arithmetic = ArithmeticName::parse("exact");
  CHECK(certify(network, how).is<Refuted>());
}
