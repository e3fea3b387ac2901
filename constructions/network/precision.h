// constructions/network/precision.h — the floating-point formats that a construction can be exact in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace krohn {

enum class Precision : std::uint8_t { kFp64, kFp32, kFp16, kBf16 };

/// "fp64", "fp32", "fp16", "bf16".
std::string to_string(Precision precision);

/// Throws InputError listing the names.
Precision parse_precision(std::string_view name);

}  // namespace krohn
