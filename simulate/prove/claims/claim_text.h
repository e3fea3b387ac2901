// simulate/prove/claims/claim_text.h — claims as sentences for people.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {

/// A shortest word with letters after which the certificate's language asks nothing, or which cannot stand there;
/// nothing where it asks about all: of such words a proof says nothing. O(states · letters).
std::optional<Word> shortest_word_not_asked(const Certificate& certificate);

/// "proved for words of every length", "refuted: wrong on "abb" (3 letters), and no shorter word fails", …
std::string claim_in_words(const Certificate& certificate, const Alphabet& alphabet);

/// The word, cut after about 60 characters with its length added; "the empty word" when it has no letters.
std::string quoted_word(const Alphabet& alphabet, std::span<const Letter> word);

/// "100,000,000".
std::string with_thousands(std::uint64_t count);

}  // namespace krohn
