#include "krohn/constructions/files/strict_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/base/error.h"

namespace krohn {

using nlohmann::json;

namespace {

std::uint32_t narrow(const json& value, const std::string& place) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > UINT32_MAX)
    throw InputError(place, "expected an integer from 0 to 2^32 − 1");
  return value.get<std::uint32_t>();
}

}  // namespace

StrictJson StrictJson::parse(const std::string& text, const std::string& place) {
  return {std::make_shared<const json>(parse_strict_json(text, place, /*is_part=*/true)), place};
}

void StrictJson::require_keys(const std::vector<std::string_view>& keys) const {
  if (!value_->is_object()) throw InputError(place_, "expected a JSON object");
  for (const std::string_view key : keys)
    if (!value_->contains(std::string(key))) throw InputError(place_, fmt::format("\"{}\" is missing", key));
  for (const auto& [key, value] : value_->items())
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      throw InputError(place_, fmt::format("the unknown member {}; remove it", in_quotes(key)));
}

StrictJson StrictJson::operator[](const std::string& key) const {
  return {Value(value_, &value_->at(key)), place_ + "." + key};
}

std::vector<StrictJson> StrictJson::items() const {
  if (!value_->is_array()) throw InputError(place_, "expected a JSON array");
  std::vector<StrictJson> result;
  for (const json& item : *value_)
    result.push_back({Value(value_, &item), fmt::format("{}[{}]", place_, result.size())});
  return result;
}

std::string StrictJson::text() const {
  if (!value_->is_string()) throw InputError(place_, "expected a string");
  return value_->get<std::string>();
}

std::string StrictJson::quoted() const { return in_quotes(text()); }

std::uint32_t StrictJson::number() const { return narrow(*value_, place_); }

std::uint64_t StrictJson::large_number() const {
  if (!value_->is_number_unsigned()) throw InputError(place_, "expected an integer from 0 to 2^64 − 1");
  return value_->get<std::uint64_t>();
}

bool StrictJson::truth() const {
  if (!value_->is_boolean()) throw InputError(place_, "expected true or false");
  return value_->get<bool>();
}

std::vector<std::uint32_t> StrictJson::numbers() const {
  if (!value_->is_array()) throw InputError(place_, "expected a JSON array");
  std::vector<std::uint32_t> result;
  for (const json& item : *value_) result.push_back(narrow(item, place_));
  return result;
}

std::vector<std::string> StrictJson::texts() const {
  std::vector<std::string> result;
  for (const StrictJson& item : items()) result.push_back(item.text());
  return result;
}

}  // namespace krohn
