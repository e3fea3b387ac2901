// constructions/files/strict_json.h — JSON from files that are not trusted: no repeated keys, no depth, no surprises.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/formats/json.h"

namespace krohn {

/// One value with its place in the file, for messages. Functions throw InputError naming the place.
class StrictJson {
 public:
  /// Throws as `parse_strict_json`.
  static StrictJson parse(const std::string& text, const std::string& place);

  /// Throws unless this is an object with exactly these keys.
  void require_keys(std::initializer_list<std::string_view> keys) const { require_keys(std::vector(keys)); }
  void require_keys(const std::vector<std::string_view>& keys) const;
  StrictJson operator[](const std::string& key) const;
  /// Throws unless this is an array.
  std::vector<StrictJson> items() const;
  std::string text() const;
  /// The text for a message: visible, in quotes, cut after about 60 bytes.
  std::string quoted() const;
  /// Throws unless this is an integer from 0 to 2^32 − 1.
  std::uint32_t number() const;
  /// Throws unless this is an integer from 0 to 2^64 − 1.
  std::uint64_t large_number() const;
  /// Throws unless this is true or false.
  bool truth() const;
  bool is_null() const { return value_->is_null(); }
  /// True if this is an object with that member.
  bool has(const std::string& key) const { return value_->is_object() && value_->contains(key); }
  /// The elements of an array of integers from 0 to 2^32 − 1, without a copy of each.
  std::vector<std::uint32_t> numbers() const;
  const std::string& place() const { return place_; }
  std::vector<std::string> texts() const;

 private:
  using Value = std::shared_ptr<const nlohmann::json>;
  StrictJson(Value value, std::string place) : value_(std::move(value)), place_(std::move(place)) {}
  Value value_;  ///< shares what was parsed: no part is copied
  std::string place_;
};

}  // namespace krohn
