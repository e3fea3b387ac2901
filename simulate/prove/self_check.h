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

// The evidence that a checker needs beside a proof's outline: every tuple of labels, every pair, with what
// comes next. Proofs find these and do not keep them; files and self-checks need them.

struct StepLimits {
  std::uint64_t max_steps = 1'000'000;
  std::uint64_t max_bytes = std::uint64_t{1} << 30;
};

/// The certificate with its steps listed (docs/reference/certificate-file.md); as it was where none are needed. Throws
/// LimitError past a limit. O(steps · letters · cost of a letter).
Certificate with_steps(Certificate certificate, const Network& network, const StepLimits& limits = {});
/// The same of what reads letters, whose memory is that of the certificate's operations in their format.
Certificate with_steps(Certificate certificate, const LetterReader& reader, const StepLimits& limits = {});

/// The tracked states, as certificates write them: the states that words lead to, in the order in which a breadth-first
/// search meets them, and at the end one to which none does, if any letter leads to such a state.
TrackedAutomaton language_to_write(const TrackedAutomaton& tracked);

/// The claim of a search of pairs or of a failing word, with what a file needs of it: the language, and its proof. As
/// it was where there is none (another claim, a word that was not kept).
void give_proof(Certificate& certificate, const LetterReader& reader, const TrackedAutomaton& tracked);

}  // namespace krohn
