// simulate/arithmetic/arithmetic_name.h — which rounding a network runs in, as a value that people and files can name.
// The rounding of products and sums in each is written in simulate/arithmetic/arithmetic.h.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "krohn/constructions/network/network.h"

namespace krohn {

/// Integers of 8, 16 or 32 bits, signed ones in two's complement. What is no such integer wraps around, to the one that
/// is the same modulo 2^bits, or saturates, to the nearest one.
struct IntegerType {
  std::uint8_t bits = 0;
  bool is_signed = false, saturates = false;

  constexpr std::int64_t least() const { return is_signed ? -(std::int64_t{1} << (bits - 1)) : 0; }
  constexpr std::int64_t greatest() const { return (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1; }
  friend constexpr bool operator==(const IntegerType&, const IntegerType&) = default;
};

/// Those that wrap around, by bits and then by sign, before those that saturate.
inline constexpr auto kIntegerTypes = [] {
  std::array<IntegerType, 12> types;
  for (unsigned i = 0; i < types.size(); ++i)
    types[i] = {static_cast<std::uint8_t>(8 << i / 2 % 3), i % 2 == 1, i >= 6};
  return types;
}();

/// One of
///   fp64  fp32  fp16  bf16                  every product and every sum is rounded to the format separately
///   fp64+fma  fp32+fma  fp16+fma  bf16+fma  acc + a·b is rounded once
///   fp16/fp32  bf16/fp32                    storage/accumulation: weights and the numbers between letters are in the
///                                           first, the products and sums within a letter in fp32 (tensor cores)
///   tf32                                    fp32, but both operands of a product are cut to 11 significant bits
///   exact                                   rational numbers, nothing rounded (simulate/evaluate/exact_network.h)
///   u8  i8  u16  i16  u32  i32              integers that wrap around (simulate/arithmetic/rounded_operations.h)
///   u8-saturating  …  i32-saturating        the same, saturating
class ArithmeticName {
 public:
  enum class Kind : std::uint8_t { kSeparate, kFused, kAccumulatedInFp32, kTf32, kExact, kInteger };

  /// The format's own arithmetic, every product and every sum rounded separately.
  constexpr ArithmeticName(Precision storage) : storage_(storage) {}  // NOLINT: a format names its own arithmetic

  constexpr ArithmeticName(IntegerType type)  // NOLINT: likewise
      : storage_(Precision::kFp64), kind_(Kind::kInteger), integer_(type) {}

  static constexpr ArithmeticName fused(Precision storage) { return {storage, Kind::kFused}; }
  /// Throws InputError when the storage is not fp16 or bf16.
  static constexpr ArithmeticName accumulated_in_fp32(Precision storage) {
    if (storage != Precision::kFp16 && storage != Precision::kBf16) refuse_accumulation_of(storage);
    return {storage, Kind::kAccumulatedInFp32};
  }
  static constexpr ArithmeticName tf32() { return {Precision::kFp32, Kind::kTf32}; }
  static constexpr ArithmeticName exact() { return {Precision::kFp64, Kind::kExact}; }

  /// Throws InputError listing the names.
  static ArithmeticName parse(std::string_view name);

  /// Every floating-point arithmetic, in the order above; `exact` and the integers are none.
  static std::span<const ArithmeticName> all();

  /// The format of weights and of the numbers that are kept between letters. Not for `exact` and integers.
  constexpr Precision storage() const { return storage_; }
  constexpr Kind kind() const { return kind_; }
  constexpr bool is_exact() const { return kind_ == Kind::kExact; }

  constexpr bool is_integer() const { return kind_ == Kind::kInteger; }
  constexpr const IntegerType& integer() const { return integer_; }  ///< of no bits for all others

  friend constexpr bool operator==(const ArithmeticName&, const ArithmeticName&) = default;

 private:
  constexpr ArithmeticName(Precision storage, Kind kind) : storage_(storage), kind_(kind) {}
  [[noreturn]] static void refuse_accumulation_of(Precision storage);

  Precision storage_;
  Kind kind_ = Kind::kSeparate;
  IntegerType integer_;
};

/// "fp32", "bf16+fma", "fp16/fp32", "tf32", "exact", "u8", "i16-saturating".
std::string to_string(ArithmeticName name);

}  // namespace krohn
