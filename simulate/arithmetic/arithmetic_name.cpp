#include "krohn/simulate/arithmetic/arithmetic_name.h"

#include <fmt/format.h>

#include <vector>

#include "krohn/groups/base/error.h"

namespace krohn {

void ArithmeticName::refuse_accumulation_of(Precision storage) {
  throw InputError(fmt::format("{} is not accumulated in fp32; fp16 and bf16 are", to_string(storage)));
}

std::span<const ArithmeticName> ArithmeticName::all() {
  static constexpr std::array<ArithmeticName, 11> names{ArithmeticName(Precision::kFp64),
                                                        ArithmeticName(Precision::kFp32),
                                                        ArithmeticName(Precision::kFp16),
                                                        ArithmeticName(Precision::kBf16),
                                                        fused(Precision::kFp64),
                                                        fused(Precision::kFp32),
                                                        fused(Precision::kFp16),
                                                        fused(Precision::kBf16),
                                                        accumulated_in_fp32(Precision::kFp16),
                                                        accumulated_in_fp32(Precision::kBf16),
                                                        tf32()};
  return names;
}

ArithmeticName ArithmeticName::parse(std::string_view name) {
  if (name == to_string(exact())) return exact();
  std::string known;
  std::vector<ArithmeticName> others(all().begin(), all().end());
  others.insert(others.end(), kIntegerTypes.begin(), kIntegerTypes.end());
  for (const ArithmeticName arithmetic : others) {
    if (name == to_string(arithmetic)) return arithmetic;
    known += to_string(arithmetic) + ", ";
  }
  throw InputError(fmt::format("unknown arithmetic \"{}\"; use {}or exact", name, known));
}

std::string to_string(ArithmeticName name) {
  switch (name.kind()) {
    case ArithmeticName::Kind::kFused:
      return to_string(name.storage()) + "+fma";
    case ArithmeticName::Kind::kAccumulatedInFp32:
      return to_string(name.storage()) + "/fp32";
    case ArithmeticName::Kind::kTf32:
      return "tf32";
    case ArithmeticName::Kind::kExact:
      return "exact";
    case ArithmeticName::Kind::kInteger: {
      const IntegerType& type = name.integer();
      return fmt::format("{}{}{}", type.is_signed ? 'i' : 'u', type.bits, type.saturates ? "-saturating" : "");
    }
    default:
      return to_string(name.storage());
  }
}

}  // namespace krohn
