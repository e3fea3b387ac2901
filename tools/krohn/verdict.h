// tools/krohn/verdict.h — a certificate in words, for programs, and as an exit status.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {

/// "proved for words of every length", "refuted: wrong on "abb", a shortest such word", …
std::string claim_in_words(const Certificate& certificate, const Alphabet& alphabet);

/// The word, visible, cut after about 60 letters with its length added; "the empty word" when it has no letters.
std::string quoted_word(const Alphabet& alphabet, std::span<const Letter> word);

/// What `--json` says of an outcome: the claim, how far it goes and what was examined. What a re-checker needs is in
/// the certificate file (simulate/check/certificate_file.h).
nlohmann::ordered_json verdict_to_json(const Certificate& certificate, const Alphabet& alphabet);

/// 0 when proved (or up to at least `wanted_length` letters, when that is not 0), 1 when refuted, 3 otherwise.
int exit_status(const Certificate& certificate, std::uint64_t wanted_length);

}  // namespace krohn
