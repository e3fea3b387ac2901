#include "krohn/simulate/prove/regions/interval_lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "krohn/groups/base/stated_functions.h"

namespace krohn {
namespace {

/// More than the rules say, so that other roundings on the way to a bound do not matter.
constexpr double kRoom = 1 + 0x1p-10;
constexpr double kUnit = 0x1p-24 * kRoom, kFunction = 0x1p-21 * kRoom, kQuotient = 0x1p-22 * kRoom;
constexpr double kFlushed = 0x1p-126 * kRoom;
constexpr std::size_t kMaxLeaves = 6;

double up(double x) { return -directed::below(-x); }

/// Of a format that runtimes may round to.
struct Rounding {
  std::uint32_t roundings = 0;              ///< to fp32, which err as much as one to it; 0: it is fp32
  double underflow = 0, greatest = 0x1p126;  ///< of a number, so that nothing overflows
};
Rounding rounding_to(Precision format) {
  switch (format) {
    case Precision::kBf16:
      return {1U << 16, kFlushed};
    case Precision::kFp16:
      return {1U << 13, 0x1p-24 * kRoom, 0x1p15};
    default:
      return {};
  }
}
double rounded(double number, Precision format) {
  const auto single = static_cast<float>(number);
  if (format == Precision::kBf16) return static_cast<double>(Eigen::bfloat16(single));
  return format == Precision::kFp16 ? static_cast<double>(Eigen::half(single)) : number;
}

Interval widened(const Interval& x, double by) { return x + Interval::between(-by, by); }

/// Returns the interval of a rising function, which doubles give to a few units.
template <class Function>
Interval risen(const Function& function, const Interval& x) {
  const double lower = function(x.lower()), upper = function(x.upper());
  if (!std::isfinite(lower) || !std::isfinite(upper)) throw NotEnclosed{"a number may overflow"};
  return Interval::between(lower - 0x1p-45 * std::fabs(lower), upper + 0x1p-45 * std::fabs(upper));
}
Interval with_error(const Interval& x) { return widened(x, kFunction * std::max(1.0, x.magnitude())); }

double logistic(double x) { return 1 / (1 + stated::exp(-x)); }
double softplus(double x) { return std::max(x, 0.0) + stated::log1p(stated::exp(-std::fabs(x))); }
double log_sigmoid(double x) { return std::min(x, 0.0) - stated::log1p(stated::exp(-std::fabs(x))); }

bool has_intervals(StepFunction function) {
  using enum StepFunction;
  return function != kBf16 && function != kCosine && function != kSine && function != kNorm;
}
bool is_polynomial(StepFunction function) {
  using enum StepFunction;
  return function == kCopy || function == kAdd || function == kSubtract || function == kMultiply;
}

}  // namespace

IntervalLists::IntervalLists(const Operations& operations, const TensorFile& tensors, Precision format)
    : operations_(operations),
      format_(format),
      stated_(operations, tensors),
      lists_(stated_.count()),
      places_(lists_.size()),
      leaves_(lists_.size()) {
  for (std::size_t list = 0; list < lists_.size(); ++list) prepare(list);
}

double IntervalLists::error(const Enclosed& number) {
  const double relative = number.roundings * kUnit;
  return number.roundings == 0 ? 0 : up(relative / (1 - relative) * number.size + 2 * number.tiny);
}

Interval IntervalLists::value(const Enclosed& number) {
  Interval ends = number.exact;
  if (number.roundings > 0) ends = widened(ends, error(number));
  // Below 2^−126 a runtime may have 0.
  return Interval::between(ends.lower() > 0 && ends.lower() < kFlushed ? 0 : ends.lower(),
                           ends.upper() < 0 && ends.upper() > -kFlushed ? 0 : ends.upper());
}

/// The number may be rounded to the format, so many times.
void IntervalLists::round_more(Enclosed& number, std::uint32_t times) const {
  if (format_ == Precision::kFp32) return;
  const Rounding one = rounding_to(format_);
  number.roundings += times * one.roundings;
  number.tiny = up(number.tiny + times * one.underflow);
}

/// The number as it goes into a product of a sum.
Interval IntervalLists::factor(Enclosed number) const {
  round_more(number, 1);
  return value(number);
}

IntervalLists::Enclosed IntervalLists::leaf(const Interval& ends) { return {ends, ends.magnitude(), kFlushed, 0}; }

/// Numbers of the model or of the list itself, exact ones.
bool IntervalLists::is_given(std::size_t list) const {
  const std::string& what = operations_.list[list].what;
  return what == "tensor" || what == "numbers" || what == "row";
}

void IntervalLists::prepare(std::size_t list) {
  const Operation& operation = operations_.list[list];
  lists_[list].resize(stated_.size(list));
  if (operation.what == "tensor" || operation.what == "numbers") {
    for (std::size_t at = 0; at < lists_[list].size(); ++at) {
      const auto number = static_cast<double>(stated_.values(list)[at]);
      const auto [lower, upper] = std::minmax({number, rounded(number, format_)});
      if (!(lower > -rounding_to(format_).greatest && upper < rounding_to(format_).greatest))
        throw NotEnclosed{"a number may overflow"};
      lists_[list][at] = leaf(Interval::between(lower, upper));
    }
    return;
  }
  if (operation.what == "memory" || operation.what == "row") return;
  const StepFunction function = stated_.function(list);
  if (!has_intervals(function)) throw NotEnclosed{fmt::format("no intervals of {}", operation.what)};
  const std::size_t count = lists_[list].size();
  for (std::size_t view = 0; view < operation.of.size(); ++view) {
    std::vector<std::uint32_t>& places = places_[list].emplace_back(count);
    std::vector<std::uint32_t> at(operation.shape.size(), 0);
    for (std::uint32_t& place : places) {
      place = operation.of[view].first;
      for (std::size_t axis = 0; axis < at.size(); ++axis) place += at[axis] * operation.of[view].strides[axis];
      for (std::size_t axis = at.size(); axis-- > 0 && ++at[axis] == operation.shape[axis];) at[axis] = 0;
    }
  }
  if (stated_.dependence(list) == Dependence::kMemory) work_ += count * std::max(1U, operation.terms);
  if (is_polynomial(function) && function != StepFunction::kCopy) {
    leaves_[list].resize(count);
    for (std::uint32_t at = 0; at < count; ++at) {
      std::vector<Place> leaves;
      bool repeats = false;
      if (gather({static_cast<std::uint32_t>(list), at}, leaves, repeats) && repeats)
        leaves_[list][at] = std::move(leaves);
    }
  }
  if (stated_.dependence(list) == Dependence::kNothing) compute(list);
}

/// The numbers that this one is a polynomial of. False where there are too many, or one is in both factors of a
/// product.
bool IntervalLists::gather(Place from, std::vector<Place>& leaves, bool& repeats) const {
  if (is_given(from.list)) return true;
  const Operation& operation = operations_.list[from.list];
  if (operation.what == "memory" || !is_polynomial(stated_.function(from.list))) {
    const auto known = std::ranges::find(leaves, from);
    repeats = repeats || known != leaves.end();
    if (known == leaves.end()) leaves.push_back(from);
    return leaves.size() <= kMaxLeaves;
  }
  std::array<std::vector<Place>, 2> parts;
  for (std::size_t view = 0; view < operation.of.size(); ++view) {
    const Place next{operation.of[view].list, places_[from.list][view][from.at]};
    if (!gather(next, parts[view], repeats)) return false;
  }
  for (const std::vector<Place>& part : parts)
    for (const Place& leaf : part) {
      const bool is_known = std::ranges::find(leaves, leaf) != leaves.end();
      repeats = repeats || is_known;
      if (!is_known) leaves.push_back(leaf);
    }
  if (stated_.function(from.list) == StepFunction::kMultiply)
    for (const Place& leaf : parts[0])
      if (std::ranges::find(parts[1], leaf) != parts[1].end()) return false;
  return leaves.size() <= kMaxLeaves;
}

/// The number's value where leaf i is at its upper end if bit i of the corner is set.
Interval IntervalLists::at_corner(Place from, const std::vector<Place>& leaves, std::uint32_t corner) const {
  const auto known = std::ranges::find(leaves, from);
  const Interval& own = lists_[from.list][from.at].exact;
  if (known != leaves.end()) return (corner >> (known - leaves.begin()) & 1) != 0 ? own.upper() : own.lower();
  if (is_given(from.list)) return own;
  const Operation& operation = operations_.list[from.list];
  const auto part = [&](std::size_t view) {
    return at_corner({operation.of[view].list, places_[from.list][view][from.at]}, leaves, corner);
  };
  switch (stated_.function(from.list)) {
    case StepFunction::kAdd:
      return part(0) + part(1);
    case StepFunction::kSubtract:
      return part(0) - part(1);
    case StepFunction::kMultiply:
      return part(0) * part(1);
    default:
      return part(0);
  }
}

IntervalLists::Enclosed IntervalLists::dot(std::size_t list, std::size_t at) const {
  const Operation& operation = operations_.list[list];
  const std::size_t x_stride = operation.of[0].strides.back(), y_stride = operation.of[1].strides.back();
  const Enclosed* x = lists_[operation.of[0].list].data() + place(list, 0, at);
  const Enclosed* y = lists_[operation.of[1].list].data() + place(list, 1, at);
  double lower = 0, upper = 0, size = 0, tiny = 1;
  for (std::uint32_t t = 0; t < operation.terms; ++t, x += x_stride, y += y_stride) {
    const Interval a = factor(*x), b = factor(*y);
    const auto [least, greatest] =
        std::minmax({a.lower() * b.lower(), a.lower() * b.upper(), a.upper() * b.lower(), a.upper() * b.upper()});
    lower += least;
    upper += greatest;
    size += a.magnitude() * b.magnitude();
    tiny += a.magnitude() + b.magnitude() + 2;
  }
  const double slack = (operation.terms + 4.0) * 0x1p-52;  // of sums of products in doubles
  if (!std::isfinite(size)) throw NotEnclosed{"a number may overflow"};
  const Enclosed result{widened(Interval::between(lower, upper), slack * size + 0x1p-1000), size * (1 + slack),
                        tiny * kFlushed * (1 + slack), 2 * operation.terms};
  if (operation.of.size() < 3) return result;
  const Enclosed& from = lists_[operation.of[2].list][place(list, 2, at)];
  return {result.exact + from.exact, up(result.size + from.size), up(result.tiny + from.tiny),
          result.roundings + from.roundings};
}

IntervalLists::Enclosed IntervalLists::computed(std::size_t list, std::size_t at) const {
  using enum StepFunction;
  const Operation& operation = operations_.list[list];
  const auto operand = [&](std::size_t view) -> const Enclosed& {
    return lists_[operation.of[view].list][place(list, view, at)];
  };
  const Enclosed &a = operand(0), &b = operand(operation.of.size() > 1 ? 1 : 0);
  const auto polynomial = [&](Interval ends, double size, double tiny) {
    if (!leaves_[list][at].empty()) {
      const std::vector<Place>& leaves = leaves_[list][at];
      const Place here{static_cast<std::uint32_t>(list), static_cast<std::uint32_t>(at)};
      ends = at_corner(here, leaves, 0);
      for (std::uint32_t corner = 1; corner < std::uint32_t{1} << leaves.size(); ++corner) {
        const Interval there = at_corner(here, leaves, corner);
        ends = Interval::between(std::min(ends.lower(), there.lower()), std::max(ends.upper(), there.upper()));
      }
    }
    return Enclosed{ends, up(size), up(up(tiny) + kFlushed), a.roundings + b.roundings + 1};
  };
  const auto function = [&](const auto& of) { return leaf(with_error(risen(of, value(a)))); };
  switch (stated_.function(list)) {
    case kCopy:
      return a;
    case kAdd:
      return polynomial(a.exact + b.exact, a.size + b.size, a.tiny + b.tiny);
    case kSubtract:
      return polynomial(a.exact - b.exact, a.size + b.size, a.tiny + b.tiny);
    case kMultiply:
      return polynomial(a.exact * b.exact, a.size * b.size,
                        up(up(a.tiny * b.size) + up(b.tiny * a.size)) + up(a.tiny * b.tiny));
    case kGreater:
      return leaf(widened(max(value(a), value(b)), kFlushed));
    case kDivide: {
      const Interval y = value(b);
      const double least = std::min(std::fabs(y.lower()), std::fabs(y.upper()));
      if (y.contains(0) || least < 0x1p-60) throw NotEnclosed{"a division by what may be 0"};
      const Interval quotient = value(a) / y;
      return leaf(widened(quotient, up(kQuotient * quotient.magnitude()) + kFlushed * 2 * (1 + 1 / least)));
    }
    case kRoot: {
      const Interval x = value(a);
      if (x.lower() < 0) throw NotEnclosed{"the root of what may be negative"};
      const Interval root = sqrt(x);
      return leaf(widened(root, up(kQuotient * root.magnitude()) + 0x1.1p-62));
    }
    case kTanh:
      return function(stated::tanh);
    case kLogistic:
      return function(logistic);
    case kExp:
    case kExp32:
      return function(stated::exp);
    case kSoftplus:
    case kSoftplus32:
    case kSoftplus64:
      return function(softplus);
    case kLogSigmoid:
      return function(log_sigmoid);
    case kSigmoid:
    case kSigmoid32:
      return leaf(with_error(value(a) * with_error(risen(logistic, value(b)))));
    default:
      throw NotEnclosed{fmt::format("no intervals of {}", operation.what)};
  }
}

void IntervalLists::compute(std::size_t list) {
  const bool is_dot = stated_.function(list) == StepFunction::kDot;
  for (std::size_t at = 0; at < lists_[list].size(); ++at) {
    Enclosed number = is_dot ? dot(list, at) : computed(list, at);
    if (stated_.function(list) != StepFunction::kCopy) round_more(number, is_dot ? 2 : 1);
    if (number.roundings > (1U << 20) || !(number.size + error(number) < rounding_to(format_).greatest))
      throw NotEnclosed{"a number may overflow"};
    lists_[list][at] = number;
  }
}

void IntervalLists::append(Box& box, const std::vector<Enclosed>& numbers) {
  for (const Enclosed& number : numbers) {
    const Interval ends = value(number);
    box.push_back({ends.lower(), ends.upper()});
  }
}

Box IntervalLists::start() {
  Box memory;
  for (const std::uint32_t list : operations_.start) append(memory, lists_[list]);
  for (const std::uint32_t token : operations_.before) memory = read(memory, token);
  return memory;
}

Box IntervalLists::read(const Box& memory, std::uint32_t token) {
  const auto [known, fresh] = of_token_.try_emplace(token);
  if (fresh)
    for (std::size_t list = 0; list < lists_.size(); ++list) {
      if (stated_.dependence(list) != Dependence::kToken) continue;
      const Operation& operation = operations_.list[list];
      if (operation.what != "row") {
        compute(list);
      } else {
        if ((std::uint64_t{token} + 1) * operation.size > lists_[operation.of[0].list].size())
          throw NotEnclosed{"a token has no row"};
        const auto first = lists_[operation.of[0].list].begin() + std::ptrdiff_t{token} * operation.size;
        lists_[list].assign(first, first + operation.size);
      }
      known->second.push_back(lists_[list]);
    }
  auto of_token = known->second.begin();
  for (std::size_t list = 0; list < lists_.size(); ++list) {
    if (stated_.dependence(list) == Dependence::kToken) {
      lists_[list] = *of_token++;
    } else if (stated_.dependence(list) == Dependence::kMemory) {
      if (operations_.list[list].what == "memory")
        std::ranges::transform(memory, lists_[list].begin(),
                               [](Ends ends) { return leaf(Interval::between(ends.lower, ends.upper)); });
      else
        compute(list);
    }
  }
  Box kept;
  for (const std::uint32_t list : operations_.keep) append(kept, lists_[list]);
  return kept;
}

/// A bound from below of one logit over another.
double IntervalLists::least_lead(std::size_t logit, std::size_t other) const {
  const std::uint32_t list = operations_.logits;
  const Enclosed &of_logit = lists_[list][logit], &of_other = lists_[list][other];
  const Operation& operation = operations_.list[list];
  if (operation.what == "dot")
    for (const std::size_t factors : {0, 1}) {
      const std::size_t numbers = 1 - factors;
      if (!is_given(operation.of[factors].list) || place(list, numbers, logit) != place(list, numbers, other)) continue;
      const Enclosed *w = lists_[operation.of[factors].list].data(), *x = lists_[operation.of[numbers].list].data();
      const std::size_t w_stride = operation.of[factors].strides.back(),
                        x_stride = operation.of[numbers].strides.back();
      w += place(list, factors, logit), x += place(list, numbers, logit);
      const Enclosed* v = lists_[operation.of[factors].list].data() + place(list, factors, other);
      Interval lead;
      if (operation.of.size() == 3) {
        const std::vector<Enclosed>& from = lists_[operation.of[2].list];
        lead = from[place(list, 2, logit)].exact - from[place(list, 2, other)].exact;
      }
      for (std::uint32_t t = 0; t < operation.terms; ++t, w += w_stride, v += w_stride, x += x_stride)
        lead = lead + (w->exact - v->exact) * factor(*x);
      return add_down(lead.lower(), -up(error(of_logit) + error(of_other)));
    }
  return add_down(value(of_logit).lower(), -value(of_other).upper());
}

bool IntervalLists::is_answered(const Box& memory, Output logit) {
  Box behind = memory;
  for (const std::uint32_t token : operations_.after) behind = read(behind, token);
  const std::size_t count = lists_[operations_.logits].size();
  if (logit >= count) return false;
  for (std::size_t other = 0; other < count; ++other)
    if (other != logit && !(least_lead(logit, other) > 0)) return false;
  return true;
}

bool IntervalLists::is_affine() const {
  std::vector<int> degrees(lists_.size(), 0);  // 2: not affine
  for (std::size_t list = 0; list < lists_.size(); ++list) {
    if (stated_.dependence(list) != Dependence::kMemory) continue;
    const Operation& operation = operations_.list[list];
    if (operation.what == "memory") {
      degrees[list] = 1;
      continue;
    }
    const StepFunction function = stated_.function(list);
    const bool multiplies = function == StepFunction::kMultiply || function == StepFunction::kDot;
    int degree = multiplies ? degrees[operation.of[0].list] + degrees[operation.of[1].list] : 0;
    for (std::size_t view = multiplies ? 2 : 0; view < operation.of.size(); ++view)
      degree = std::max(degree, degrees[operation.of[view].list]);
    degrees[list] = multiplies || is_polynomial(function) ? std::min(degree, 2) : 2;
  }
  return std::ranges::all_of(operations_.keep, [&](std::uint32_t list) { return degrees[list] < 2; });
}

}  // namespace krohn
