// simulate/arithmetic/arithmetic_name.h — which rounding a network runs in, as a value that people and files can name.
// The rounding of products and sums in each is written in simulate/arithmetic/arithmetic.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "krohn/constructions/network/network.h"

namespace krohn {

/// One of
///   fp64  fp32  fp16  bf16                  every product and every sum is rounded to the format separately
///   fp64+fma  fp32+fma  fp16+fma  bf16+fma  acc + a·b is rounded once
///   fp16/fp32  bf16/fp32                    storage/accumulation: weights and the numbers between letters are in the
///                                           first, the products and sums within a letter in fp32 (tensor cores)
///   tf32                                    fp32, but both operands of a product are cut to 11 significant bits
///   exact                                   rational numbers, nothing rounded (simulate/evaluate/exact_network.h)
class ArithmeticName {
 public:
  enum class Kind : std::uint8_t { kSeparate, kFused, kAccumulatedInFp32, kTf32, kExact };

  /// The format's own arithmetic, every product and every sum rounded separately.
  constexpr ArithmeticName(Precision storage) : storage_(storage) {}  // NOLINT: a format names its own arithmetic

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

  /// Every floating-point arithmetic, in the order above; `exact` is not one.
  static std::span<const ArithmeticName> all();

  /// The format of weights and of the numbers that are kept between letters. Not for `exact`.
  constexpr Precision storage() const { return storage_; }
  constexpr Kind kind() const { return kind_; }
  constexpr bool is_exact() const { return kind_ == Kind::kExact; }

  friend constexpr bool operator==(const ArithmeticName&, const ArithmeticName&) = default;

 private:
  constexpr ArithmeticName(Precision storage, Kind kind) : storage_(storage), kind_(kind) {}
  [[noreturn]] static void refuse_accumulation_of(Precision storage);

  Precision storage_;
  Kind kind_ = Kind::kSeparate;
};

/// "fp32", "bf16+fma", "fp16/fp32", "tf32", "exact".
std::string to_string(ArithmeticName name);

}  // namespace krohn
