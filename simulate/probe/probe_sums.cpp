#include "krohn/simulate/probe/probe_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "krohn/groups/base/error.h"
#include "krohn/simulate/arithmetic/arithmetic.h"
#include "krohn/simulate/arithmetic/rounded_operations.h"

namespace krohn {
namespace {

class Builder {
 public:
  Builder(std::uint32_t terms, const TermsBelow& below) : below_(below) { tree_.terms = terms; }

  /// The number of the subtree of these terms, in rising order; nothing where they have none.
  std::optional<std::uint32_t> build(const std::vector<std::uint32_t>& terms) {
    std::uint32_t branch = terms[0], size = 1;
    std::map<std::uint32_t, std::vector<std::uint32_t>> meeting;  // by the size of the node where they meet the first
    for (std::size_t i = 1; i < terms.size(); ++i) meeting[below_(terms[0], terms[i])].push_back(terms[i]);
    for (const auto& [total, group] : meeting) {
      if (total != size + group.size()) return std::nullopt;
      SummationTree::Node node{{branch}};
      for (const std::vector<std::uint32_t>& part : parts(group, total)) {
        const auto child = build(part);
        if (!child) return std::nullopt;
        node.children.push_back(*child);
      }
      tree_.nodes.push_back(std::move(node));
      branch = tree_.terms + static_cast<std::uint32_t>(tree_.nodes.size()) - 1;
      size = total;
    }
    return branch;
  }

  SummationTree take() { return std::move(tree_); }

 private:
  /// The terms that meet the first term's path in one node: terms that meet below it belong to one child.
  std::vector<std::vector<std::uint32_t>> parts(const std::vector<std::uint32_t>& group, std::uint32_t total) const {
    std::vector<std::vector<std::uint32_t>> parts;
    for (const std::uint32_t term : group) {
      const auto home =
          std::find_if(parts.begin(), parts.end(), [&](const auto& part) { return below_(part[0], term) < total; });
      if (home == parts.end())
        parts.push_back({term});
      else
        home->push_back(term);
    }
    return parts;
  }

  const TermsBelow& below_;
  SummationTree tree_;
};

/// The terms below each node, in rising order.
std::vector<std::vector<std::uint32_t>> leaves_below(const SummationTree& tree) {
  std::vector<std::vector<std::uint32_t>> leaves;
  for (const SummationTree::Node& node : tree.nodes) {
    std::vector<std::uint32_t> all;
    for (const std::uint32_t child : node.children) {
      if (tree.is_term(child))
        all.push_back(child);
      else
        all.insert(all.end(), leaves[child - tree.terms].begin(), leaves[child - tree.terms].end());
    }
    std::ranges::sort(all);
    leaves.push_back(std::move(all));
  }
  return leaves;
}

/// True if below this node one term after the other, from the first to the last or the other way, joins the sum.
bool is_chain(const SummationTree& tree, std::uint32_t number, bool from_last) {
  std::vector<std::uint32_t> joined;
  while (!tree.is_term(number)) {
    const auto& children = tree.node(number).children;
    if (children.size() != 2) return false;
    const bool first_is_sum = !tree.is_term(children[0]), second_is_sum = !tree.is_term(children[1]);
    if (first_is_sum && second_is_sum) return false;
    if (!first_is_sum && !second_is_sum) {
      joined.push_back(children[from_last ? 0 : 1]);
      number = children[from_last ? 1 : 0];
    } else {
      joined.push_back(children[first_is_sum ? 1 : 0]);
      number = children[first_is_sum ? 0 : 1];
    }
  }
  joined.push_back(number);
  return from_last ? std::ranges::is_sorted(joined) : std::ranges::is_sorted(joined, std::greater{});
}

bool is_pairwise(const SummationTree& tree, const std::vector<std::vector<std::uint32_t>>& leaves) {
  const auto size = [&](std::uint32_t number) { return tree.is_term(number) ? 1 : leaves[number - tree.terms].size(); };
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const auto& children = tree.nodes[i].children;
    if (children.size() != 2 || size(children[0]) != size(children[1])) return false;
    if (leaves[i].back() - leaves[i].front() + 1 != leaves[i].size()) return false;
  }
  return true;
}

/// The number of lanes that take every k-th term, each one after the other; 0 where there are none.
std::uint32_t lanes_of(const SummationTree& tree, const std::vector<std::vector<std::uint32_t>>& leaves) {
  for (std::uint32_t lanes = tree.terms / 2; lanes > 1; --lanes) {
    if (tree.terms % lanes != 0) continue;
    std::uint32_t found = 0;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      bool is_lane = leaves[i].size() == tree.terms / lanes;
      for (std::size_t j = 1; is_lane && j < leaves[i].size(); ++j) is_lane = leaves[i][j] - leaves[i][j - 1] == lanes;
      found += is_lane && is_chain(tree, tree.terms + static_cast<std::uint32_t>(i), false) ? 1 : 0;
    }
    if (found == lanes) return lanes;
  }
  return 0;
}

std::string parentheses(const SummationTree& tree, std::uint32_t number) {
  if (tree.is_term(number)) return std::to_string(number);
  std::string text = "(";
  for (const std::uint32_t child : tree.node(number).children)
    text += (text.size() > 1 ? " " : "") + parentheses(tree, child);
  return text + ")";
}

}  // namespace

bool SummationTree::is_binary() const {
  return std::ranges::all_of(nodes, [](const Node& node) { return node.children.size() == 2; });
}

bool SummationTree::is_sequential() const {
  return is_chain(*this, terms + static_cast<std::uint32_t>(nodes.size()) - 1, false);
}

std::string to_string(const SummationTree& tree) {
  const std::uint32_t root = tree.terms + static_cast<std::uint32_t>(tree.nodes.size()) - 1;
  const auto leaves = leaves_below(tree);
  if (tree.is_sequential()) return "one after the other";
  if (is_chain(tree, root, true)) return "one after the other, from the last to the first";
  std::size_t most = 0;
  for (const auto& node : tree.nodes) most = std::max(most, node.children.size());
  if (tree.nodes.size() == 1) return "all at once";
  if (most > 2) return "up to " + std::to_string(most) + " numbers at once";
  if (is_pairwise(tree, leaves)) return "pairwise";
  if (const std::uint32_t lanes = lanes_of(tree, leaves))
    return "in " + std::to_string(lanes) + " lanes, then the lanes' sums";
  constexpr std::uint32_t kShort = 16;
  return tree.terms <= kShort ? parentheses(tree, root) : "in another order";
}

std::optional<SummationTree> summation_tree(std::uint32_t terms, const TermsBelow& below) {
  std::vector<std::uint32_t> all(terms);
  std::iota(all.begin(), all.end(), 0);
  Builder builder(terms, below);
  if (!builder.build(all)) return std::nullopt;
  return builder.take();
}

namespace {

/// Uniform in [first, last], the same on every machine.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  std::int64_t between(std::int64_t first, std::int64_t last) {
    return first + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(last - first + 1));
  }
  bool coin() { return engine_() % 2 == 0; }
  std::uint64_t bits() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

class Fold {
 public:
  Fold(ArithmeticName arithmetic, const SummationTree& order, const Factors& factors, bool last_first)
      : in_(arithmetic), order_(order), factors_(factors), last_first_(last_first) {}

  double sum() {
    for (const SummationTree::Node& node : order_.nodes) sums_.push_back(added(node.children[0], node.children[1]));
    return in_.store(sums_.back());
  }

 private:
  double left(std::uint32_t term) const { return factors_.left[term]; }
  double right(std::uint32_t term) const { return factors_.right[term]; }

  double added(std::uint32_t first, std::uint32_t second) const {
    if (order_.is_term(first) && order_.is_term(second)) {
      if (last_first_) std::swap(first, second);
      return in_.add_product(in_.product(left(first), right(first)), left(second), right(second));
    }
    if (order_.is_term(first)) std::swap(first, second);
    const double sum = sums_[first - order_.terms];
    return order_.is_term(second) ? in_.add_product(sum, left(second), right(second))
                                  : in_.add(sum, sums_[second - order_.terms]);
  }

  const RoundedOperations in_;
  const SummationTree& order_;
  const Factors& factors_;
  bool last_first_;
  std::vector<double> sums_;
};

template <class A>
double random_number(Dice& dice, int digits, int exponent) {
  const std::uint64_t mantissa = (std::uint64_t{1} << (digits - 1)) |
                                 (dice.bits() >> 1 >> (64 - digits) & ((std::uint64_t{1} << (digits - 1)) - 1));
  const double value = std::ldexp(static_cast<double>(mantissa), exponent - digits + 1);
  return to_double(round_weight<A>(dice.coin() ? value : -value));
}

template <class A>
Factors rounding_sum(Dice& dice, std::uint32_t terms) {
  Factors factors;
  const int digits = static_cast<int>(dice.between(1, A::digits));
  const int spread = dice.coin() ? 0 : static_cast<int>(dice.between(1, 3));
  // In some the products, or their sums, are subnormal; in some the factors on one side.
  const std::int64_t kind = dice.between(0, 7);
  const int depth = A::least_exponent - A::digits / 2;
  const int left = kind == 0 ? depth / 2 : kind == 1 ? depth : kind == 2 ? -depth : 0;
  const int right = kind == 0 ? depth / 2 : kind == 1 ? -depth : kind == 2 ? depth : 0;
  const std::int64_t density = dice.between(1, 4);
  for (std::uint32_t term = 0; term < terms; ++term) {
    const bool is_zero = dice.between(1, 4) > density;
    const auto number = [&](int centre) {
      const int exponent = centre + static_cast<int>(dice.between(-spread, spread));
      return is_zero ? 0.0 : random_number<A>(dice, digits, std::min(exponent, A::greatest_exponent));
    };
    factors.left.push_back(number(left));
    factors.right.push_back(number(right));
  }
  if (dice.coin()) {  // what comes late undoes what came early, and leaves what was lost or kept
    const auto from = static_cast<std::uint32_t>(dice.between(0, terms / 2 - 1));
    const auto to = static_cast<std::uint32_t>(dice.between(terms / 2, terms - 1));
    factors.left[to] = -factors.left[from];
    factors.right[to] = factors.right[from];
  }
  return factors;
}

/// value · 2^exponent where that is a number of the format; nothing where it has too many digits or is too small.
template <class A>
std::optional<double> scaled(std::int64_t value, int exponent) {
  const double number = std::ldexp(static_cast<double>(value), exponent);
  const bool is_whole = std::ldexp(number, -exponent) == static_cast<double>(value);
  return is_whole && to_double(round_weight<A>(number)) == number ? std::optional(number) : std::nullopt;
}

template <class A>
ExactSum exact_sum(Dice& dice, std::uint32_t terms, bool normal) {
  ExactSum exact{{std::vector<double>(terms), std::vector<double>(terms)}};
  // The grain lies anywhere that the format allows, often at its ends; the left factors have a part of it.
  const int least = normal ? A::least_exponent : A::least_exponent - A::digits + 1,
            most = A::greatest_exponent - A::digits;
  const std::int64_t place = dice.between(0, 9);
  const auto grain = static_cast<int>(place == 0 ? least : place == 1 ? most : dice.between(least, most));
  const auto shift = static_cast<int>(std::max<std::int64_t>(dice.between(-3, 3), grain - most));
  std::int64_t left_over = std::int64_t{1} << A::digits, sum = 0;
  for (std::uint32_t term = 0; term < terms && left_over > 0; ++term) {
    // Up to all that is left over, or 1 less; one factor is 1, so that the other has all digits, or both are long.
    const std::int64_t share = std::max<std::int64_t>(1, left_over >> (dice.coin() ? dice.between(0, A::digits) : 0));
    const std::int64_t value = dice.coin() ? std::max<std::int64_t>(1, share - 1) : dice.between(1, share);
    const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(value)));
    std::int64_t a = dice.coin() ? 1 : dice.between(1, root), b = value / a;
    if (dice.coin()) std::swap(a, b);
    const bool is_negative = dice.coin();
    const auto left = scaled<A>(is_negative ? -a : a, shift), right = scaled<A>(b, grain - shift);
    if (!left || !right) continue;
    if (normal && std::fabs(*right) < std::ldexp(1.0, A::least_exponent)) continue;
    exact.factors.left[term] = *left;
    exact.factors.right[term] = *right;
    left_over -= a * b;
    sum += is_negative ? -a * b : a * b;
  }
  exact.sum = std::ldexp(static_cast<double>(sum), grain);
  return exact;
}

}  // namespace

double stated_sum(ArithmeticName arithmetic, const SummationTree& order, const Factors& factors, bool last_first) {
  return Fold(arithmetic, order, factors, last_first).sum();
}

std::vector<Factors> rounding_sums(Precision format, std::uint32_t terms, std::uint64_t count, std::uint64_t seed) {
  Dice dice(seed);
  std::vector<Factors> sums;
  with_format(format, [&](auto a) {
    while (sums.size() < count) sums.push_back(rounding_sum<decltype(a)>(dice, terms));
  });
  return sums;
}

std::vector<ExactSum> exact_sums(Precision format, std::uint32_t terms, std::uint64_t count, std::uint64_t seed,
                                 bool normal) {
  Dice dice(seed);
  std::vector<ExactSum> sums;
  with_format(format, [&](auto a) {
    while (sums.size() < count) sums.push_back(exact_sum<decltype(a)>(dice, terms, normal));
  });
  return sums;
}

namespace {

struct FormatFacts {
  int digits, least_exponent, greatest_exponent;
};

FormatFacts facts_of(Precision format) {
  return with_format(format, [](auto a) {
    using A = decltype(a);
    return FormatFacts{A::digits, A::least_exponent, A::greatest_exponent};
  });
}

/// A term is left · right at a position of the sum; all others are 0.
struct Term {
  std::uint32_t position;
  double left, right;
};

/// value · 2^exponent, the value in the left factor.
Term term_of(std::uint32_t position, double value, int exponent) {
  const int half = exponent / 2;
  return {position, std::ldexp(value, half), std::ldexp(1.0, exponent - half)};
}

class Prober {
 public:
  Prober(Precision format, const SumOfProducts& sum, const ProbeOptions& options, const std::fenv_t& environment)
      : facts_(facts_of(format)), sum_(sum), options_(options), environment_(environment), terms_(options.terms) {
    seen_.format = format;
    seen_.terms = terms_;
    // A summand beside 2^high lies `range` binary places below it at most, and neither is subnormal.
    high_ = facts_.greatest_exponent < 64 ? facts_.greatest_exponent - 1 : facts_.greatest_exponent / 5 * 4;
    range_ = std::min(high_ - facts_.least_exponent, 2 * 53 + 8);
  }

  SumsSeen probe() {
    find_order();
    find_path();
    find_factor_digits();
    find_sum_digits();
    find_product_digits();
    find_result_digits();
    find_roundings();
    find_subnormals();
    match();
    try_exact_sums();
    return std::move(seen_);
  }

 private:
  double ask(const Factors& factors) const {
    std::fenv_t own;
    std::fegetenv(&own);
    std::fesetenv(&environment_);
    const double sum = sum_(factors.left, factors.right);
    std::fesetenv(&own);
    return sum == 0 ? 0.0 : sum;  // −0 counts as +0, as everywhere
  }
  double ask(std::initializer_list<Term> terms) const {
    Factors factors{std::vector<double>(terms_), std::vector<double>(terms_)};
    for (const Term& term : terms) {
      factors.left[term.position] = term.left;
      factors.right[term.position] = term.right;
    }
    const double sum = ask(factors);
    if (!std::isfinite(sum))
      throw InputError(
          fmt::format("a sum of {} products of {} numbers that fit the format came out as {}; is the format "
                      "the one that is computed in?",
                      terms_, to_string(seen_.format), sum));
    return sum;
  }

  /// The terms below the node where i and j meet: 2^high at i and −2^high at j swallow every unit that joins them.
  /// Positive units are swallowed but by sums that are rounded upward, and negative ones but by downward.
  std::uint32_t below(std::uint32_t i, std::uint32_t j) const {
    for (const double sign : {1.0, -1.0}) {
      // Beside a sum in a wider format the range of a short one does not suffice; its products' does.
      const int mask = wide_products_ ? 2 * high_ : high_;
      Factors factors{std::vector<double>(terms_), std::vector<double>(terms_)};
      for (std::uint32_t term = 0; term < terms_; ++term) {
        const Term set = term == i   ? term_of(term, 1, mask)
                         : term == j ? term_of(term, -1, mask)
                                     : term_of(term, sign, unit_exponent());
        factors.left[term] = set.left;
        factors.right[term] = set.right;
      }
      const double left = sign * std::ldexp(ask(factors), -unit_exponent());
      if (left >= 0 && left <= terms_ - 2 && left == std::floor(left)) return terms_ - static_cast<std::uint32_t>(left);
    }
    return 0;
  }

  int unit_exponent() const { return facts_.greatest_exponent < 64 ? facts_.least_exponent : 0; }

  bool counts_units() const {
    const Term unit = term_of(0, 1, unit_exponent());
    const double all = ask({std::vector<double>(terms_, unit.left), std::vector<double>(terms_, unit.right)});
    return std::ldexp(all, -unit_exponent()) == terms_;
  }

  void find_order() {
    if (!counts_units()) return;
    wide_products_ = facts_.greatest_exponent < 64 && std::isfinite(ask(two_masks()));
    const auto order = summation_tree(terms_, [&](std::uint32_t i, std::uint32_t j) {
      const auto [at, is_new] = below_.try_emplace({i, j}, 0);
      if (is_new) at->second = below(i, j);
      return at->second;
    });
    if (order && order->terms > 2) seen_.order = order;
  }

  Factors two_masks() const {
    Factors factors{std::vector<double>(terms_), std::vector<double>(terms_)};
    for (const std::uint32_t term : {0U, 1U}) {
      const Term set = term_of(term, term == 0 ? 1 : -1, 2 * high_);
      factors.left[term] = set.left;
      factors.right[term] = set.right;
    }
    return factors;
  }

  /// Positions that join the sum one after the other: the first two meet lowest.
  void find_path() {
    path_ = {0, 1, 2, 3};
    if (!seen_.order) return;
    const auto terms = static_cast<std::uint32_t>(terms_);
    std::size_t longest = 0;
    for (std::uint32_t i = 0; i < terms; ++i) {
      std::map<std::uint32_t, std::uint32_t> meeting;  // by the size of the node, one term that meets i there
      for (std::uint32_t j = 0; j < terms; ++j)
        if (j != i) meeting.try_emplace(size_where_they_meet(i, j), j);
      if (meeting.size() <= longest) continue;
      longest = meeting.size();
      path_[0] = i;
      auto next = meeting.begin();
      for (std::size_t at = 1; at < path_.size(); ++at) {
        path_[at] = next->second;
        if (std::next(next) != meeting.end()) ++next;
      }
    }
    is_path_whole_ = longest >= 3;
  }

  std::uint32_t size_where_they_meet(std::uint32_t i, std::uint32_t j) const {
    const SummationTree& tree = *seen_.order;
    std::vector<std::uint32_t> sizes(tree.nodes.size());
    std::vector<char> has_i(tree.nodes.size()), has_j(tree.nodes.size());
    for (std::size_t node = 0; node < tree.nodes.size(); ++node) {
      for (const std::uint32_t child : tree.nodes[node].children) {
        const bool is_term = tree.is_term(child);
        sizes[node] += is_term ? 1 : sizes[child - terms_];
        has_i[node] |= static_cast<char>(is_term ? child == i : has_i[child - terms_]);
        has_j[node] |= static_cast<char>(is_term ? child == j : has_j[child - terms_]);
      }
      if (has_i[node] && has_j[node]) return sizes[node];
    }
    return 0;
  }

  /// 1 + 2^−bits, scaled, is in one factor of a term; what is left when 1 is taken away.
  bool keeps_factor(int bits, bool right) const {
    Term one = term_of(path_[0], 1 + std::ldexp(1.0, -bits), high_);
    if (right) std::swap(one.left, one.right);
    return ask({one, term_of(path_[1], -1, high_)}) == std::ldexp(1.0, high_ - bits);
  }

  void find_factor_digits() {
    for (const bool right : {false, true}) {
      int& digits = right ? seen_.right_digits : seen_.left_digits;
      digits = 1;
      while (digits < facts_.digits && keeps_factor(digits, right)) ++digits;
    }
  }

  void find_sum_digits() {
    for (int bits = 1; bits <= range_; ++bits) {
      if (ask({term_of(path_[0], 1, high_), term_of(path_[1], 1, high_ - bits), term_of(path_[2], -1, high_)}) ==
          std::ldexp(1.0, high_ - bits))
        continue;
      seen_.sum_digits = bits;
      return;
    }
  }

  /// (1 + 2^−a)(1 + 2^−b) has a + b + 1 digits; the first three terms of the product are taken away before, or after.
  bool keeps_product(int a, int b) const {
    Term product = term_of(path_[0], 1 + std::ldexp(1.0, -a), high_);
    product.right *= 1 + std::ldexp(1.0, -b);
    const double left = std::ldexp(1.0, high_ - a - b);
    const auto is_kept = [&](std::uint32_t at, std::uint32_t other) {
      product.position = at;
      const Term rest = term_of(other, -(1 + std::ldexp(1.0, -a) + std::ldexp(1.0, -b)), high_);
      return ask({product, rest}) == left;
    };
    return is_kept(path_[0], path_[1]) || is_kept(path_[1], path_[0]);
  }

  void find_product_digits() {
    const int most = std::min(seen_.left_digits, seen_.right_digits) - 1;
    for (int sum = 2; sum <= 2 * most; ++sum) {
      if (keeps_product(sum / 2, sum - sum / 2)) continue;
      seen_.product_digits = sum;
      return;
    }
  }

  void find_result_digits() {
    seen_.result_digits = 1;
    while (seen_.result_digits < facts_.digits &&
           ask({term_of(path_[0], 1, high_), term_of(path_[1], 1, high_ - seen_.result_digits)}) ==
               std::ldexp(1.0, high_) + std::ldexp(1.0, high_ - seen_.result_digits))
      ++seen_.result_digits;
  }

  /// Where sum + part · unit is rounded to, in units, the sum being 1 and `odd` units; `leave` gives the sum that is
  /// given back, or is left when 1 is taken away again.
  std::optional<RoundingSeen> rounding(int digits, bool leave_result) const {
    const int unit = high_ - digits + 1;
    if (unit - 2 < facts_.least_exponent) return std::nullopt;
    const auto rounded = [&](double sign, int odd, double part) {
      const Term one = term_of(path_[0], sign, high_), units = term_of(path_[1], sign * odd, unit);
      const Term more = term_of(path_[2], sign * part * 4, unit - 2);
      const double sum = leave_result ? ask({one, units, more}) - sign * std::ldexp(1.0, high_)
                                      : ask({one, units, more, term_of(path_[3], -sign, high_)});
      return sign * std::ldexp(sum, -unit);
    };
    // In units, of a positive and of a negative sum: a quarter, half of an even one, half of an odd one, three
    // quarters.
    struct Pattern {
      RoundingSeen rounding;
      std::array<double, 4> positive, negative;
    };
    static constexpr std::array<Pattern, 5> patterns{{{RoundingSeen::kNearestEven, {0, 0, 2, 1}, {0, 0, 2, 1}},
                                                      {RoundingSeen::kNearestAway, {0, 1, 2, 1}, {0, 1, 2, 1}},
                                                      {RoundingSeen::kTowardZero, {0, 0, 1, 0}, {0, 0, 1, 0}},
                                                      {RoundingSeen::kUpward, {1, 1, 2, 1}, {0, 0, 1, 0}},
                                                      {RoundingSeen::kDownward, {0, 0, 1, 0}, {1, 1, 2, 1}}}};
    const auto answers = [&](double sign) {
      return std::array<double, 4>{rounded(sign, 0, 0.25), rounded(sign, 0, 0.5), rounded(sign, 1, 0.5),
                                   rounded(sign, 0, 0.75)};
    };
    const auto positive = answers(1), negative = answers(-1);
    for (const Pattern& pattern : patterns)
      if (pattern.positive == positive && pattern.negative == negative) return pattern.rounding;
    return RoundingSeen::kNoneOfThese;
  }

  void find_roundings() {
    const bool is_stored_shorter = !seen_.sum_digits || seen_.result_digits < *seen_.sum_digits;
    if (seen_.sum_digits && is_path_whole_) seen_.sum_rounding = rounding(*seen_.sum_digits, false);
    if (is_stored_shorter) seen_.result_rounding = rounding(seen_.result_digits, true);
  }

  void find_subnormals() {
    const double least = std::ldexp(1.0, facts_.least_exponent), half = least / 2;
    const std::uint32_t at = path_[0];
    seen_.keeps_subnormal_factors = ask({{at, half, 8}}) == 8 * half && ask({{at, 8, half}}) == 8 * half;
    seen_.keeps_subnormal_products = ask({{at, least, 0.5}}) == half;
    seen_.keeps_subnormal_sums = ask({{at, least, 1.5}, {path_[1], -least, 1}}) == half;
  }

  void match() {
    if (!seen_.order || !seen_.order->is_binary()) return;
    const auto sums = rounding_sums(seen_.format, terms_, options_.compare, options_.seed);
    std::vector<double> answers;
    for (const Factors& factors : sums) answers.push_back(ask(factors));
    seen_.compared = sums.size();
    const auto agrees = [&](ArithmeticName arithmetic, bool last_first) {
      for (std::size_t i = 0; i < sums.size(); ++i) {
        const double stated = stated_sum(arithmetic, *seen_.order, sums[i], last_first);
        if (!(stated == answers[i] || (std::isnan(stated) && std::isnan(answers[i])))) return false;
      }
      return true;
    };
    for (const ArithmeticName arithmetic : ArithmeticName::all())
      for (const bool last_first : {false, true})
        if (!seen_.arithmetic && arithmetic.storage() == seen_.format && agrees(arithmetic, last_first))
          seen_.arithmetic = arithmetic;
  }

  void try_exact_sums() {
    seen_.exact_compared = options_.compare;
    for (const Precision format : {Precision::kFp64, Precision::kFp32, Precision::kFp16, Precision::kBf16}) {
      const FormatFacts part = facts_of(format);
      const bool is_part = part.digits <= facts_.digits && part.greatest_exponent <= facts_.greatest_exponent &&
                           part.least_exponent - part.digits >= facts_.least_exponent - facts_.digits;
      if (!is_part) continue;
      const auto are_exact = [&](bool normal) {
        const auto sums = exact_sums(format, terms_, options_.compare, options_.seed, normal);
        return std::ranges::all_of(sums, [&](const ExactSum& exact) { return ask(exact.factors) == exact.sum; });
      };
      seen_.exact_sums.push_back({format, are_exact(false), are_exact(true)});
    }
  }

  FormatFacts facts_;
  const SumOfProducts& sum_;
  ProbeOptions options_;
  std::fenv_t environment_;
  std::uint32_t terms_;
  int high_ = 0, range_ = 0;
  bool wide_products_ = false, is_path_whole_ = false;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> below_;
  std::array<std::uint32_t, 4> path_{};
  SumsSeen seen_;
};

}  // namespace

std::string to_string(RoundingSeen rounding) {
  constexpr const char* kWords[] = {
      "to nearest, ties to even",        "to nearest, ties away from zero", "toward zero", "upward", "downward",
      "in none of IEEE 754's directions"};
  return kWords[static_cast<std::size_t>(rounding)];
}

SumsSeen probe_sums(Precision format, const SumOfProducts& sum, const ProbeOptions& options) {
  constexpr std::uint32_t kFewest = 8, kMax = 256;  // bf16 counts no further than 256
  if (options.terms < kFewest || options.terms > kMax)
    throw InputError(fmt::format("sums of {} terms cannot be probed; {} to {} can", options.terms, kFewest, kMax));
  std::fenv_t callers;
  std::fegetenv(&callers);
  const FloatEnvironment environment;
  return Prober(format, sum, options, callers).probe();
}

ClaimsThatHold claims_that_hold(const SumsSeen& seen) {
  ClaimsThatHold claims;
  if (seen.order && seen.order->is_sequential()) claims.sequential = seen.arithmetic;
  for (const ExactSumsSeen& exact : seen.exact_sums) {
    if (exact.all && exact.normal)
      claims.any_order.push_back(exact.format);
    else if (exact.normal)
      claims.any_order_normal.push_back(exact.format);
  }
  return claims;
}

}  // namespace krohn
