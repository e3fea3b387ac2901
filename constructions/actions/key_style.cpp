#include "krohn/constructions/actions/key_style.h"

#include <fmt/format.h>

#include "krohn/groups/error.h"

namespace krohn {

KeyStyle parse_key_style(std::string_view name) {
  if (name == "unit") return KeyStyle::kUnit;
  if (name == "unnormalised") return KeyStyle::kUnnormalised;
  if (name == "doubled") return KeyStyle::kDoubled;
  throw InputError("keys", fmt::format("\"{}\" is not one of unit, unnormalised, doubled", name));
}

}  // namespace krohn
