#include "krohn/simulate/audit/audit_rule.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/groups/error.h"

namespace krohn {
namespace {

const nlohmann::json* member_of(const nlohmann::json& config, const char* name) {
  const auto found = config.find(name);
  return found == config.end() ? nullptr : &*found;
}

}  // namespace

void AuditInput::refuse(const char* name, const std::string& why) const {
  throw InputError(where, fmt::format("\"{}\" {}", name, why));
}

std::uint64_t AuditInput::count(const char* name, std::uint64_t standard) const {
  const nlohmann::json* const value = member_of(config, name);
  if (value == nullptr || value->is_null()) return standard;  // as the classes have it for counts
  if (!value->is_number_unsigned() || *value > (1u << 24)) refuse(name, "is not a count up to 2^24");
  return value->get<std::uint64_t>();
}

double AuditInput::real(const char* name, double standard) const {
  const nlohmann::json* const value = member_of(config, name);
  if (value == nullptr) return standard;
  if (!value->is_number()) refuse(name, "is not a number");
  return value->get<double>();
}

bool AuditInput::flag(const char* name, bool standard) const {
  const nlohmann::json* const value = member_of(config, name);
  if (value == nullptr) return standard;
  if (!value->is_boolean()) refuse(name, "is not true or false");
  return value->get<bool>();
}

HeadRange united(const HeadRange& a, const HeadRange& b) {
  return {std::min(a.slowest, b.slowest), std::max(a.fastest, b.fastest), std::min(a.lowest, b.lowest),
          std::min(a.flip, b.flip)};
}

HeadRange with_delta(HeadRange head, double bound, bool doubled) {
  const double most = sigmoid_of(bound);
  if (!doubled) {  // 1 − β > 0, and the least where the decay is fastest
    head.lowest = head.fastest == kNoBound ? 0 : stated::exp(-head.fastest) * sigmoid_of(-bound);
    return head;
  }
  // 1 − 2σ(u) = −tanh(u/2), of which the logarithm is taken without cancellation.
  head.lowest = -stated::exp(-head.slowest) * (2 * most - 1);
  head.flip = bound == kNoBound ? head.slowest : head.slowest - stated::log1p(-2 * sigmoid_of(-bound));
  return head;
}

std::vector<double> numbers_of(const AuditInput& input, const std::string& name, std::uint64_t count) {
  std::vector<double> numbers = input.tensors.numbers(name);
  if (numbers.size() != count)
    throw InputError(input.where, fmt::format("tensor \"{}\" has {} numbers, and the others ask for {}", name,
                                              numbers.size(), count));
  return numbers;
}

std::vector<double> gain_of(const AuditInput& input, const std::string& name, double offset) {
  std::vector<double> gain = input.tensors.numbers(name);
  for (double& number : gain) number += offset;
  return gain;
}

std::vector<double> row_bounds(const AuditInput& input, const std::string& matrix, const std::vector<double>& gain) {
  const std::vector<std::uint64_t> shape = input.tensors.shape(matrix);
  if (shape.size() != 2 || shape[1] != gain.size())
    throw InputError(input.where, fmt::format("tensor \"{}\" has not two dimensions, the second of {}, as its norm has",
                                              matrix, gain.size()));
  const std::vector<double> numbers = input.tensors.numbers(matrix);
  std::vector<double> bounds;
  for (std::size_t row = 0; row < shape[0]; ++row) {
    double sum = 0;
    for (std::size_t j = 0; j < gain.size(); ++j) {
      const double entry = gain[j] * numbers[row * gain.size() + j];
      sum += entry * entry;
    }
    bounds.push_back(std::sqrt(sum * static_cast<double>(gain.size())));
  }
  return bounds;
}

}  // namespace krohn
