// constructions/strict_json.h — JSON from files that are not trusted: no repeated keys, no depth, no surprises.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace krohn {

/// One value with its place in the file, for messages. Functions throw InputError naming the place.
class StrictJson {
 public:
  /// Throws InputError when `text` is not JSON, repeats a key in one object, or nests deeper than 8.
  static StrictJson parse(const std::string& text, const std::string& place);

  /// Throws unless this is an object with exactly these keys.
  void require_keys(std::initializer_list<std::string_view> keys) const;
  StrictJson operator[](const std::string& key) const;
  /// Throws unless this is an array.
  std::vector<StrictJson> items() const;
  std::string text() const;
  std::uint32_t number() const;
  std::vector<std::string> texts() const;

 private:
  StrictJson(nlohmann::json value, std::string place) : value_(std::move(value)), place_(std::move(place)) {}
  nlohmann::json value_;
  std::string place_;
};

}  // namespace krohn
