// simulate/many/many_place.h — the ranks of a job as a place for long work (simulate/prove/place.h): rank 0 runs the
// command and asks; the others serve it until it says that it is done.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "krohn/simulate/many/ranked_search.h"
#include "krohn/simulate/many/ranks.h"
#include "krohn/simulate/prove/place.h"
#include "krohn/simulate/run/long_comparison.h"

namespace krohn {

/// On rank 0: searches of pairs by all ranks. Tests by evaluation run here alone.
class ManyPlace final : public ProvingPlace {
 public:
  ManyPlace(Ranks& ranks, KeptSearch kept) : ranks_(ranks), kept_(std::move(kept)) {}

  /// search_pairs_on_ranks; certify_reachable_set, which is faster, on one rank that has the memory for all pairs and
  /// keeps nothing.
  Certificate search_pairs(const Network& network, const CertifyOptions& options) const override;

 private:
  Ranks& ranks_;
  KeptSearch kept_;
};

/// On rank 0: an automaton made ready on all ranks to run slices of random words. `threads` on each; 0: the processors
/// that a rank has for itself. Throws LimitError naming a rank whose memory does not hold its tables.
RunSlice run_on_ranks(Ranks& ranks, const Dfa& dfa, unsigned threads);

/// On every other rank: does what rank 0 asks until that calls `release`; gives the exit status that it says there.
/// `check` is called now and then and may throw Interrupted.
int serve(Ranks& ranks, const std::function<void()>& check);

/// On rank 0: the others are no longer needed, and end with this status.
void release(Ranks& ranks, int status);

}  // namespace krohn
