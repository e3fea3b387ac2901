// simulate/many/ranked_search.h — the search of pairs (simulate/prove/pairs/pair_search.h) on the ranks of a job:
// pairs are owned by hash, and the frontier is expanded by all ranks in one order, so that the outcome is the same on
// any number of them.
#pragma once

#include <cstdint>
#include <string>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/many/ranks.h"
#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {

/// Where a search is kept, so that it can be gone on with, and what memory does not hold.
struct KeptSearch {
  std::string folder = {};  ///< simulate/many/pair_set.h; empty: nowhere, and the system's one for what is temporary
  double seconds = 60;      ///< between two commits
  /// Words of successors that a rank makes between two meetings: far more than a message's latency is worth, far less
  /// than memory. The outcome does not depend on it.
  std::uint64_t round_words = std::uint64_t{1} << 20;
  /// The most that a rank writes; 0: only what is committed, and the search ends with its memory.
  std::uint64_t max_disk_bytes = std::uint64_t{32} << 30;
};

/// Collective, with the same arguments on every rank but `options.progress`, which rank 0 is told. The certificate of
/// certify_reachable_set, equal in claim, counts, failing word and evidence, up to 2^64 pairs; on every rank the same.
/// `options.max_bytes` is for each rank; past it, pairs go to the disk (simulate/many/pair_set.h). A rank that cannot
/// allocate memory, or whose disk is full, stops the search as a limit does. With a folder the search goes on from what
/// that holds, and keeps itself there: at the latest after `seconds`, and when it ends. Throws InputError when the
/// folder holds more pairs than `options.max_pairs` or something else; LimitError when it is interrupted, or nothing is
/// proved within the memory; Interrupted; SystemError.
Certificate search_pairs_on_ranks(Ranks& ranks, const Network& network, const CertifyOptions& options,
                                  const KeptSearch& kept);

}  // namespace krohn
