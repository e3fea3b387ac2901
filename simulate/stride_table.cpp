#include "simulate/stride_table.h"

#include <algorithm>
#include <cassert>

namespace krohn {

std::uint64_t StrideTable::entries(State states, Letter letters, std::uint32_t stride) {
  std::uint64_t result = states;
  for (std::uint32_t i = 0; i < stride; ++i) {
    if (letters != 0 && result > UINT64_MAX / letters) return UINT64_MAX;
    result *= letters;
  }
  return result;
}

StrideTable::StrideTable(const Dfa& dfa, std::uint32_t stride) : stride_(stride), width_(1) {
  assert(stride >= 1 && entries(dfa.states(), dfa.letters(), stride) < UINT32_MAX);
  for (State state = 0; state < dfa.states(); ++state) table_.push_back(state);
  // Words of one letter more: the last digit is the new letter.
  for (std::uint32_t length = 1; length <= stride; ++length) {
    std::vector<Row> longer;
    longer.reserve(table_.size() * dfa.letters());
    for (const State before : table_)
      for (const State after : dfa.row(before)) longer.push_back(after);
    table_ = std::move(longer);
    width_ *= dfa.letters();
  }
  width_ = std::max<std::uint32_t>(width_, 1);  // without letters a row is still a state
  for (Row& entry : table_) entry *= width_;
}

}  // namespace krohn
