// constructions/actions/key_style.h — how the reflections of a permutation are written (MATH.md §5).
#pragma once

#include <cstdint>
#include <string_view>

namespace krohn {

enum class KeyStyle : std::uint8_t {
  kUnit,          ///< (e_i − e_j)/√2, β = 2: the paper's; not exact
  kUnnormalised,  ///< e_i − e_j, β = 1: exact in every precision
  kDoubled,       ///< ½(e_i − e_j + e_{n+i} − e_{n+j}), β = 2: exact even when a framework L2-normalises the key
};

/// "unit", "unnormalised", "doubled". Throws InputError listing the names.
KeyStyle parse_key_style(std::string_view name);

}  // namespace krohn
