// simulate/arithmetic/form.h — the two ways to multiply with a structured matrix.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace krohn {

/// Which form of A is multiplied with: the structured form (a permutation moves numbers, a reflection is two updates)
/// or the dense matrix derived from it. Where weights round, the two are different arithmetics of one network.
enum class Form : std::uint8_t { kStructured, kDense };

/// "structured", "dense".
std::string to_string(Form form);

/// Throws InputError listing the names.
Form parse_form(std::string_view name);

}  // namespace krohn
