#include "krohn/constructions/files/strict_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

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

json parse_strict_json(const std::string& text, const std::string& place) {
  constexpr int kMaxDepth = 8;
  constexpr std::size_t kMaxValues = std::size_t{1} << 26;  // two bytes of text may take 32 of memory
  std::size_t values = 0;
  std::vector<std::set<std::string>> open;
  const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth > kMaxDepth) throw InputError(place, fmt::format("JSON nested deeper than {}", kMaxDepth));
    if (++values > kMaxValues)
      throw LimitError(
          fmt::format("{}: JSON of more than {} values; the limit protects the memory", place, kMaxValues));
    if (event == json::parse_event_t::object_start) open.emplace_back();
    if (event == json::parse_event_t::object_end) open.pop_back();
    if (event == json::parse_event_t::key && !open.back().insert(parsed.get<std::string>()).second)
      throw InputError(place, "repeated key " + in_quotes(parsed.get_ref<const std::string&>()));
    return true;
  };
  // The parser takes a zero byte for the end of its input.
  if (text.find('\0') != std::string::npos) throw InputError(place, "a zero byte in JSON");
  try {
    return json::parse(text, watch);
  } catch (const json::parse_error& error) {
    throw InputError(place, fmt::format("not JSON at byte {}", error.byte));
  } catch (const json::out_of_range&) {
    throw InputError(place, "a number in JSON that is too large for any format");
  }
}

StrictJson StrictJson::parse(const std::string& text, const std::string& place) {
  return {parse_strict_json(text, place), place};
}

void StrictJson::require_keys(const std::vector<std::string_view>& keys) const {
  if (!value_.is_object()) throw InputError(place_, "expected a JSON object");
  for (const std::string_view key : keys)
    if (!value_.contains(std::string(key))) throw InputError(place_, fmt::format("\"{}\" is missing", key));
  for (const auto& [key, value] : value_.items())
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      throw InputError(place_, fmt::format("the unknown member {}; remove it", in_quotes(key)));
}

StrictJson StrictJson::operator[](const std::string& key) const { return {value_.at(key), place_ + "." + key}; }

std::vector<StrictJson> StrictJson::items() const {
  if (!value_.is_array()) throw InputError(place_, "expected a JSON array");
  std::vector<StrictJson> result;
  for (const json& item : value_) result.push_back({item, fmt::format("{}[{}]", place_, result.size())});
  return result;
}

std::string StrictJson::text() const {
  if (!value_.is_string()) throw InputError(place_, "expected a string");
  return value_.get<std::string>();
}

std::string StrictJson::quoted() const { return in_quotes(text()); }

std::uint32_t StrictJson::number() const { return narrow(value_, place_); }

std::uint64_t StrictJson::large_number() const {
  if (!value_.is_number_unsigned()) throw InputError(place_, "expected an integer from 0 to 2^64 − 1");
  return value_.get<std::uint64_t>();
}

bool StrictJson::truth() const {
  if (!value_.is_boolean()) throw InputError(place_, "expected true or false");
  return value_.get<bool>();
}

std::vector<std::uint32_t> StrictJson::numbers() const {
  if (!value_.is_array()) throw InputError(place_, "expected a JSON array");
  std::vector<std::uint32_t> result;
  for (const json& item : value_) result.push_back(narrow(item, place_));
  return result;
}

std::vector<std::string> StrictJson::texts() const {
  std::vector<std::string> result;
  for (const StrictJson& item : items()) result.push_back(item.text());
  return result;
}

}  // namespace krohn
