#include "krohn/simulate/models/model_parts.h"

#include <fmt/format.h>

#include <charconv>

#include "krohn/groups/error.h"

namespace krohn {
namespace {

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

ModelParts::ModelParts(std::string_view text, std::string grammar) : text_(text), grammar_(std::move(grammar)) {
  std::string_view rest = text_;
  family_ = rest.substr(0, rest.find(':'));
  rest.remove_prefix(std::min(rest.size(), family_.size() + 1));
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    Part read{part, part.substr(0, equals), {}};
    if (equals != std::string_view::npos) read.value = part.substr(equals + 1);
    for (const Part& other : parts_)
      if (other.key == read.key) refuse(read, "stands there twice");
    parts_.push_back(read);
  }
}

ModelParts::Part* ModelParts::take(std::string_view key, bool valued) {
  for (Part& part : parts_)
    if (part.key == key) {
      if (part.value.has_value() != valued) refuse(part, valued ? "needs a value" : "takes no value");
      part.taken = true;
      return &part;
    }
  return nullptr;
}

bool ModelParts::has(std::string_view part) { return take(part, false) != nullptr; }

std::optional<std::uint32_t> ModelParts::count(std::string_view key, std::uint32_t least, std::uint32_t greatest) {
  const Part* const part = take(key, true);
  if (part == nullptr) return std::nullopt;
  const auto value = number_in<std::uint32_t>(*part->value);
  if (!value || *value < least || *value > greatest)
    refuse(*part, fmt::format("needs a number from {} to {}", least, greatest));
  return value;
}

std::optional<double> ModelParts::positive(std::string_view key, double greatest, double least) {
  const Part* const part = take(key, true);
  if (part == nullptr) return std::nullopt;
  const auto value = number_in<double>(*part->value);
  if (!value || !(*value > 0) || *value < least || *value > greatest)
    refuse(*part, least > 0 ? fmt::format("needs a number from {} to {}", least, greatest)
                            : fmt::format("needs a number above 0 and at most {}", greatest));
  return value;
}

void ModelParts::require_all_taken() const {
  for (const Part& part : parts_)
    if (!part.taken) refuse(part, "is not known");
}

void ModelParts::refuse(std::string_view why) const { throw InputError(fmt::format("model \"{}\": {}", text_, why)); }

void ModelParts::refuse(const Part& part, std::string_view needed) const {
  throw InputError(fmt::format("model part \"{}\" {}; {}", part.text, needed, grammar_));
}

}  // namespace krohn
