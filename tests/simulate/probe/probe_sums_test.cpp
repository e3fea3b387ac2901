// The probe's report on sums of a made-up machine: its digits, roundings, flushes and orders are known, and it
// computes with exact numbers, not with krohn's arithmetics.

#include <boost/multiprecision/cpp_int.hpp>

#include "krohn/simulate/arithmetic/arithmetic.h"
#include "krohn/simulate/probe/probe_sums.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

using Whole = boost::multiprecision::cpp_int;

/// whole · 2^exponent.
struct Exact {
  Whole whole = 0;
  int exponent = 0;
};

Exact operator*(const Exact& a, const Exact& b) { return {a.whole * b.whole, a.exponent + b.exponent}; }

Exact operator+(const Exact& a, const Exact& b) {
  const int least = std::min(a.exponent, b.exponent);
  return {(a.whole << (a.exponent - least)) + (b.whole << (b.exponent - least)), least};
}

Exact exact(double value) {
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return {static_cast<long long>(std::ldexp(mantissa, 53)), exponent - 53};
}

/// The exponent of the leading digit of a number that is not 0.
int leading(const Exact& value) { return static_cast<int>(msb(abs(value.whole))) + value.exponent; }

struct Machine {
  int factor_digits = 24, product_digits = 24, sum_digits = 24, result_digits = 24;
  int least_exponent = -126;
  bool fused = false, flushes_factors = false, flushes_results = false;
  RoundingSeen rounding = RoundingSeen::kNearestEven;
};

Exact rounded(const Exact& value, int digits, const Machine& machine, RoundingSeen rounding) {
  if (value.whole == 0) return {};
  const bool negative = value.whole < 0;
  const int exponent = leading(value);
  if (machine.flushes_results && exponent < machine.least_exponent) return {};
  const int unit = std::max(exponent, machine.least_exponent) - digits + 1, dropped = unit - value.exponent;
  if (dropped <= 0) return value;
  const Whole size = abs(value.whole), half = Whole(1) << (dropped - 1);
  Whole below = size >> dropped;
  const Whole rest = size - (below << dropped);
  bool up = false;
  switch (rounding) {
    case RoundingSeen::kNearestEven:
      up = rest > half || (rest == half && below % 2 == 1);
      break;
    case RoundingSeen::kNearestAway:
      up = rest >= half;
      break;
    case RoundingSeen::kUpward:
      up = rest > 0 && !negative;
      break;
    case RoundingSeen::kDownward:
      up = rest > 0 && negative;
      break;
    default:
      break;
  }
  if (up) ++below;
  if (negative) below = -below;
  return {below, unit};
}

Exact factor(double value, const Machine& machine) {
  const Exact given = exact(value);
  if (given.whole != 0 && machine.flushes_factors && leading(given) < machine.least_exponent) return {};
  Machine keeping = machine;
  keeping.flushes_results = false;
  return rounded(given, machine.factor_digits, keeping, RoundingSeen::kNearestEven);
}

double to_double_exactly(const Exact& value) { return std::ldexp(value.whole.convert_to<double>(), value.exponent); }

/// Sums in the order of a tree; more than two numbers at once are cut to the last place of the largest one first.
SumOfProducts on(const Machine& machine, const SummationTree& tree) {
  return [=](std::span<const double> left, std::span<const double> right) {
    std::vector<Exact> products, sums;
    for (std::size_t i = 0; i < left.size(); ++i)
      products.push_back(left[i] == 0 || right[i] == 0 ? Exact{}
                                                       : factor(left[i], machine) * factor(right[i], machine));
    const auto round_product = [&](const Exact& product) {
      return rounded(product, machine.product_digits, machine, machine.rounding);
    };
    for (const SummationTree::Node& node : tree.nodes) {
      std::vector<Exact> parts;
      bool has_sum = false;
      for (const std::uint32_t child : node.children) has_sum = has_sum || !tree.is_term(child);
      for (std::size_t at = 0; at < node.children.size(); ++at) {
        const std::uint32_t child = node.children[at];
        if (!tree.is_term(child))
          parts.push_back(sums[child - tree.terms]);
        else
          parts.push_back(machine.fused && (has_sum || at > 0) ? products[child] : round_product(products[child]));
      }
      if (parts.size() > 2) {
        int most = -100000;
        for (const Exact& part : parts)
          if (part.whole != 0) most = std::max(most, leading(part));
        Machine cut = machine;
        cut.least_exponent = most;  // every part has the unit of the largest
        cut.flushes_results = false;
        for (Exact& part : parts) part = rounded(part, machine.sum_digits, cut, RoundingSeen::kTowardZero);
      }
      Exact sum;
      for (const Exact& part : parts) sum = sum + part;
      sums.push_back(rounded(sum, machine.sum_digits, machine, machine.rounding));
    }
    return to_double_exactly(rounded(sums.back(), machine.result_digits, machine, machine.rounding));
  };
}

SummationTree sequential(std::uint32_t terms) {
  SummationTree tree{terms, {{{0, 1}}}};
  for (std::uint32_t term = 2; term < terms; ++term) tree.nodes.push_back({{terms + term - 2, term}});
  return tree;
}

/// A random tree: parts of up to `most` are joined until one is left. Children are in the order of their first terms,
/// nodes in the order in which summation_tree gives them.
SummationTree random_tree(std::uint32_t terms, std::uint32_t most, std::mt19937& random) {
  struct Part {
    std::vector<Part> children;
    std::uint32_t first;
  };
  std::vector<Part> parts;
  for (std::uint32_t term = 0; term < terms; ++term) parts.push_back({{}, term});
  while (parts.size() > 1) {
    const std::size_t count = std::min<std::size_t>(parts.size(), 2 + random() % (most - 1));
    Part joined{{}, terms};
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = random() % parts.size();
      joined.children.push_back(parts[at]);
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(at));
    }
    std::ranges::sort(joined.children, {}, &Part::first);
    joined.first = joined.children[0].first;
    parts.push_back(joined);
  }
  SummationTree tree{terms, {}};
  const auto add = [&](const auto& self, const Part& part) -> std::uint32_t {
    if (part.children.empty()) return part.first;
    SummationTree::Node node;
    for (const Part& child : part.children) node.children.push_back(self(self, child));
    tree.nodes.push_back(node);
    return terms + static_cast<std::uint32_t>(tree.nodes.size()) - 1;
  };
  add(add, parts[0]);
  return tree;
}

bool same(const SummationTree& a, const SummationTree& b) {
  return a.terms == b.terms &&
         std::ranges::equal(a.nodes, b.nodes, {}, &SummationTree::Node::children, &SummationTree::Node::children);
}

constexpr ProbeOptions kQuick{.terms = 8, .compare = 200, .seed = 1};

}  // namespace

TEST_CASE("digits and roundings of sums are found for every rounding and every number of digits") {
  for (const auto rounding : {RoundingSeen::kNearestEven, RoundingSeen::kNearestAway, RoundingSeen::kTowardZero,
                              RoundingSeen::kUpward, RoundingSeen::kDownward})
    for (int digits = 22; digits <= 27; ++digits) {
      CAPTURE(digits);
      CAPTURE(to_string(rounding));
      const Machine machine{.product_digits = digits, .sum_digits = digits, .rounding = rounding};
      const SumsSeen seen = probe_sums(Precision::kFp32, on(machine, sequential(8)), kQuick);
      CHECK(seen.sum_digits == digits);
      CHECK(seen.sum_rounding == rounding);
      CHECK(seen.result_digits == std::min(digits, 24));
      CHECK(seen.left_digits == std::min(digits, 24));
      REQUIRE(seen.order);
      CHECK(seen.order->is_sequential());
      const bool is_fp32 = digits == 24 && rounding == RoundingSeen::kNearestEven;
      CHECK(seen.arithmetic.has_value() == is_fp32);
      CHECK(claims_that_hold(seen).sequential.has_value() == is_fp32);
      // Sums that need no rounding are exact in 24 digits and in more, whatever the rounding.
      const auto any_order = claims_that_hold(seen).any_order;
      CHECK((std::ranges::find(any_order, Precision::kFp32) != any_order.end()) == (digits >= 24));
      CHECK(std::ranges::find(any_order, Precision::kBf16) != any_order.end());
    }
}

TEST_CASE("digits of products are found one digit on each side") {
  for (int digits = 12; digits <= 30; ++digits) {
    CAPTURE(digits);
    const SumsSeen seen =
        probe_sums(Precision::kFp32, on({.product_digits = digits, .sum_digits = 40}, sequential(8)), kQuick);
    CHECK(seen.product_digits == digits);
  }
  const SumsSeen fused = probe_sums(Precision::kFp32, on({.fused = true}, sequential(8)), kQuick);
  CHECK_FALSE(fused.product_digits);
  CHECK(fused.arithmetic == ArithmeticName::fused(Precision::kFp32));
}

TEST_CASE("digits of factors are found, and tf32 by name") {
  for (int digits = 8; digits <= 24; ++digits) {
    CAPTURE(digits);
    const SumsSeen seen = probe_sums(Precision::kFp32, on({.factor_digits = digits}, sequential(8)), kQuick);
    CHECK(seen.left_digits == digits);
    CHECK(seen.right_digits == digits);
    CHECK((seen.arithmetic == ArithmeticName::tf32()) == (digits == 11));
    const auto any_order = claims_that_hold(seen).any_order;
    CHECK(std::ranges::find(any_order, Precision::kBf16) != any_order.end());
    CHECK((std::ranges::find(any_order, Precision::kFp16) != any_order.end()) == (digits >= 11));
    CHECK((std::ranges::find(any_order, Precision::kFp32) != any_order.end()) == (digits == 24));
  }
}

TEST_CASE("a result in fewer digits than its sums, in the short formats, by name") {
  const Machine bf16_in_fp32{.factor_digits = 8, .result_digits = 8};
  const SumsSeen seen = probe_sums(Precision::kBf16, on(bf16_in_fp32, sequential(8)), kQuick);
  CHECK(seen.sum_digits == 24);
  CHECK(seen.result_digits == 8);
  CHECK(seen.result_rounding == RoundingSeen::kNearestEven);
  CHECK(seen.arithmetic == ArithmeticName::accumulated_in_fp32(Precision::kBf16));
  const Machine bf16{.factor_digits = 8, .product_digits = 8, .sum_digits = 8, .result_digits = 8};
  CHECK(probe_sums(Precision::kBf16, on(bf16, sequential(8)), kQuick).arithmetic == ArithmeticName(Precision::kBf16));
}

TEST_CASE("flushes to zero are seen, and take claims in any order away") {
  for (const bool factors : {false, true})
    for (const bool results : {false, true}) {
      const Machine machine{.flushes_factors = factors, .flushes_results = results};
      const SumsSeen seen = probe_sums(Precision::kFp32, on(machine, sequential(8)), kQuick);
      CHECK(seen.keeps_subnormal_factors == !factors);
      CHECK(seen.keeps_subnormal_products == !results);
      CHECK(seen.keeps_subnormal_sums == !results);
      CHECK(seen.arithmetic.has_value() == !(factors || results));
      const auto any_order = claims_that_hold(seen).any_order;
      CHECK((std::ranges::find(any_order, Precision::kFp32) != any_order.end()) == !(factors || results));
      CHECK(std::ranges::find(any_order, Precision::kFp16) != any_order.end());  // all of them normal in fp32
      const auto normal = claims_that_hold(seen).any_order_normal;
      CHECK((std::ranges::find(normal, Precision::kFp32) != normal.end()) == (factors || results));
    }
}

TEST_CASE("every order is found: random trees of two, and of several numbers at once") {
  std::mt19937 random(1);
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    const std::uint32_t most = round % 2 == 0 ? 2 : 2 + round % 7;
    const SummationTree tree = random_tree(8 + round % 9, most, random);
    const bool is_fused = round % 3 == 0;
    const SumsSeen seen =
        probe_sums(Precision::kFp32, on({.fused = is_fused}, tree), {.terms = tree.terms, .compare = 100, .seed = 1});
    REQUIRE(seen.order);
    CHECK(same(*seen.order, tree));
    if (tree.is_binary()) CHECK(seen.arithmetic.has_value());
    if (!tree.is_binary()) CHECK_FALSE(seen.arithmetic);
  }
}

TEST_CASE("exact sums have no order") {
  const SumOfProducts exactly = [](auto left, auto right) {
    Exact sum;
    for (std::size_t i = 0; i < left.size(); ++i) sum = sum + exact(left[i]) * exact(right[i]);
    return static_cast<double>(to_double_exactly(rounded(sum, 24, {}, RoundingSeen::kNearestEven)));
  };
  const SumsSeen seen = probe_sums(Precision::kFp32, exactly, kQuick);
  CHECK_FALSE(seen.order);
  CHECK_FALSE(seen.sum_digits);
  CHECK_FALSE(seen.arithmetic);
  CHECK(claims_that_hold(seen).any_order.size() == 3);  // fp32 and the two that are part of it
}

TEST_CASE("krohn's own arithmetics are found by their names, in several orders") {
  std::mt19937 random(2);
  for (const ArithmeticName arithmetic : ArithmeticName::all())
    for (int round = 0; round < 4; ++round) {
      CAPTURE(to_string(arithmetic));
      const SummationTree tree = round == 0 ? sequential(16) : random_tree(16, 2, random);
      const SumsSeen seen = probe_sums(
          arithmetic.storage(),
          [&](auto left, auto right) {
            return stated_sum(arithmetic, tree, {{left.begin(), left.end()}, {right.begin(), right.end()}}, false);
          },
          {.terms = 16, .compare = 300, .seed = 3});
      REQUIRE(seen.order);
      CHECK(same(*seen.order, tree));
      CHECK(seen.arithmetic == arithmetic);
      CHECK(seen.keeps_subnormal_sums);
      const auto any_order = claims_that_hold(seen).any_order;
      CHECK((std::ranges::find(any_order, arithmetic.storage()) != any_order.end()) ==
            (arithmetic != ArithmeticName::tf32()));
    }
}

TEST_CASE("the processor's loops have the arithmetic that krohn states") {
  for (const Summer& summer : processor_summers()) {
    if (summer.format == Precision::kBf16) continue;  // what that instruction does is the processor's affair
    CAPTURE(summer.name);
    const SumsSeen seen = probe_sums(summer.format, summer.sum);
    REQUIRE(seen.order);
    CHECK(seen.order->is_sequential());
    const bool is_fused = summer.name.starts_with("fused");
    CHECK(seen.arithmetic == (is_fused ? ArithmeticName::fused(summer.format) : ArithmeticName(summer.format)));
  }
}

TEST_CASE("orders in words") {
  CHECK(to_string(sequential(8)) == "one after the other");
  const auto found = [](std::uint32_t terms, const TermsBelow& below) {
    const auto tree = summation_tree(terms, below);
    return tree ? to_string(*tree) : "none";
  };
  CHECK(found(8, [](auto i, auto j) { return 8 - std::min(i, j); }) ==
        "one after the other, from the last to the first");
  CHECK(found(8, [](auto i, auto j) { return (i ^ j) == 1 ? 2U : (i ^ j) < 4 ? 4U : 8U; }) == "pairwise");
  CHECK(found(8, [](auto, auto) { return 8U; }) == "all at once");
  CHECK(found(8, [](auto i, auto j) { return i % 2 == j % 2 ? std::max(i, j) / 2 + 1 : 8U; }) ==
        "in 2 lanes, then the lanes' sums");
  CHECK(found(4, [](auto, auto) { return 2U; }) == "none");
}

TEST_CASE("bad requests are refused") {
  const SumOfProducts zero = [](auto, auto) { return 0.0; };
  CHECK_THROWS_AS(probe_sums(Precision::kFp32, zero, {.terms = 7}), InputError);
  CHECK_THROWS_AS(probe_sums(Precision::kFp32, zero, {.terms = 257}), InputError);
  CHECK_THROWS_AS(probe_sums(Precision::kFp32, [](auto, auto) { return std::nan(""); }), InputError);
  const SumsSeen seen = probe_sums(Precision::kFp32, zero, kQuick);  // nothing at all holds of it, and it ends
  CHECK_FALSE(seen.order);
  CHECK(claims_that_hold(seen).any_order.empty());
}
