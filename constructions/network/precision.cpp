#include "krohn/constructions/network/precision.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "krohn/groups/error.h"

namespace krohn {
namespace {

constexpr std::array<std::pair<Precision, std::string_view>, 4> kNames{
    {{Precision::kFp64, "fp64"}, {Precision::kFp32, "fp32"}, {Precision::kFp16, "fp16"}, {Precision::kBf16, "bf16"}}};

}  // namespace

std::string to_string(Precision precision) {
  return std::string(kNames.at(static_cast<std::size_t>(precision)).second);
}

Precision parse_precision(std::string_view name) {
  for (const auto& [precision, known] : kNames)
    if (known == name) return precision;
  throw InputError(fmt::format("unknown precision \"{}\"; use fp64, fp32, fp16 or bf16", name));
}

}  // namespace krohn
