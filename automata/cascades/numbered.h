// automata/cascades/numbered.h — values known by number.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace krohn {

/// Ordered values, numbered from 0 as they first appear. O(log n) a value.
template <class Value>
class Numbered {
 public:
  std::uint32_t number(const Value& value) {
    const auto [entry, fresh] = number_.try_emplace(value, static_cast<std::uint32_t>(values_.size()));
    if (fresh) values_.push_back(value);
    return entry->second;
  }
  const Value& operator[](std::uint32_t number) const { return values_[number]; }
  const std::vector<Value>& values() const { return values_; }

 private:
  std::map<Value, std::uint32_t> number_;
  std::vector<Value> values_;
};

}  // namespace krohn
