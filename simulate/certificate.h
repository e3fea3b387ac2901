// simulate/certificate.h — what is claimed about a network, and the evidence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "automata/alphabet.h"
#include "simulate/arithmetic_name.h"
#include "simulate/form.h"
#include "simulate/order.h"

namespace krohn {

enum class Claim : std::uint8_t {
  kProved,      ///< for words of every length
  kProvedUpTo,  ///< for words up to `length` letters
  kRefuted,     ///< by `failing_word`
  kSampled,     ///< no disagreement in `letters_tested` letters; not a proof
};

/// "proved", "proved up to a length", "refuted", "sampled".
std::string to_string(Claim claim);

/// The outcome of a verification, for one arithmetic and one evaluation order.
struct Certificate {
  Claim claim = Claim::kSampled;
  ArithmeticName arithmetic = Precision::kFp32;
  Form form = Form::kStructured;
  Order order{};
  bool every_association = false;    ///< with kProved: in every order that composes letters as maps (simulate/order.h)
  std::string method;                ///< "closed codewords", "closed reachable set", "sampled"
  std::string evidence;              ///< one sentence: what was checked and how much of it
  std::uint64_t length = 0;          ///< with kProvedUpTo
  std::uint64_t pairs = 0;           ///< (state, codeword) or (automaton state, network state) pairs examined
  std::optional<Word> failing_word;  ///< with kRefuted
  bool shortest = false;             ///< failing_word is a shortest one
  std::uint64_t letters_tested = 0;  ///< sampled letters, beside a proof too
  std::uint64_t seed = 0;            ///< of the sampled words
  std::string limit;                 ///< the limit that was met, when one was
};

/// One sentence for people: "proved for words of every length", "refuted: the word abab of 4 letters is read wrongly,
/// and no shorter one", …
std::string headline(const Certificate& certificate, const Alphabet& alphabet);

/// The certificate as a JSON object, two spaces of indentation; names are those of the members, the failing word is a
/// list of symbol names. What does not apply is left out.
std::string to_json(const Certificate& certificate, const Alphabet& alphabet);

}  // namespace krohn
