// simulate/check/certificate_lines.h — the lines of a certificate's file: its bits, the operations, the language.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "krohn/automata/formats/json.h"
#include "krohn/constructions/files/strict_json.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/arithmetic/arithmetic_name.h"
#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/check/recheck_arithmetic.h"
#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {

/// The bit pattern of a number of the format, as hexadecimal digits; −0 as +0. Integers in two's complement.
class CertificateBits {
 public:
  explicit CertificateBits(const ArithmeticName& arithmetic)
      : type_(arithmetic.integer()),
        format_(DeterministicArithmetic(to_string(arithmetic)).stored_format()),
        exponent_bits_(std::bit_width(static_cast<unsigned>(format_.greatest)) + 1),
        digits_(static_cast<std::size_t>(type_.bits > 0 ? type_.bits : exponent_bits_ + format_.digits) / 4) {}

  std::string write(const std::vector<double>& numbers) const {
    std::string text;
    if (!std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); }))
      throw InputError("a number that is remembered is not finite, which certificates do not write");
    for (const double number : numbers) text += fmt::format("{:0{}x}", bits_of(number), digits_);
    return text;
  }

  /// As many as there are.
  std::vector<double> read(const StrictJson& json) const { return read(json, json.text().size() / digits_); }
  std::vector<double> read(const StrictJson& json, std::size_t count) const {
    const std::string text = json.text();
    if (text.size() != count * digits_)
      throw InputError(json.place(),
                       fmt::format("expected the bits of {}, {} digits", counted(count, "number"), count * digits_));
    std::vector<double> numbers;
    for (std::size_t at = 0; at < text.size(); at += digits_) {
      std::uint64_t bits = 0;
      for (std::size_t i = at; i < at + digits_; ++i) {
        const char digit = text[i];
        if (!(digit >= '0' && digit <= '9') && !(digit >= 'a' && digit <= 'f'))
          throw InputError(json.place(), "expected lower-case hexadecimal digits");
        bits = bits << 4 | static_cast<std::uint64_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
      }
      numbers.push_back(number_of(bits, json.place()));
    }
    return numbers;
  }

 private:
  int fraction_bits() const { return format_.digits - 1; }

  std::uint64_t bits_of(double number) const {
    if (number == 0) return 0;
    if (type_.bits > 0)
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(number)) & ((std::uint64_t{1} << type_.bits) - 1);
    const std::uint64_t sign = std::uint64_t{std::signbit(number)} << (exponent_bits_ + fraction_bits());
    const int exponent = std::max(std::ilogb(number), format_.least);
    const auto fraction = static_cast<std::uint64_t>(std::ldexp(std::fabs(number), fraction_bits() - exponent));
    // A normal number's leading 1 is the 1 by which its exponent is above that of subnormal ones.
    return sign + (static_cast<std::uint64_t>(exponent - format_.least) << fraction_bits()) + fraction;
  }

  double number_of(std::uint64_t bits, const std::string& place) const {
    if (type_.bits > 0) {
      const bool is_negative = type_.is_signed && bits >> (type_.bits - 1) != 0;
      return static_cast<double>(bits) - (is_negative ? std::ldexp(1.0, type_.bits) : 0);
    }
    const std::uint64_t fraction = bits & ((std::uint64_t{1} << fraction_bits()) - 1);
    const int exponent = static_cast<int>(bits >> fraction_bits() & ((1U << exponent_bits_) - 1));
    const bool is_negative = bits >> (exponent_bits_ + fraction_bits()) != 0;
    if (exponent == (1 << exponent_bits_) - 1) throw InputError(place, "a number that is not finite");
    if (is_negative && exponent == 0 && fraction == 0) throw InputError(place, "−0, which is written as +0");
    const std::uint64_t digits = exponent == 0 ? fraction : fraction | std::uint64_t{1} << fraction_bits();
    const double number =
        std::ldexp(static_cast<double>(digits), std::max(exponent, 1) - 1 + format_.least - fraction_bits());
    return is_negative ? -number : number;
  }

  IntegerType type_;  ///< of no bits where there are no integers
  DeterministicArithmetic::Format format_;
  int exponent_bits_;
  std::size_t digits_;
};

constexpr const char* kFormat = "krohn.certificate";

constexpr const char* kClosedCodewords = "closed codewords";
constexpr const char* kReachableSet = "closed reachable set";
constexpr const char* kAnyOrder = "exact in any order";
constexpr const char* kFailingWord = "failing word";
constexpr const char* kSampledWords = "sampled";
constexpr const char* kLinearHorizon = "linear horizon";
constexpr const char* kClosedRegions = "closed regions";

constexpr const char* kOperationsForm = "operations";  ///< of the member `form`: the file says what is computed
constexpr const char* kLanguage = "language";          ///< of the member `against`: the file says what is right

/// `weights` and `automaton` of the claim. Of operations: the tensors that they name, and no automaton.
std::string hash_of_weights(const CheckedModel& model, const Operations* operations);
std::string hash_of_automaton(const CheckedModel& model);

/// As `parse_certificate`, which see.
Certificate read_certificate(const std::string& text, const std::string& where, const CheckedModel& model);

// The steps by which a certificate says what a model computes that is no network,
// and what is right where that is not the automaton of a network (docs/reference/certificate-file.md, "A language of
// its own", "Operations").

/// The version of a certificate, which is newer where an operation or the method is; null: about a network.
std::uint32_t version_of(const Operations* operations, const std::string& method);

std::vector<nlohmann::ordered_json> steps_of(const Operations& operations, const CertificateBits& bits);
/// `outputs`: of the network, or empty where answers are numbers of logits.
nlohmann::ordered_json step_of(const TrackedAutomaton& language, std::span<const std::string> outputs);

/// Takes the lines of all operations. Throws InputError naming the line.
Operations operations_of(const std::function<StrictJson()>& next_line, const CertificateBits& bits);
/// `alphabet`: the network's, whose letters these have to be; none: the file's own.
TrackedAutomaton language_of(const StrictJson& json, const Alphabet* alphabet, std::span<const std::string> outputs);

/// Returns a shortest word on which `language` is not what is tracked, wherever that asks. Letters and outputs
/// by name. Throws InputError when the letters differ.
std::optional<Word> word_against(const TrackedAutomaton& tracked, const Dfa& language, const std::string& name);

}  // namespace krohn
