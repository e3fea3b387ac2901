// simulate/prove/machine/certify_reader.h — proves that a machine tracks an automaton, or shows a word on which it does
// not.
#pragma once

#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/machine/reader_limits.h"
#include "krohn/simulate/run/letter_reader.h"

namespace krohn {

/// The *closed reachable set* of MATH.md §5: breadth-first search over pairs (automaton state, all that the machine
/// remembers). Proved for words of every length when the search ends, refuted by a shortest word, or proved up to the
/// last completed length when a limit is met; then try_long_words. The certificate's arithmetic is the caller's to
/// state.
Certificate certify_reader(const LetterReader& reader, const TrackedAutomaton& tracked, const ReaderLimits& limits);

/// Where no more than a length is proved: what find_failing_word finds refutes, without being shortest.
void try_long_words(Certificate& certificate, const LetterReader& reader, const TrackedAutomaton& tracked,
                    const ReaderLimits& limits);

}  // namespace krohn
