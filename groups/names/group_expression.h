// groups/names/group_expression.h — the syntax of group names: atoms, direct products, powers, wreath products.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace krohn {

/// "S3 x Z2^2" as a tree.
struct GroupExpression {
  enum class Kind : std::uint8_t { kAtom, kProduct, kPower, kWreath };
  Kind kind = Kind::kAtom;
  std::string atom;                    ///< of an atom, lower case: "s", "psl", "rubik"
  std::vector<std::uint64_t> numbers;  ///< an atom's parameters; the exponent of a power
  std::vector<GroupExpression> parts;  ///< two of products and wreath products, one of powers
};

/// Reads a name: `product := wreath (x wreath)*`, `wreath := power (wr power)*`, `power := atom (^ number)?`, `atom :=
/// ( product ) | letters number | letters ( number , number ) | rubik`. Case, spaces and "_" do not matter; "×" is x,
/// "≀" is wr. Throws InputError with the column and near misses.
GroupExpression parse_group_expression(std::string_view name);

}  // namespace krohn
