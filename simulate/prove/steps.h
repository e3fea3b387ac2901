// simulate/prove/steps.h — what a checker needs beside a proof's outline: every tuple of labels, every pair, with what
// comes next. Proofs find these and do not keep them; files and self-checks need them.
#pragma once

#include <cstdint>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/run/letter_reader.h"

namespace krohn {

struct StepLimits {
  std::uint64_t max_steps = 1'000'000;
  std::uint64_t max_bytes = std::uint64_t{1} << 30;
};

/// The certificate with its steps listed (docs/reference/certificate-file.md); as it was where none are needed. Throws LimitError
/// past a limit. O(steps · letters · cost of a letter).
Certificate with_steps(Certificate certificate, const Network& network, const StepLimits& limits = {});
/// The same of what reads letters, whose memory is that of the certificate's operations in their format.
Certificate with_steps(Certificate certificate, const LetterReader& reader, const StepLimits& limits = {});

/// What is tracked, as certificates write it: the states that words lead to, in the order in which a breadth-first
/// search meets them, and at the end one to which none does, if any letter leads to such a state.
TrackedAutomaton language_to_write(const TrackedAutomaton& tracked);

/// The claim of a search of pairs or of a failing word, with what a file needs of it: the language, and its proof. As
/// it was where there is none (another claim, a word that was not kept).
void give_proof(Certificate& certificate, const LetterReader& reader, const TrackedAutomaton& tracked);

}  // namespace krohn
