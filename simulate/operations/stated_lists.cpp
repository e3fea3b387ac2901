#include "krohn/simulate/operations/stated_lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/stated_functions.h"
#include "krohn/simulate/arithmetic/arithmetic.h"
#include "krohn/simulate/arithmetic/stated_exp.h"

namespace krohn {
namespace {

/// In the order of StepFunction.
constexpr std::array<std::string_view, 22> kFunctionNames{
    "dot",  "copy",       "add",         "subtract", "multiply", "divide",   "greater",    "root",
    "bf16", "sigmoid",    "sigmoid32",   "exp",      "exp32",    "softplus", "softplus32", "logistic",
    "tanh", "softplus64", "log sigmoid", "cosine",   "sine",     "norm"};

StepFunction function_named(std::string_view name, std::size_t list) {
  const auto found = std::ranges::find(kFunctionNames, name);
  if (found == kFunctionNames.end()) throw InputError(fmt::format("list {}: an unknown operation {}", list, name));
  return static_cast<StepFunction>(found - kFunctionNames.begin());
}

float to_bf16(double x) { return static_cast<float>(round_weight<Bf16>(x)); }

/// One number, once rounded.
template <class Real, bool kIsBf16>
struct In {
  static Real rounded(double x) {
    if constexpr (kIsBf16) return to_bf16(x);
    return static_cast<Real>(x);
  }
  /// For a sum, a product, a quotient or a root in Real: for bf16 it is rounded as if once (arithmetic_test.cpp).
  static Real once(Real x) { return kIsBf16 ? rounded(static_cast<double>(x)) : x; }

  static Real value(StepFunction function, Real a, Real b) {
    using enum StepFunction;
    const auto x = static_cast<double>(a), y = static_cast<double>(b);
    switch (function) {
      case kDot:
      case kNorm:
      case kCopy:
        return a;
      case kAdd:
        return once(a + b);
      case kSubtract:
        return once(a - b);
      case kMultiply:
        return once(a * b);
      case kDivide:
        return once(a / b);
      case kGreater:
        return std::max(a, b);
      case kRoot:
        return once(std::sqrt(a));
      case kBf16:
        return static_cast<Real>(to_bf16(x));
      case kSigmoid:
        return once(a / once(1 + rounded(stated::exp(-y))));
      case kSigmoid32:
        return once(a / once(1 + rounded(stated_exp(-y))));
      case kExp:
        return rounded(stated::exp(x));
      case kExp32:
        return rounded(stated_exp(x));
      case kSoftplus:
        return once(std::max(a, Real{0}) + rounded(stated::log1p(stated::exp(-std::abs(x)))));
      case kSoftplus32:
        return x > 20 ? a : rounded(stated::log1p(stated_exp(x)));
      case kLogistic:
        return rounded(1 / (1 + stated::exp(-x)));
      case kTanh:
        return rounded(stated::tanh(x));
      case kSoftplus64:
        return x > 20 ? a : rounded(stated::log1p(stated::exp(x)));
      case kLogSigmoid:
        return rounded(std::min(x, 0.0) - stated::log1p(stated::exp(-std::abs(x))));
      case kCosine:
        return rounded(stated::cos(x));
      case kSine:
        return rounded(stated::sin(x));
    }
    return a;
  }
};

}  // namespace

Step step_of(const Operation& operation, StepFunction function) {
  const std::size_t views = operation.of.size();
  Step step;
  step.function = function;
  step.operands = static_cast<std::uint32_t>(views);
  step.terms = operation.terms;
  if (function == StepFunction::kNorm) step.exponent = operation.numbers.at(0);
  std::vector<std::uint32_t> extents;
  std::array<std::vector<std::uint32_t>, 3> own;
  for (std::size_t axis = 0; axis < operation.shape.size(); ++axis) {
    const std::uint32_t extent = operation.shape[axis];
    if (extent == 1) continue;
    bool goes_on = !extents.empty();
    for (std::size_t v = 0; v < views && goes_on; ++v)
      goes_on = own[v].back() == operation.of[v].strides[axis] * extent;
    if (goes_on)
      extents.back() *= extent;
    else
      extents.push_back(extent);
    for (std::size_t v = 0; v < views; ++v) {
      if (goes_on) own[v].pop_back();
      own[v].push_back(operation.of[v].strides[axis]);
    }
  }
  if (extents.size() > 3) throw LimitError("a list of more than three axes");
  const std::size_t first = 4 - extents.size();
  for (std::size_t axis = first; axis < 4; ++axis) {
    step.extents[axis] = extents[axis - first];
    for (std::size_t v = 0; v < views; ++v) step.of[v].strides[axis] = own[v][axis - first];
  }
  const bool has_terms = function == StepFunction::kDot || function == StepFunction::kNorm;
  for (std::size_t v = 0; v < views; ++v) {
    step.of[v].first = operation.of[v].first;
    if (has_terms && v < 2) step.of[v].term = operation.of[v].strides.back();
  }
  return step;
}

template <class Real>
StatedLists<Real>::StatedLists(const Operations& operations, const TensorFile& tensors)
    : operations_(operations),
      is_bf16_(operations.format == Precision::kBf16),
      values_(operations.list.size()),
      depends_(values_.size()),
      functions_(values_.size()),
      sizes_(values_.size()) {
  for (std::size_t list = 0; list < values_.size(); ++list) prepare(list, tensors);
}

template <class Real>
void StatedLists<Real>::prepare(std::size_t list, const TensorFile& tensors) {
  const Operation& operation = operations_.list[list];
  std::vector<Real>& values = values_[list];
  const auto take = [&](double x) { values.push_back(is_bf16_ ? In<Real, true>::rounded(x) : static_cast<Real>(x)); };
  if (operation.what == "tensor") {
    const auto found = tensors.tensors.find(operation.tensor);
    if (found == tensors.tensors.end()) throw InputError(operation.tensor, "the model has no such tensor");
    const auto numbers = floating_numbers(found->second);
    if (!numbers) throw InputError(operation.tensor, "holds no F64, F32, F16 or BF16 numbers");
    for (const double number : *numbers) take(number);
    sizes_[list] = static_cast<std::uint32_t>(values.size());
  } else if (operation.what == "numbers") {
    for (std::uint32_t i = 0; i < operation.size; ++i)
      for (const double number : operation.numbers) take(number);
    sizes_[list] = static_cast<std::uint32_t>(values.size());
  } else if (operation.what == "memory" || operation.what == "row") {
    depends_[list] = operation.what == "row" ? Dependence::kToken : Dependence::kMemory;
    sizes_[list] = operation.size;
    if (operation.what == "memory") remembered_ = operation.size;
  } else {
    functions_[list] = function_named(operation.what, list);
    std::uint32_t size = 1;
    for (const std::uint32_t extent : operation.shape) size *= extent;
    sizes_[list] = size;
    for (std::size_t v = 0; v < operation.of.size(); ++v) {
      const Operation::View& view = operation.of[v];
      std::uint64_t last = view.first;
      for (std::size_t axis = 0; axis < view.strides.size(); ++axis)
        last += std::uint64_t{view.strides[axis]} *
                ((axis < operation.shape.size() ? operation.shape[axis] : operation.terms) - 1);
      if (view.list >= list || last >= sizes_[view.list])
        throw InputError(fmt::format("list {}: a number that the other list does not have", list));
      depends_[list] = std::max(depends_[list], depends_[view.list]);
    }
    if (depends_[list] == Dependence::kNothing) compute(list);
  }
}

template <class Real>
void StatedLists<Real>::compute(std::size_t list) {
  const Operation& operation = operations_.list[list];
  const std::size_t rank = operation.shape.size(), views = operation.of.size();
  const auto value = is_bf16_ ? In<Real, true>::value : In<Real, false>::value;
  std::vector<Real>& to = values_[list];
  to.resize(sizes_[list]);
  std::vector<std::uint32_t> at(rank, 0);
  for (Real& result : to) {
    std::array<const Real*, 3> from{};
    for (std::size_t v = 0; v < views; ++v) {
      const Operation::View& view = operation.of[v];
      from[v] = values_[view.list].data() + view.first;
      for (std::size_t axis = 0; axis < rank; ++axis) from[v] += std::size_t{at[axis]} * view.strides[axis];
    }
    if (functions_[list] == StepFunction::kNorm) {
      const double exponent = operation.numbers.at(0);
      double sum = 0;
      for (std::uint32_t t = 0; t < operation.terms; ++t, from[0] += operation.of[0].strides.back())
        sum += stated::pow(std::abs(static_cast<double>(*from[0])), exponent);
      const double norm = stated::pow(sum, 1 / exponent);
      result = is_bf16_ ? In<Real, true>::rounded(norm) : static_cast<Real>(norm);
    } else if (functions_[list] == StepFunction::kDot) {
      const std::uint32_t a_term = operation.of[0].strides.back(), b_term = operation.of[1].strides.back();
      Real sum = views == 3 ? *from[2] : Real{0};
      const Real *a = from[0], *b = from[1];
      for (std::uint32_t t = 0; t < operation.terms; ++t, a += a_term, b += b_term)
        sum = is_bf16_ ? In<Real, true>::once(sum + In<Real, true>::once(*a * *b)) : sum + *a * *b;
      result = sum;
    } else {
      result = value(functions_[list], *from[0], views > 1 ? *from[1] : *from[0]);
    }
    for (std::size_t axis = rank; axis-- > 0 && ++at[axis] == operation.shape[axis];) at[axis] = 0;
  }
}

template <class Real>
void StatedLists<Real>::read_token(std::uint32_t token, const std::vector<bool>& wanted) {
  for (std::size_t list = 0; list < values_.size(); ++list) {
    if (depends_[list] != Dependence::kToken || (!wanted.empty() && !wanted[list])) continue;
    const Operation& operation = operations_.list[list];
    if (operation.what != "row") {
      compute(list);
      continue;
    }
    const std::vector<Real>& all = values_[operation.of[0].list];
    const std::size_t size = operation.size, first = token * size;
    if (first + size > all.size()) throw InputError(fmt::format("list {}: token {} has no row", list, token));
    values_[list].assign(all.begin() + static_cast<std::ptrdiff_t>(first),
                         all.begin() + static_cast<std::ptrdiff_t>(first + size));
  }
}

template <class Real>
void StatedLists<Real>::read_memory(std::span<const Real> memory) {
  for (std::size_t list = 0; list < values_.size(); ++list) {
    if (depends_[list] != Dependence::kMemory) continue;
    if (operations_.list[list].what == "memory")
      values_[list].assign(memory.begin(), memory.end());
    else
      compute(list);
  }
}

template <class Real>
std::vector<Real> StatedLists<Real>::joined(const std::vector<std::uint32_t>& lists) const {
  std::vector<Real> all;
  for (const std::uint32_t list : lists)
    for (const Real number : values_[list]) all.push_back(number + Real{0});
  return all;
}

template class StatedLists<float>;
template class StatedLists<double>;

}  // namespace krohn
