// simulate/check/recheck_arithmetic.h — the operations of every arithmetic, each exact first and then rounded once.
// Written for the re-checker of certificates alone: it shares no code with simulate/arithmetic/arithmetic.h.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace krohn {

// Cosines of fractions of a turn for the re-checker of certificates alone: enclosed
// between integers, so that neither the C library nor constructions/network/matrix.h has a say in a weight.

/// The number of `digits` significant bits, fewer below 2^least_exponent, that is nearest to cos(2π·p/q); |p| and q are
/// at most 2^58 and q > 0.
double nearest_cosine(std::int64_t p, std::int64_t q, int digits, int least_exponent);

/// Thrown by the checks: the reason why a certificate is not established.
struct NotEstablished {
  std::string reason;
};

/// The reason where operations meet infinity.
inline constexpr const char* kNotFinite = "a number is not finite";

inline void require(bool holds, std::string_view reason) {
  if (!holds) throw NotEstablished{std::string(reason)};
}
/// The same, the reason being put into words where it is needed: of one of very many items.
template <std::invocable Reason>
void require(bool holds, const Reason& reason) {
  if (!holds) throw NotEstablished{reason()};
}

// Numbers m · 2^e, added and multiplied exactly or not at all. For the re-checker
// alone.

/// m odd, or 0 · 2^0. Results of more than 62 digits are refused: no format has so many, so they would round.
class RecheckedDyadic {
 public:
  RecheckedDyadic() = default;
  explicit RecheckedDyadic(double number) {
    require(std::isfinite(number), "a number is not finite");
    int exponent = 0;
    const double fraction = std::frexp(number, &exponent);
    *this = made(static_cast<Wide>(std::ldexp(fraction, 53)), exponent - 53);
  }
  static RecheckedDyadic power_of_two(int exponent) { return made(1, exponent); }

  bool is_zero() const { return digits_ == 0; }
  /// The greatest power of two that divides it; not of 0.
  int grain() const { return exponent_; }
  RecheckedDyadic absolute() const { return made(digits_ < 0 ? -Wide{digits_} : Wide{digits_}, exponent_); }

  friend bool operator==(const RecheckedDyadic&, const RecheckedDyadic&) = default;
  friend RecheckedDyadic operator-(const RecheckedDyadic& a) { return made(-Wide{a.digits_}, a.exponent_); }
  friend RecheckedDyadic operator*(const RecheckedDyadic& a, const RecheckedDyadic& b) {
    return made(Wide{a.digits_} * b.digits_, a.exponent_ + b.exponent_);
  }
  friend RecheckedDyadic operator+(const RecheckedDyadic& a, const RecheckedDyadic& b) {
    if (a.is_zero() || b.is_zero()) return a.is_zero() ? b : a;
    if (a.exponent_ > b.exponent_) return b + a;
    const int shift = b.exponent_ - a.exponent_;
    require(shift < 63, "a sum would need too many digits");
    return made(Wide{a.digits_} + (Wide{b.digits_} << shift), a.exponent_);
  }
  friend bool operator<(const RecheckedDyadic& a, const RecheckedDyadic& b) {
    if ((a.digits_ < 0) != (b.digits_ < 0) || a.is_zero() || b.is_zero()) return a.digits_ < b.digits_;
    if (a.top() != b.top()) return (a.top() < b.top()) != (a.digits_ < 0);
    return (a + -b).digits_ < 0;
  }
  friend bool operator<=(const RecheckedDyadic& a, const RecheckedDyadic& b) { return !(b < a); }

 private:
  __extension__ typedef __int128 Wide;

  static RecheckedDyadic made(Wide digits, int exponent) {
    RecheckedDyadic made;
    if (digits == 0) return made;
    for (; digits % 2 == 0; digits /= 2) ++exponent;
    require((digits < 0 ? -digits : digits) < Wide{1} << 62, "a number has too many digits");
    made.digits_ = static_cast<std::int64_t>(digits);
    made.exponent_ = exponent;
    return made;
  }

  /// |a| is at least 2^(top − 1) and below 2^top; not for 0.
  int top() const {
    return exponent_ + static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::llabs(digits_))));
  }

  std::int64_t digits_ = 0;
  int exponent_ = 0;
};

/// RecheckedNumbers are doubles that hold values of the format.
class DeterministicArithmetic {
 public:
  /// "fp64", "fp32", "fp16", "bf16", these with "+fma", "fp16/fp32", "bf16/fp32", "tf32"; "u8", "i8", "u16", "i16",
  /// "u32", "i32", these with "-saturating". Throws InputError.
  explicit DeterministicArithmetic(const std::string& name);

  /// A weight as it is stored: rounded once, ties to even. Of integers the weight itself; throws NotEstablished where
  /// it is none of theirs.
  double weight(long double value) const;
  /// The weights cos and sin of 2π·p/q, |p| and q at most 2^56.
  double cosine(std::int64_t p, std::int64_t q) const;
  double sine(std::int64_t p, std::int64_t q) const { return cosine(4 * p - q, 4 * q); }
  double product(double a, double b) const;
  double sum(double a, double b) const;
  /// sum + a · b: one rounding when the arithmetic is fused or of integers, otherwise two.
  double sum_of_product(double sum, double a, double b) const;
  /// The part of a number that is kept between two letters.
  double store(double value) const;

  /// p significant bits; normal numbers from 2^least to below 2^(greatest + 1).
  struct Format {
    int digits = 0, least = 0, greatest = 0;
    friend bool operator==(const Format&, const Format&) = default;
  };
  const Format& stored_format() const { return stored_; }
  /// The one format that everything is rounded to; nothing where there are several.
  std::optional<Format> only_format() const {
    return stored_ == summed_ && factor_.digits == 0 && !has_integers() ? std::optional(stored_) : std::nullopt;
  }
  bool has_integers() const { return integers_.bits > 0; }

 private:
  __extension__ typedef __int128 Wide;
  struct Integers {
    int bits = 0;  ///< 0: no integers
    bool is_signed = false, saturates = false;
  };

  static Format format_of(const std::string& name);
  bool read_integers(const std::string& name);
  double brought_to_type(Wide exact) const;
  static double rounded(double value, const Format& format);

  Format stored_, summed_, factor_;  ///< factor_ has no digits when factors are taken as they are
  bool fused_ = false;
  Integers integers_;
};

}  // namespace krohn
