// simulate/many/ranked_samples.h — random words shared out over the ranks of a job, whole ones: each rank reads some of
// them, and what they say is added up.
#pragma once

#include <cstdint>
#include <functional>

#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/many/ranks.h"
#include "krohn/simulate/run/long_comparison.h"

namespace krohn {

/// `sample_from` (simulate/evaluate/lanes/sample.h), or the same on a device.
using SampleWords = std::function<SampleReport(std::uint64_t first, const Network& network, ArithmeticName arithmetic,
                                               const SampleOptions& options)>;

/// `sample`, each word by one of the ranks. Collective, with the same arguments on every rank but `here` and
/// `options.progress`. The report is on every rank, equal in every number to that of one process. Words are read in
/// rounds of about a second, between which the ranks meet: what one throws, all throw then. Sent: 40 bytes and 40 more
/// for every length, a rank and round.
SampleReport sample_on_ranks(Ranks& ranks, const Network& network, ArithmeticName arithmetic,
                             const SampleOptions& options, const SampleWords& here);

/// How many words a rank reads between two meetings: the ranks agree on it, and it grows until that takes a second.
class RoundLength {
 public:
  std::uint64_t words() const { return words_; }
  /// Collective: after a round that took this rank so many seconds.
  void adapt(Ranks& ranks, double seconds);

 private:
  std::uint64_t words_ = 64;
};

/// Reads a round of whole words of a comparison: as often LongComparison::read_piece, and ends where that ends. `here`
/// and `state` are the same on every rank, and `state` is at the beginning of a word. Collective; what `check` throws
/// on one rank, all throw, with the state as it was.
void compare_words_on_ranks(Ranks& ranks, const LongComparison& here, std::uint64_t words, LongComparisonState& state,
                            RoundLength& round, const std::function<void()>& check);

}  // namespace krohn
