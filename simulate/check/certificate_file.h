// simulate/check/certificate_file.h — certificates as JSON files that name, by hash, the model they speak of; the
// members are in docs/reference/certificate-file.md.
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
#include "krohn/constructions/files/safetensors.h"
#include "krohn/constructions/files/strict_json.h"
#include "krohn/constructions/network/network.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/arithmetic/arithmetic_name.h"
#include "krohn/simulate/check/recheck_arithmetic.h"
#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {

/// The bit pattern of a number of the format, as hexadecimal digits; −0 as +0.
class CertificateBits {
 public:
  explicit CertificateBits(const ArithmeticName& arithmetic)
      : format_(DeterministicArithmetic(to_string(arithmetic)).stored_format()),
        exponent_bits_(std::bit_width(static_cast<unsigned>(format_.greatest)) + 1),
        digits_(static_cast<std::size_t>(exponent_bits_ + format_.digits) / 4) {}

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
      throw InputError(json.place(), fmt::format("expected the bits of {} numbers, {} digits", count, count * digits_));
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
    const std::uint64_t sign = std::uint64_t{std::signbit(number)} << (exponent_bits_ + fraction_bits());
    const int exponent = std::max(std::ilogb(number), format_.least);
    const auto fraction = static_cast<std::uint64_t>(std::ldexp(std::fabs(number), fraction_bits() - exponent));
    // A normal number's leading 1 is the 1 by which its exponent is above that of subnormal ones.
    return sign + (static_cast<std::uint64_t>(exponent - format_.least) << fraction_bits()) + fraction;
  }

  double number_of(std::uint64_t bits, const std::string& place) const {
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

  DeterministicArithmetic::Format format_;
  int exponent_bits_;
  std::size_t digits_;
};

/// The subject of a certificate: a network, or the tensors of another model, of which the certificate says what is
/// computed with them. Views either.
struct CheckedModel {
  CheckedModel(const Network& model) : network(&model) {}
  CheckedModel(const TensorFile& model) : tensors(&model) {}
  const Network* network = nullptr;
  const TensorFile* tensors = nullptr;
};

/// The file of a model that is named so: a network, or of a folder of `krohn train` or a checkpoint its tensors.
std::string file_of_model(const std::string& path);

/// The length that the file claims: that of a linear horizon, which may be less than what was proved.
std::uint64_t length_in_file(const Certificate& certificate);

/// The text of the file: one top-level member a line, a function of the content alone. Only what a re-checker can
/// establish is written; sentences for people are not. Throws InputError when the certificate has no proof to write: a
/// failing word that was too long to keep.
std::string format_certificate(const Certificate& certificate, const CheckedModel& model);

/// The inverse. Throws InputError, naming the place, when anything is missing, unknown, repeated or out of range, when
/// the method does not suit the claim, and when the hashes are not those of the model.
Certificate parse_certificate(const std::string& text, const std::string& where, const CheckedModel& model);

/// Writes the file whole or not at all. Throws as `format_certificate`, and SystemError.
void save_certificate(const Certificate& certificate, const CheckedModel& model, const std::string& path);

/// Throws as `parse_certificate`, and SystemError.
Certificate load_certificate(const std::string& path, const CheckedModel& model);

// The steps by which a certificate says what a model computes that is no network,
// and what is right where that is not the automaton of a network (docs/reference/certificate-file.md, "A language of
// its own", "Operations").

/// The version of a certificate, which is newer where an operation is; null: about a network.
std::uint32_t version_of(const Operations* operations);

std::vector<nlohmann::ordered_json> steps_of(const Operations& operations, const CertificateBits& bits);
/// `outputs`: of the network, or empty where answers are numbers of logits.
nlohmann::ordered_json step_of(const TrackedAutomaton& language, std::span<const std::string> outputs);

/// Takes the lines of all operations. Throws InputError naming the line.
Operations operations_of(const std::function<StrictJson()>& next_line, const CertificateBits& bits);
/// `alphabet`: the network's, whose letters these have to be; none: the file's own.
TrackedAutomaton language_of(const StrictJson& json, const Alphabet* alphabet, std::span<const std::string> outputs);

/// Whether `language` is what is tracked, wherever that asks: a shortest word on which it is not. Letters and outputs
/// by name. Throws InputError when the letters differ.
std::optional<Word> word_against(const TrackedAutomaton& tracked, const Dfa& language, const std::string& name);

}  // namespace krohn
