#include "krohn/constructions/files/tensor_values.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

#include "krohn/groups/error.h"

namespace krohn {
namespace {

std::string shape_text(const Shape& shape) {
  std::string text;
  for (const std::uint64_t extent : shape)
    text += (text.empty() ? "" : ", ") + (extent == kAnyExtent ? std::string("any") : std::to_string(extent));
  return "[" + text + "]";
}

bool is_exact_in_float(double value) {
  return std::abs(value) <= std::numeric_limits<float>::max() &&
         static_cast<double>(static_cast<float>(value)) == value;
}

bool fits(const Shape& shape, const Shape& expected) {
  return std::equal(
      shape.begin(), shape.end(), expected.begin(), expected.end(),
      [](std::uint64_t extent, std::uint64_t wanted) { return wanted == kAnyExtent || extent == wanted; });
}

template <class Stored>
std::vector<double> numbers_in(const Tensor& tensor) {
  std::vector<double> numbers(tensor.bytes.size() / sizeof(Stored));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    Stored stored;
    std::memcpy(static_cast<void*>(&stored), tensor.bytes.data() + i * sizeof(Stored), sizeof(Stored));
    numbers[i] = static_cast<double>(stored);
  }
  return numbers;
}

}  // namespace

std::optional<std::vector<double>> floating_numbers(const Tensor& tensor) {
  if (tensor.dtype == "F64") return numbers_in<double>(tensor);
  if (tensor.dtype == "F32") return numbers_in<float>(tensor);
  if (tensor.dtype == "F16") return numbers_in<Eigen::half>(tensor);
  if (tensor.dtype == "BF16") return numbers_in<Eigen::bfloat16>(tensor);
  return std::nullopt;
}

Tensor make_real_tensor(const std::vector<double>& values, Shape shape) {
  if (!std::all_of(values.begin(), values.end(), is_exact_in_float)) return make_tensor(values, std::move(shape));
  std::vector<float> floats;
  floats.reserve(values.size());
  for (const double value : values) floats.push_back(static_cast<float>(value));
  return make_tensor(floats, std::move(shape));
}

const Shape& TensorReader::shape(const std::string& name) const {
  const auto found = file_.tensors.find(name);
  if (found == file_.tensors.end()) throw InputError(fmt::format("tensor \"{}\" is missing", name));
  return found->second.shape;
}

const Tensor& TensorReader::take(const std::string& name, const Shape& expected) {
  if (!fits(shape(name), expected))
    throw InputError(
        fmt::format("tensor \"{}\" has shape {}; expected {}", name, shape_text(shape(name)), shape_text(expected)));
  taken_.insert(name);
  return file_.tensors.at(name);
}

void TensorReader::require_type(const std::string& name, const Tensor& tensor, std::string_view dtype) {
  if (tensor.dtype != dtype)
    throw InputError(fmt::format("tensor \"{}\" has type {}; expected {}", name, tensor.dtype, dtype));
}

std::vector<double> TensorReader::reals(const std::string& name, const Shape& expected) {
  std::vector<double> result;
  if (has(name) && file_.tensors.at(name).dtype == "F32") {
    const std::vector<float> floats = values<float>(name, expected);
    result.assign(floats.begin(), floats.end());
  } else {
    result = values<double>(name, expected);
  }
  const auto bad = std::find_if(result.begin(), result.end(), [](double value) { return !std::isfinite(value); });
  if (bad != result.end())
    throw InputError(fmt::format("tensor \"{}\" holds {} at index {}", name, *bad, bad - result.begin()));
  return result;
}

std::vector<std::uint64_t> TensorReader::offsets(const std::string& name, std::uint64_t count, std::uint64_t total) {
  std::vector<std::uint64_t> result = values<std::uint64_t>(name, {count + 1});
  if (result.front() != 0 || result.back() != total || !std::is_sorted(result.begin(), result.end()))
    throw InputError(fmt::format("tensor \"{}\" does not rise from 0 to {}", name, total));
  return result;
}

void TensorReader::require_all_taken() const {
  for (const auto& named : file_.tensors)
    if (!taken_.contains(named.first))
      throw InputError(fmt::format("tensor \"{}\" is not part of the format", named.first));
}

}  // namespace krohn
