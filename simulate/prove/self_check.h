// simulate/prove/self_check.h — a proof is held against the model once more, by other means, before it is believed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/network/network.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/run/letter_reader.h"

namespace krohn {

/// Words that meet every transition of the automaton (a shortest word to its state, then the letter), powers of short
/// words, and random words, each at most `longest` letters, `letters` of them in all, given to `read` one after
/// another until it says false.
void for_replayed_words(const Dfa& automaton, std::uint64_t letters, std::uint64_t longest,
                        const std::function<bool(const Word&)>& read);

/// The first such word on which the network does not follow its automaton in the certificate's arithmetic, form and
/// order, cut at its first wrong answer; nothing when all `letters` are right, or as many as two seconds allow, or half
/// of the time that is left. `letters_read` counts.
std::optional<Word> replay(const Network& network, const Certificate& certificate, std::uint64_t letters,
                           std::uint64_t& letters_read);
std::optional<Word> replay(const LetterReader& reader, const TrackedAutomaton& tracked, const Certificate& certificate,
                           std::uint64_t letters, std::uint64_t& letters_read);

}  // namespace krohn
