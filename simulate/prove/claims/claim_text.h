// simulate/prove/claims/claim_text.h — claims as sentences for people.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "krohn/automata/dfa/shown_word.h"
#include "krohn/groups/counted.h"
#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {

/// A shortest word with letters after which the certificate's language asks nothing, or which cannot stand there;
/// nothing where it asks about all: of such words a proof says nothing. O(states · letters).
std::optional<Word> shortest_word_not_asked(const Certificate& certificate);

/// "proved for words of every length", "refuted: wrong on "abb" (3 letters), and no shorter word fails", …
std::string claim_in_words(const Certificate& certificate, const Alphabet& alphabet);

}  // namespace krohn
