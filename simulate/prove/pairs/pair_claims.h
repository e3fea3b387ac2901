// simulate/prove/pairs/pair_claims.h — the certificates that a breadth-first search over (automaton state, network
// state) ends with, wherever it ran.
#pragma once

#include <cstdint>
#include <string>

#include "krohn/simulate/prove/claims/certify_options.h"

namespace krohn {

/// All words reach these pairs, by words of at most `depth` letters.
Certificate proved_by_pairs(const CertifyOptions& options, std::uint64_t pairs, std::uint64_t depth);

/// The word is a shortest one that is read wrongly; `pairs` were found by then.
Certificate refuted_by_pairs(const CertifyOptions& options, std::uint64_t pairs, Word word, const FailingRun& run);

/// All words of fewer than `length` letters reach the first `complete` pairs; then the search met `limit`.
Certificate proved_up_to_depth(const CertifyOptions& options, std::uint64_t pairs, std::uint64_t length,
                               std::uint64_t complete, std::string limit);

}  // namespace krohn
