#include "krohn/simulate/check/recheck_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <type_traits>

#include "krohn/groups/base/error.h"
#include "krohn/simulate/check/recheck_arithmetic.h"
#include "krohn/simulate/check/recheck_enclosed.h"

namespace krohn {
namespace {

constexpr std::uint64_t kMaxNumbers = std::uint64_t{1} << 26;   ///< of all lists together
constexpr std::uint64_t kMaxProducts = std::uint64_t{1} << 36;  ///< in one list

/// a + b is first + second.
std::pair<double, double> exact_sum(double a, double b) {
  const double sum = a + b, b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

/// The pairs of docs/reference/certificate-file.md, and ⊕, ⊗, ⊘.
struct DoublePair {
  double high = 0, low = 0;

  DoublePair(double number) : high(number) {}  // NOLINT: a number is the pair with 0
  DoublePair(std::pair<double, double> both) : high(both.first), low(both.second) {}

  friend DoublePair operator+(DoublePair a, DoublePair b) {
    const DoublePair sum = exact_sum(a.high, b.high), rest = exact_sum(a.low, b.low);
    const DoublePair first = exact_sum(sum.high, sum.low + rest.high);
    return exact_sum(first.high, first.low + rest.low);
  }
  friend DoublePair operator*(DoublePair a, DoublePair b) {
    const double product = a.high * b.high;
    return exact_sum(product, std::fma(a.high, b.high, -product) + (a.high * b.low + a.low * b.high));
  }
  friend DoublePair operator-(DoublePair a, DoublePair b) { return a + DoublePair({-b.high, -b.low}); }
  friend DoublePair operator/(DoublePair a, DoublePair b) {
    const double first = a.high / b.high;
    const DoublePair rest = a - DoublePair(first) * b;
    const double second = rest.high / b.high;
    const DoublePair last = rest - DoublePair(second) * b;
    return DoublePair(exact_sum(first, second)) + DoublePair(last.high / b.high);
  }
};

constexpr std::pair kLogOfTwo{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

/// The sum of a list of pairs times 1, x, x², …, by Horner's rule: in double from the last to number `pairs`, then in
/// pairs.
DoublePair stated_series(const std::vector<DoublePair>& factors, std::size_t pairs, DoublePair x) {
  double tail = 0;
  for (std::size_t i = factors.size(); i-- > pairs;) tail = tail * x.high + factors[i].high;
  DoublePair sum = tail;
  for (std::size_t i = pairs; i-- > 0;) sum = sum * x + factors[i];
  return sum;
}

/// log x for a positive normal number, or two that are meant together.
DoublePair stated_log(DoublePair x) {
  static const std::vector<DoublePair> inverses = [] {
    std::vector<DoublePair> list;
    for (int i = 0; i <= 20; ++i) list.push_back(DoublePair(1) / DoublePair(2 * i + 1));
    return list;
  }();
  int k = std::ilogb(x.high);
  if (std::ldexp(x.high, -k) > 0x1.6a09e667f3bcdp+0) ++k;
  const DoublePair m = std::pair(std::ldexp(x.high, -k), std::ldexp(x.low, -k));
  const DoublePair f = exact_sum(m.high - 1, m.low), s = f / (DoublePair(2) + f);
  const DoublePair half = s * stated_series(inverses, 4, s * s), of_m = std::pair(2 * half.high, 2 * half.low);
  return k == 0 ? of_m : DoublePair(kLogOfTwo) * DoublePair(k) + of_m;
}

/// log(1 + x) in double for x ≥ 0, by the steps of docs/reference/certificate-file.md.
double stated_log_of_one_and(double x) { return x < 0x1p-60 ? x : stated_log(exact_sum(1, x)).high; }

/// The integer nearest to x, or that next to it where rounding ½ more leads there.
double stated_integer(double x) { return std::trunc(x < 0 ? x - 0.5 : x + 0.5); }

/// 1/0!, 1/1!, 1/2!, …
const std::vector<DoublePair>& inverse_factorials() {
  static const std::vector<DoublePair> list = [] {
    std::vector<DoublePair> inverses{1};
    for (int n = 1; n < 29; ++n) inverses.push_back(inverses.back() / DoublePair(n));
    return inverses;
  }();
  return list;
}

/// x^y in double for x ≥ 0 and y > 0, by the steps of docs/reference/certificate-file.md.
double stated_power(double x, double y) {
  if (x == 0 || x == 1 || std::isinf(x)) return x;
  static const std::vector factors(inverse_factorials().begin() + 1, inverse_factorials().begin() + 13);
  const bool is_subnormal = x < std::numeric_limits<double>::min();
  DoublePair logarithm = stated_log(is_subnormal ? x * 0x1p60 : x);
  if (is_subnormal) logarithm = logarithm - DoublePair(kLogOfTwo) * DoublePair(60);
  if (y * logarithm.high > 710) return std::numeric_limits<double>::infinity();
  if (y * logarithm.high < -746) return 0;
  const DoublePair exponent = logarithm * DoublePair(y);
  const double k = stated_integer(exponent.high * 0x1.71547652b82fep+0);
  const DoublePair rest = exponent - DoublePair(kLogOfTwo) * DoublePair(k);
  const DoublePair r = std::pair(rest.high / 64, rest.low / 64);
  DoublePair less_one = r * stated_series(factors, 3, r);
  for (int i = 0; i < 6; ++i)
    less_one = DoublePair(std::pair(2 * less_one.high, 2 * less_one.low)) + less_one * less_one;
  return std::ldexp((DoublePair(1) + less_one).high, static_cast<int>(k));
}

/// An angle in quarter turns, of which the last two binary digits count, and the rest.
struct StatedAngle {
  int quarters;
  DoublePair rest;
};

StatedAngle stated_angle(double x) {
  if (std::abs(x) < 0x1p20) {
    const double k = stated_integer(x * 0x1.45f306dc9c883p-1);
    const DoublePair left = exact_sum(x - k * 0x1.921fb544p+0, -(k * 0x1.0b4611a6p-34));
    const DoublePair below = std::pair(0x1.3198a2e037073p-69, 0x1.129024e088a68p-123);
    return {static_cast<int>(k) & 3, left - below * DoublePair(k)};
  }
  using Integer = boost::multiprecision::cpp_int;
  static constexpr unsigned kDigits = 1280;  // behind the point
  static const Integer half_pi = [] {
    Integer pi = 0;
    for (const auto& [factor, n] : {std::pair(16, 5), std::pair(-4, 239)}) {
      Integer divisor = n;
      for (int odd = 1; divisor < Integer(1) << kDigits; odd += 2, divisor *= n * n)
        pi += (odd % 4 == 1 ? factor : -factor) * Integer((Integer(1) << kDigits) / (divisor * odd));
    }
    return Integer(pi / 2);
  }();
  const int exponent = std::ilogb(x) - 52;
  const Integer scaled = Integer(static_cast<std::int64_t>(std::ldexp(std::abs(x), -exponent)))
                         << static_cast<unsigned>(static_cast<int>(kDigits) + exponent);
  const Integer k = (2 * scaled + half_pi) / (2 * half_pi), rest = scaled - k * half_pi;
  // The 53 leading digits of what is left, and then the next 53.
  Integer left = abs(rest);
  const auto taken = [&left] {
    const unsigned digits = left == 0 ? 0 : static_cast<unsigned>(msb(left)) + 1, less = digits > 53 ? digits - 53 : 0;
    const Integer leading = left >> less;
    left -= leading << less;
    return std::ldexp(leading.convert_to<double>(), static_cast<int>(less) - static_cast<int>(kDigits));
  };
  const double high = taken(), low = taken();
  const double sign = (rest < 0) != (x < 0) ? -1 : 1;
  const int quarters = static_cast<int>(k & 3);
  return {x < 0 ? -quarters & 3 : quarters, exact_sum(sign * high, sign * low)};
}

/// cos(x + quarters π/2) in double, by the steps of docs/reference/certificate-file.md.
double stated_cosine(double x, int quarters) {
  // The coefficients of x^0/0!, −x^2/2!, …, x^28/28!, and of x^1/1!, −x^3/3!, …, −x^27/27!.
  static const auto factors = [] {
    std::array<std::vector<DoublePair>, 2> lists;
    for (std::size_t n = 0; n < inverse_factorials().size(); ++n) {
      const DoublePair inverse = inverse_factorials()[n];
      lists[n % 2].push_back(n / 2 % 2 == 0 ? inverse : DoublePair({-inverse.high, -inverse.low}));
    }
    return lists;
  }();
  const StatedAngle angle = stated_angle(x);
  const int place = (angle.quarters + quarters) & 3;
  const DoublePair square = angle.rest * angle.rest, series = stated_series(factors[place % 2], 4, square);
  const double value = place % 2 == 0 ? series.high : (angle.rest * series).high;
  return place == 1 || place == 2 ? -value : value;
}

/// e^x = 2^k (1 + first + second), for |x| < 746: the steps of docs/reference/certificate-file.md that e^x and tanh
/// share.
struct StatedExponential {
  int k;
  double first, second;
};

StatedExponential stated_exponential(double x) {
  const double k = stated_integer(x * 0x1.71547652b82fep+0);
  const auto [r, below] = exact_sum(x - k * 0x1.62e42fefa38p-1, -k * 0x1.ef35793c7673p-45);
  double tail = 0, factorial = 87'178'291'200;  // 14!
  for (int n = 14; n >= 3; factorial /= n--) tail = tail * r + 1 / factorial;
  const double square = r * r, lost = std::fma(r, r, -square);
  const auto [high, low] = exact_sum(r, square * 0.5);
  const double rest = lost * 0.5 + r * r * r * tail + below * (1 + r);
  const auto [first, second] = exact_sum(high, low + rest);
  return {static_cast<int>(k), first, second};
}

/// e^x in double, by the steps of docs/reference/certificate-file.md.
double stated_exp_in_double(double x) {
  if (x > 710) return std::numeric_limits<double>::infinity();
  if (x < -746) return 0;
  const auto [k, first, second] = stated_exponential(x);
  const auto [sum, sum_rest] = exact_sum(1, first);
  return std::ldexp(sum + (sum_rest + second), k);
}

/// tanh in double, by the steps of docs/reference/certificate-file.md.
double stated_tanh(double a) {
  if (a == 0) return 0;
  const double x = -2 * std::abs(a);
  double less_one = -1;  // e^x − 1
  if (x >= -40) {
    const auto [k, first, second] = stated_exponential(x);
    if (k == 0) {
      less_one = first + second;
    } else {
      const auto [octaves, octaves_rest] = exact_sum(std::ldexp(1.0, k), -1);
      const auto [sum, sum_rest] = exact_sum(octaves, std::ldexp(first, k));
      const auto [below, below_rest] = exact_sum(octaves_rest, std::ldexp(second, k));
      const auto [whole, whole_rest] = exact_sum(sum, sum_rest + below);
      less_one = whole + (whole_rest + below_rest);
    }
  }
  return std::copysign(less_one / (2 + less_one), a);
}

/// e^x of an fp32 number, rounded to fp32, by the other steps of docs/reference/certificate-file.md.
double stated_exp_in_single(double x) {
  if (x > 0x1.62e42ep6) return std::numeric_limits<double>::infinity();
  if (x < -0x1.9fe368p6) return 0;
  const double shifted = std::fma(0x1.71547652b82fep+5, x, 0x1.8p+52), k = shifted - 0x1.8p+52;
  const double r = std::fma(0x1.71547652b82fep+5, x, -k);
  const double high = std::fma(0x1.c6af84b912394p-20, r, 0x1.ebfce50fac4f3p-13),
               low = std::fma(0x1.62e42ff0c52d6p-6, r, 1.0);
  // 2^(i/32), rounded to fp64.
  static constexpr double kPowers[32] = {0x1p+0,
                                         0x1.059b0d3158574p+0,
                                         0x1.0b5586cf9890fp+0,
                                         0x1.11301d0125b51p+0,
                                         0x1.172b83c7d517bp+0,
                                         0x1.1d4873168b9aap+0,
                                         0x1.2387a6e756238p+0,
                                         0x1.29e9df51fdee1p+0,
                                         0x1.306fe0a31b715p+0,
                                         0x1.371a7373aa9cbp+0,
                                         0x1.3dea64c123422p+0,
                                         0x1.44e086061892dp+0,
                                         0x1.4bfdad5362a27p+0,
                                         0x1.5342b569d4f82p+0,
                                         0x1.5ab07dd485429p+0,
                                         0x1.6247eb03a5585p+0,
                                         0x1.6a09e667f3bcdp+0,
                                         0x1.71f75e8ec5f74p+0,
                                         0x1.7a11473eb0187p+0,
                                         0x1.82589994cce13p+0,
                                         0x1.8ace5422aa0dbp+0,
                                         0x1.93737b0cdc5e5p+0,
                                         0x1.9c49182a3f09p+0,
                                         0x1.a5503b23e255dp+0,
                                         0x1.ae89f995ad3adp+0,
                                         0x1.b7f76f2fb5e47p+0,
                                         0x1.c199bdd85529cp+0,
                                         0x1.cb720dcef9069p+0,
                                         0x1.d5818dcfba487p+0,
                                         0x1.dfc97337b9b5fp+0,
                                         0x1.ea4afa2a490dap+0,
                                         0x1.f50765b6e454p+0};
  const auto octaves = std::floor(k / 32);
  const double power = std::ldexp(kPowers[static_cast<std::size_t>(k - 32 * octaves)], static_cast<int>(octaves));
  return static_cast<float>(std::fma(high, r * r, low) * power);
}

/// A number of bf16: every operation in double, where it is exact or so near that rounding it once more is rounding
/// once.
class Bf16 {
 public:
  Bf16() = default;
  explicit Bf16(double number) : number_(arithmetic().store(number)) {}
  explicit operator double() const { return number_; }

  friend Bf16 operator+(Bf16 a, Bf16 b) { return Bf16(a.number_ + b.number_); }
  friend Bf16 operator-(Bf16 a, Bf16 b) { return Bf16(a.number_ - b.number_); }
  friend Bf16 operator*(Bf16 a, Bf16 b) { return Bf16(a.number_ * b.number_); }
  friend Bf16 operator/(Bf16 a, Bf16 b) { return Bf16(a.number_ / b.number_); }
  friend Bf16 sqrt(Bf16 a) { return Bf16(std::sqrt(a.number_)); }
  friend auto operator<=>(Bf16, Bf16) = default;

 private:
  static const DeterministicArithmetic& arithmetic() {
    static const DeterministicArithmetic bf16("bf16");
    return bf16;
  }
  double number_ = 0;
};

/// The functions of single numbers, or of several numbers each; the other lists have names of their own.
template <class Real>
struct Computed {
  const char* name;
  std::size_t views;
  Real (*of)(Real a, Real b);  ///< null: `dot` and `norm`, whose views have a stride for the terms as well
};
template <class Real>
constexpr Computed<Real> kComputed[] = {
    {"dot", 2, nullptr},
    {"copy", 1, [](Real a, Real) { return a; }},
    {"add", 2, [](Real a, Real b) { return a + b; }},
    {"subtract", 2, [](Real a, Real b) { return a - b; }},
    {"multiply", 2, [](Real a, Real b) { return a * b; }},
    {"divide", 2, [](Real a, Real b) { return a / b; }},
    {"greater", 2, [](Real a, Real b) { return std::max(a, b); }},
    {"root", 1,
     [](Real a, Real) {
       using std::sqrt;
       return Real(sqrt(a));
     }},
    {"bf16", 1, [](Real a, Real) { return Real(double(Bf16(double(a)))); }},
    {"sigmoid", 2, [](Real a, Real b) { return a / (Real(1) + Real(stated_exp_in_double(-double(b)))); }},
    {"sigmoid32", 2, [](Real a, Real b) { return a / (Real(1) + Real(stated_exp_in_single(-double(b)))); }},
    {"exp", 1, [](Real a, Real) { return Real(stated_exp_in_double(double(a))); }},
    {"exp32", 1, [](Real a, Real) { return Real(stated_exp_in_single(double(a))); }},
    {"softplus", 1,
     [](Real a, Real) {
       const double x = double(a);
       return Real(std::max(x, 0.0)) + Real(stated_log_of_one_and(stated_exp_in_double(-std::abs(x))));
     }},
    {"softplus32", 1,
     [](Real a, Real) {
       const double x = double(a);
       return x > 20 ? a : Real(stated_log_of_one_and(stated_exp_in_single(x)));
     }},
    {"logistic", 1, [](Real a, Real) { return Real(1 / (1 + stated_exp_in_double(-double(a)))); }},
    {"tanh", 1, [](Real a, Real) { return Real(stated_tanh(double(a))); }},
    {"softplus64", 1,
     [](Real a, Real) {
       const double x = double(a);
       return x > 20 ? a : Real(stated_log_of_one_and(stated_exp_in_double(x)));
     }},
    {"log sigmoid", 1,
     [](Real a, Real) {
       const double x = double(a);
       return Real(std::min(x, 0.0) - stated_log_of_one_and(stated_exp_in_double(-std::abs(x))));
     }},
    {"cosine", 1, [](Real a, Real) { return Real(stated_cosine(double(a), 0)); }},
    {"sine", 1, [](Real a, Real) { return Real(stated_cosine(double(a), -1)); }},
    {"norm", 1, nullptr}};

template <class Function>
Enclosed enclosed_function(const Function& function, Enclosed x) {
  return Enclosed::of_function(x, [&](double number) { return function(number); });
}
double real_logistic(double x) { return 1 / (1 + stated_exp_in_double(-x)); }
double real_softplus(double x) { return std::max(x, 0.0) + stated_log_of_one_and(stated_exp_in_double(-std::abs(x))); }
Enclosed enclosed_sigmoid(Enclosed a, Enclosed b) {
  return Enclosed::with_error(a.as_leaf() * enclosed_function(real_logistic, b));
}

template <>
constexpr Computed<Enclosed> kComputed<Enclosed>[] = {
    {"dot", 2, nullptr},
    {"copy", 1, [](Enclosed a, Enclosed) { return a; }},
    {"add", 2, [](Enclosed a, Enclosed b) { return a + b; }},
    {"subtract", 2, [](Enclosed a, Enclosed b) { return a - b; }},
    {"multiply", 2, [](Enclosed a, Enclosed b) { return a * b; }},
    {"divide", 2, [](Enclosed a, Enclosed b) { return a / b; }},
    {"greater", 2, [](Enclosed a, Enclosed b) { return max(a, b); }},
    {"root", 1, [](Enclosed a, Enclosed) { return sqrt(a); }},
    {"sigmoid", 2, enclosed_sigmoid},
    {"sigmoid32", 2, enclosed_sigmoid},
    {"exp", 1, [](Enclosed a, Enclosed) { return enclosed_function(stated_exp_in_double, a); }},
    {"exp32", 1, [](Enclosed a, Enclosed) { return enclosed_function(stated_exp_in_double, a); }},
    {"softplus", 1, [](Enclosed a, Enclosed) { return enclosed_function(real_softplus, a); }},
    {"softplus32", 1, [](Enclosed a, Enclosed) { return enclosed_function(real_softplus, a); }},
    {"logistic", 1, [](Enclosed a, Enclosed) { return enclosed_function(real_logistic, a); }},
    {"tanh", 1, [](Enclosed a, Enclosed) { return enclosed_function(stated_tanh, a); }},
    {"softplus64", 1, [](Enclosed a, Enclosed) { return enclosed_function(real_softplus, a); }},
    {"log sigmoid", 1, [](Enclosed a, Enclosed) {
       return enclosed_function(
           [](double x) { return std::min(x, 0.0) - stated_log_of_one_and(stated_exp_in_double(-std::abs(x))); }, a);
     }}};

/// 5 bits of exponent, 10 of fraction.
double number_of_half(std::uint64_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const auto fraction = static_cast<double>(bits & 1023);
  const double size = exponent == 31  ? std::numeric_limits<double>::infinity()
                      : exponent == 0 ? std::ldexp(fraction, -24)
                                      : std::ldexp(1024 + fraction, exponent - 25);
  return bits >> 15 != 0 ? -size : size;
}

/// The numbers of a tensor.
std::vector<double> numbers_of(const Tensor& tensor) {
  const auto place = [&](std::size_t i, std::size_t width) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, tensor.bytes.data() + i * width, width);
    return bits;
  };
  std::vector<double> numbers(tensor.elements());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (tensor.dtype == "F64")
      numbers[i] = std::bit_cast<double>(place(i, 8));
    else if (tensor.dtype == "F32" || tensor.dtype == "BF16")
      numbers[i] =
          std::bit_cast<float>(static_cast<std::uint32_t>(tensor.dtype == "F32" ? place(i, 4) : place(i, 2) << 16));
    else if (tensor.dtype == "F16")
      numbers[i] = number_of_half(place(i, 2));
    else
      throw NotEstablished{fmt::format("a tensor of type {}, where F64, F32, F16 or BF16 is due", tensor.dtype)};
  return numbers;
}

template <class Real>
class Evaluated final : public RecheckedReader {
 public:
  /// `also`: a format that the runtimes of intervals may round to, besides fp32.
  Evaluated(const Operations& operations, const TensorFile& tensors, Precision also = Precision::kFp32)
      : operations_(operations),
        storage_(to_string(also)),
        coarse_(also == Precision::kBf16   ? kAlsoBf16
                : also == Precision::kFp16 ? kAlsoFp16
                                           : kNoCoarser),
        lists_(operations.list.size()),
        computed_(lists_.size(), nullptr),
        depends_(lists_.size()),
        offsets_(lists_.size()) {
    for (std::size_t i = 0; i < lists_.size(); ++i) prepare(i, tensors);
    const auto within = [&](const std::vector<std::uint32_t>& lists) {
      for (const std::uint32_t list : lists) require(list < lists_.size(), "no such list is remembered");
    };
    within(operations.start);
    within(operations.keep);
    require_as_long_as_memory(operations.start, "what is remembered at the start is not as long as the memory");
    require_as_long_as_memory(operations.keep, "what is kept is not as long as the memory");
    require(operations.logits < lists_.size(), "no such list of logits");
    List memory;
    for (const std::uint32_t list : operations.start) {
      require(depends_[list] == Depends::kNothing, "what is remembered at the start depends on letters");
      memory.insert(memory.end(), lists_[list].begin(), lists_[list].end());
    }
    start_.numbers = remembered(memory);
    for (const std::uint32_t token : operations.before) read_token(token, start_);
    if (!operations.after.empty()) start_.said = said_behind(start_);
  }

  Moment start() const override { return start_; }
  Moment step(const Moment& before, Letter letter) const override {
    Moment after = before;
    require(letter < operations_.tokens.size(), "a letter has no token");
    read_token(operations_.tokens[letter], after);
    if (!operations_.after.empty()) after.said = said_behind(after);
    return after;
  }
  std::optional<std::uint32_t> read(const Moment& moment) const override { return moment.said; }

 private:
  enum class Depends : std::uint8_t { kNothing, kToken, kMemory };
  using List = std::vector<Real>;
  using Place = std::pair<std::size_t, std::size_t>;  ///< a number: its list, and where
  static constexpr bool kEncloses = std::is_same_v<Real, Enclosed>;
  static constexpr std::size_t kMaxLeaves = 6, kSumsAtOnce = 8;

  /// One list, or of intervals two.
  static std::vector<RecheckedNumbers> remembered(const List& numbers) {
    std::vector<RecheckedNumbers> result(kEncloses ? 2 : 1);
    for (const Real& number : numbers)
      if constexpr (kEncloses) {
        const Enclosed computed = number.as_leaf();
        result[0].push_back(computed.lower());
        result[1].push_back(computed.upper());
      } else {
        result[0].push_back(static_cast<double>(number) + 0.0);  // no −0
      }
    return result;
  }
  static Real recalled(const std::vector<RecheckedNumbers>& memory, std::size_t i) {
    if constexpr (kEncloses)
      return Enclosed::leaf(memory[0][i], memory[1][i]);
    else
      return static_cast<Real>(memory[0][i]);
  }

  /// A number of the model or of the list.
  Real given(double number) const {
    if constexpr (kEncloses) {
      const double single = static_cast<float>(number);
      const auto [lower, upper] = std::minmax({single, storage_.store(single)});
      return Enclosed::leaf(lower, upper);
    } else {
      return static_cast<Real>(number);
    }
  }
  /// A number as it goes into a product of a sum.
  Enclosed factor(const Enclosed& number) const { return number.rounded_to(coarse_, 1).as_leaf(); }

  void require_as_long_as_memory(const std::vector<std::uint32_t>& lists, const char* otherwise) const {
    std::uint64_t size = 0;
    for (const std::uint32_t list : lists) size += lists_[list].size();
    require(size == size_, otherwise);
  }

  std::optional<std::uint32_t> said_behind(Moment moment) const {
    for (const std::uint32_t token : operations_.after) read_token(token, moment);
    return moment.said;
  }

  void require_finite(const List& list) const {
    if constexpr (kEncloses)
      for (const Enclosed& number : list) number.require_below(coarse_.greatest);
    else
      require(std::ranges::all_of(list, [](Real number) { return std::isfinite(double(number)); }), kNotFinite);
  }

  List& resized(std::size_t i, std::uint64_t size) {
    if (size > kMaxNumbers || (numbers_ += size) > kMaxNumbers)
      throw LimitError(fmt::format("list {}: more than {} numbers in all", i, kMaxNumbers));
    lists_[i].resize(size);
    return lists_[i];
  }

  /// Sizes and places are in order; what depends on nothing is computed.
  void prepare(std::size_t i, const TensorFile& tensors) {
    const Operation& operation = operations_.list[i];
    if (operation.what == "tensor") {
      const auto found = tensors.tensors.find(operation.tensor);
      require(found != tensors.tensors.end(), fmt::format("list {}: the model has no such tensor", i));
      const std::vector<double> numbers = numbers_of(found->second);
      std::ranges::transform(numbers, resized(i, numbers.size()).begin(), [&](double number) { return given(number); });
    } else if (operation.what == "numbers") {
      List& list = resized(i, operation.numbers.size() * std::uint64_t{operation.size});
      for (std::size_t at = 0; at < list.size(); ++at)
        list[at] = given(operation.numbers[at % operation.numbers.size()]);
    } else if (operation.what == "memory") {
      require(!has_memory_, "the memory is named twice");
      has_memory_ = true;
      size_ = resized(i, operation.size).size();
      depends_[i] = Depends::kMemory;
    } else if (operation.what == "row") {
      require(operation.of.at(0).list < i && depends_[operation.of[0].list] == Depends::kNothing,
              fmt::format("list {}: a row of no constant list", i));
      resized(i, operation.size);
      depends_[i] = Depends::kToken;
    } else {
      prepare_views(i);
      if constexpr (kEncloses) prepare_leaves(i);
      if (depends_[i] == Depends::kNothing) compute(i, lists_);
    }
    if (depends_[i] == Depends::kNothing) require_finite(lists_[i]);
  }

  void prepare_views(std::size_t i) {
    const Operation& operation = operations_.list[i];
    computed_[i] = std::ranges::find(kComputed<Real>, operation.what, &Computed<Real>::name);
    require(computed_[i] != std::end(kComputed<Real>), fmt::format("list {}: an unknown operation", i));
    const bool has_terms = computed_[i]->of == nullptr;
    const auto bad = [&](const char* what) { return fmt::format("list {}: {}", i, what); };
    const std::size_t views = operation.of.size();
    require(views == computed_[i]->views || (operation.what == "dot" && views == 3), bad("not made of so many lists"));
    std::uint64_t size = 1;
    for (const std::uint32_t extent : operation.shape) {
      size *= extent;
      if (size > kMaxNumbers) throw LimitError(bad("too many numbers"));
    }
    resized(i, size);
    if (size * std::max(1U, operation.terms) > kMaxProducts) throw LimitError(bad("too many products"));
    for (std::size_t v = 0; v < views; ++v) {
      const Operation::View& view = operation.of[v];
      const bool is_summed = has_terms && v < 2;
      require(view.list < i, bad("a list that does not come before it"));
      require(view.strides.size() == operation.shape.size() + (is_summed ? 1 : 0), bad("not a stride for each axis"));
      depends_[i] = std::max(depends_[i], depends_[view.list]);
      std::vector<std::uint64_t> offsets{view.first};
      for (std::size_t axis = 0; axis < operation.shape.size(); ++axis) {
        std::vector<std::uint64_t> longer;
        for (const std::uint64_t offset : offsets)
          for (std::uint32_t at = 0; at < operation.shape[axis]; ++at)
            longer.push_back(offset + std::uint64_t{at} * view.strides[axis]);
        offsets = std::move(longer);
      }
      const std::uint64_t along =
          is_summed && operation.terms > 0 ? std::uint64_t{operation.terms - 1} * view.strides.back() : 0;
      for (const std::uint64_t offset : offsets)
        require(offset + along < lists_[view.list].size(), bad("a number that the other list does not have"));
      offsets_[i].push_back(std::move(offsets));
    }
  }

  /// Sums of products side by side, each in its order: one does not wait for the next.
  template <std::size_t kCount, class From>
  void add_products(const Operation& operation, const From& from, std::size_t at, List& to) const {
    const Real *x[kCount], *y[kCount];
    Real sums[kCount];
    for (std::size_t k = 0; k < kCount; ++k) {
      x[k] = from(0, at + k);
      y[k] = from(1, at + k);
      sums[k] = operation.of.size() == 3 ? *from(2, at + k) : Real(0);
    }
    const std::size_t x_stride = operation.of[0].strides.back(), y_stride = operation.of[1].strides.back();
    for (std::size_t t = 0; t < operation.terms; ++t)
      for (std::size_t k = 0; k < kCount; ++k)
        if constexpr (kEncloses)
          sums[k] = sums[k] + factor(x[k][t * x_stride]) * factor(y[k][t * y_stride]);
        else
          sums[k] = sums[k] + x[k][t * x_stride] * y[k][t * y_stride];
    if constexpr (kEncloses)
      for (Real& sum : sums) sum = sum.rounded_to(coarse_, 2);
    std::copy_n(sums, kCount, to.begin() + static_cast<std::ptrdiff_t>(at));
  }

  /// List i from those before it.
  void compute(std::size_t i, std::vector<List>& lists) const {
    const Operation& operation = operations_.list[i];
    List& to = lists[i];
    const auto from = [&](std::size_t view, std::size_t at) {
      return lists[operation.of[view].list].data() + offsets_[i][view][at];
    };
    if (operation.what == "dot") {
      std::size_t at = 0;
      for (; at + kSumsAtOnce <= to.size(); at += kSumsAtOnce) add_products<kSumsAtOnce>(operation, from, at, to);
      for (; at < to.size(); ++at) add_products<1>(operation, from, at, to);
    } else {
      for (std::size_t at = 0; at < to.size(); ++at) {
        const Real* const x = from(0, at);
        if (computed_[i]->of != nullptr) {
          to[at] = computed_[i]->of(*x, operation.of.size() > 1 ? *from(1, at) : *x);
          if constexpr (kEncloses) {
            narrow(i, at, lists);
            if (operation.what != "copy") to[at] = to[at].rounded_to(coarse_, 1);
          }
        } else if constexpr (!kEncloses) {
          double sum = 0;
          for (std::size_t t = 0; t < operation.terms; ++t)
            sum += stated_power(std::abs(double(x[t * operation.of[0].strides.back()])), operation.numbers.at(0));
          to[at] = Real(stated_power(sum, 1 / operation.numbers.at(0)));
        }
      }
    }
    require_finite(to);
  }

  // ---- Of intervals: polynomials at their corners, and the lead of a logit

  bool is_given(std::size_t i) const { return computed_[i] == nullptr && operations_.list[i].what != "memory"; }
  bool is_polynomial(std::size_t i) const {
    constexpr std::string_view kNames[] = {"copy", "add", "subtract", "multiply"};
    return computed_[i] != nullptr && std::ranges::find(kNames, computed_[i]->name) != std::end(kNames);
  }
  Place operand(Place of, std::size_t view) const {
    return {operations_.list[of.first].of[view].list, offsets_[of.first][view][of.second]};
  }

  /// The leaves of a number, each as often as it occurs. False where there are too many, or one is in both factors of a
  /// product.
  bool gather(Place from, std::vector<Place>& leaves) const {
    if (is_given(from.first)) return true;
    if (!is_polynomial(from.first)) {
      leaves.push_back(from);
      return true;
    }
    const std::size_t before = leaves.size();
    if (!gather(operand(from, 0), leaves)) return false;
    const std::size_t between = leaves.size();
    if (computed_[from.first]->views == 2 && !gather(operand(from, 1), leaves)) return false;
    const auto at = [&](std::size_t i) { return leaves.begin() + static_cast<std::ptrdiff_t>(i); };
    if (std::string_view(computed_[from.first]->name) == "multiply" &&
        std::find_first_of(at(before), at(between), at(between), leaves.end()) != at(between))
      return false;
    return std::set(leaves.begin(), leaves.end()).size() <= kMaxLeaves;
  }

  void prepare_leaves(std::size_t i) {
    leaves_.resize(lists_.size());
    if (!is_polynomial(i)) return;
    leaves_[i].resize(lists_[i].size());
    for (std::size_t at = 0; at < lists_[i].size(); ++at) {
      std::vector<Place> all;
      if (!gather({i, at}, all)) continue;
      const std::set<Place> different(all.begin(), all.end());
      if (different.size() < all.size()) leaves_[i][at].assign(different.begin(), different.end());
    }
  }

  Enclosed at_corner(Place from, const std::vector<Place>& leaves, std::uint32_t corner,
                     const std::vector<List>& lists) const {
    const Real& own = lists[from.first][from.second];
    if (is_given(from.first)) return own;
    if (!is_polynomial(from.first)) {
      const auto leaf = std::ranges::find(leaves, from) - leaves.begin();
      const double end = (corner >> leaf & 1) != 0 ? own.upper() : own.lower();
      return Enclosed::leaf(end, end);
    }
    const auto part = [&](std::size_t view) { return at_corner(operand(from, view), leaves, corner, lists); };
    return computed_[from.first]->of(part(0), computed_[from.first]->views == 2 ? part(1) : Enclosed());
  }

  /// A number that is linear in each of its leaves is greatest and least where all of them are at their ends.
  void narrow(std::size_t i, std::size_t at, std::vector<List>& lists) const {
    if (!is_polynomial(i) || leaves_[i][at].empty()) return;
    const std::vector<Place>& leaves = leaves_[i][at];
    double lower = std::numeric_limits<double>::infinity(), upper = -lower;
    for (std::uint32_t corner = 0; corner < 1U << leaves.size(); ++corner) {
      const Enclosed there = at_corner({i, at}, leaves, corner, lists);
      lower = std::min(lower, there.lower());
      upper = std::max(upper, there.upper());
    }
    lists[i][at].narrow(lower, upper);
  }

  /// A bound from below of one logit over another: where both are sums of the same numbers with factors that are given,
  /// of the sum with the differences of the factors.
  double least_lead(std::size_t logit, std::size_t other) const {
    const std::size_t i = operations_.logits;
    const Enclosed &a = lists_[i][logit], &b = lists_[i][other];
    if (computed_[i] != nullptr && operations_.list[i].what == "dot")
      for (const std::size_t weights : {0, 1}) {
        const Operation::View &factors = operations_.list[i].of[weights],
                              &numbers = operations_.list[i].of[1 - weights];
        if (!is_given(factors.list) || offsets_[i][1 - weights][logit] != offsets_[i][1 - weights][other]) continue;
        Enclosed lead(0);
        if (operations_.list[i].of.size() == 3) {
          const List& from = lists_[operations_.list[i].of[2].list];
          lead = from[offsets_[i][2][logit]] - from[offsets_[i][2][other]];
        }
        for (std::size_t t = 0; t < operations_.list[i].terms; ++t) {
          const Real* const w = lists_[factors.list].data() + t * factors.strides.back();
          const Real& x = lists_[numbers.list][offsets_[i][1 - weights][logit] + t * numbers.strides.back()];
          lead = lead + (w[offsets_[i][weights][logit]] - w[offsets_[i][weights][other]]) * factor(x);
        }
        return Enclosed::down(lead.lower() - Enclosed::up(a.error() + b.error()));
      }
    return Enclosed::down(a.as_leaf().lower() - b.as_leaf().upper());
  }

  std::optional<std::uint32_t> answer() const {
    const List& logits = lists_[operations_.logits];
    if constexpr (kEncloses) {
      const auto leads = [&](std::uint32_t logit) {
        for (std::size_t other = 0; other < logits.size(); ++other)
          if (other != logit && !(least_lead(logit, other) > 0)) return false;
        return true;
      };
      for (std::uint32_t logit = 0; logit < logits.size(); ++logit)
        if (leads(logit)) return logit;
    } else if (const auto best = std::ranges::max_element(logits);
               best != logits.end() && std::ranges::count(logits, *best) == 1) {
      return static_cast<std::uint32_t>(best - logits.begin());
    }
    return std::nullopt;
  }

  /// The memory and the answer after one more token. Lists of the token alone are computed once.
  void read_token(std::uint32_t token, Moment& moment) const {
    auto [known, fresh] = of_token_.try_emplace(token);
    if (fresh) {
      for (std::size_t i = 0; i < lists_.size(); ++i) {
        if (depends_[i] != Depends::kToken) continue;
        if (computed_[i] == nullptr)
          look_up(i, token);
        else
          compute(i, lists_);
        known->second.push_back(lists_[i]);
      }
    } else {
      auto list = known->second.begin();
      for (std::size_t i = 0; i < lists_.size(); ++i)
        if (depends_[i] == Depends::kToken) lists_[i] = *list++;
    }
    for (const RecheckedNumbers& numbers : moment.numbers)
      require(numbers.size() == size_, "not as many numbers as are remembered");
    for (std::size_t i = 0; i < lists_.size(); ++i) {
      if (depends_[i] != Depends::kMemory) continue;
      if (computed_[i] == nullptr)
        for (std::size_t at = 0; at < size_; ++at) lists_[i][at] = recalled(moment.numbers, at);
      else
        compute(i, lists_);
    }
    List memory;
    for (const std::uint32_t list : operations_.keep)
      memory.insert(memory.end(), lists_[list].begin(), lists_[list].end());
    moment.numbers = remembered(memory);
    moment.said = answer();
  }

  void look_up(std::size_t i, std::uint32_t token) const {
    const List& all = lists_[operations_.list[i].of[0].list];
    const std::uint64_t size = lists_[i].size();
    require((std::uint64_t{token} + 1) * size <= all.size(), "a token has no row");
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(token * size), size, lists_[i].begin());
  }

  Operations operations_;
  DeterministicArithmetic storage_;
  CoarseFormat coarse_;
  mutable std::vector<List> lists_;              ///< those that depend on something are of the token read last
  std::vector<const Computed<Real>*> computed_;  ///< null: given, the memory or a row
  std::vector<Depends> depends_;
  std::vector<std::vector<std::vector<std::uint64_t>>> offsets_;  ///< by list and view
  std::vector<std::vector<std::vector<Place>>> leaves_;  ///< of intervals: by list and number, where one comes twice
  std::uint64_t numbers_ = 0, size_ = 0;                 ///< of all lists, and of the memory
  bool has_memory_ = false;
  Moment start_;
  mutable std::map<std::uint32_t, std::vector<List>> of_token_;  ///< lists of tokens alone
};

}  // namespace

std::unique_ptr<RecheckedReader> rechecked_operations(const Operations& operations, const TensorFile& tensors) {
  switch (operations.format) {
    case Precision::kFp64:
      return std::make_unique<Evaluated<double>>(operations, tensors);
    case Precision::kFp32:
      return std::make_unique<Evaluated<float>>(operations, tensors);
    case Precision::kBf16:
      return std::make_unique<Evaluated<Bf16>>(operations, tensors);
    default:
      throw NotEstablished{"operations are in fp64, fp32 or bf16"};
  }
}

std::unique_ptr<RecheckedReader> enclosed_operations(const Operations& operations, const TensorFile& tensors,
                                                     Precision also) {
  require(operations.format == Precision::kFp32, "intervals are of operations in fp32");
  return std::make_unique<Evaluated<Enclosed>>(operations, tensors, also);
}

}  // namespace krohn
