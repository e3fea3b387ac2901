// automata/temporal/temporal_formula.h — the syntax of temporal formulas.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace krohn {

enum class TemporalOperator : std::uint8_t {
  kTrue,
  kProposition,
  kNot,
  kAnd,
  kOr,
  kNext,
  kUntil,
  kYesterday,
  kOnce,
  kSince,
};

/// True for operators over two formulas.
bool takes_two(TemporalOperator operation);

/// Every formula in these operators: the others are the duals of these, or short for them.
struct TemporalFormula {
  struct Node {
    TemporalOperator operation;
    std::uint32_t first = 0, second = 0;  ///< nodes; of a proposition `first` is its number
    bool has_future = false, has_past = false;
  };
  std::vector<Node> nodes;  ///< parts before what they are parts of; equal ones are one
  std::uint32_t root = 0;
  std::vector<std::string> propositions;  ///< in the order in which they are named
};

/// Throws InputError with the column; `what` is "ltlf" or "pltl". Throws LimitError past 10,000 different propositions
/// and temporal operators.
TemporalFormula parse_temporal(std::string_view text, std::string_view what);

}  // namespace krohn
