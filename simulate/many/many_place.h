// simulate/many/many_place.h — the ranks of a job as a place for long work (simulate/prove/place.h): rank 0 runs the
// command and asks; the others serve it until it says that it is done.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "krohn/simulate/many/ranked_check.h"
#include "krohn/simulate/many/ranked_list.h"
#include "krohn/simulate/many/ranked_samples.h"
#include "krohn/simulate/many/ranked_search.h"
#include "krohn/simulate/many/ranks.h"
#include "krohn/simulate/prove/place.h"
#include "krohn/simulate/run/long_comparison.h"

namespace krohn {

/// What floors above do on a rank.
struct RankService {
  /// Called now and then in long work; may throw Interrupted.
  std::function<void()> check = [] {};
  /// How this rank reads random words: on its device, or by its processors. Empty: sample_from.
  std::function<SampleWords(bool on_device)> sampler = {};
  /// Takes a command line as far as its list of this name, and calls `help` with the threads of that and what makes its
  /// lines. Throws where there is no such list, or it cannot be had here.
  using Help = std::function<void(unsigned threads, const LineOf& line_of)>;
  std::function<void(const std::vector<std::string>& arguments, const std::string& list, const Help& help)> take_list =
      {};
};

/// On rank 0: searches of pairs by all ranks, and tests by evaluation whose words are shared out.
class ManyPlace final : public ProvingPlace {
 public:
  /// `here`: how this rank reads random words, without it by sample_from; `on_device`: whether the others read them on
  /// devices.
  ManyPlace(Ranks& ranks, KeptSearch kept, SampleWords here = {}, bool on_device = false)
      : ranks_(ranks), kept_(std::move(kept)), here_(std::move(here)), on_device_(on_device) {}

  /// search_pairs_on_ranks; certify_reachable_set, which is faster, on one rank that has the memory for all pairs and
  /// keeps nothing.
  Certificate search_pairs(const Network& network, const CertifyOptions& options) const override;
  /// sample_on_ranks.
  SampleReport sample(const Network& network, ArithmeticName arithmetic, const SampleOptions& options) const override;

 private:
  Ranks& ranks_;
  KeptSearch kept_;
  SampleWords here_;
  bool on_device_;
};

/// On rank 0: an automaton made ready on all ranks to run slices of random words. `threads` on each; 0: the processors
/// that a rank has for itself. Throws LimitError naming a rank whose memory does not hold its tables.
RunSlice run_on_ranks(Ranks& ranks, const Dfa& dfa, unsigned threads);

/// A comparison whose words are read whole, each by one of the ranks.
struct SharedComparison {
  std::shared_ptr<const LongComparison> here;  ///< that of rank 0
  /// Some more words (compare_words_on_ranks); what is left of a word that was begun is read by rank 0. Precondition:
  /// the comparison is not done. `check` may throw Interrupted.
  std::function<void(LongComparisonState& state, const std::function<void()>& check)> read;
};

/// On rank 0, as run_on_ranks.
SharedComparison compare_on_ranks(Ranks& ranks, const Dfa& machine, const Dfa& automaton, std::uint64_t words,
                                  std::uint64_t length, std::uint64_t seed, unsigned threads);

/// On rank 0: recheck_on_ranks.
Recheck check_on_ranks(Ranks& ranks, const Certificate& certificate, const CheckedModel& model,
                       const RecheckOptions& options);

/// On rank 0, where the others find the list `name` in the command line `arguments`: work_on_list. Throws what one of
/// them throws while it looks for the list.
void list_on_ranks(Ranks& ranks, const std::vector<std::string>& arguments, const std::string& name,
                   const ListDuty& duty);

/// On every other rank: does what rank 0 asks until that calls `release`; gives the exit status that it says there.
int serve(Ranks& ranks, const RankService& service = {});

/// On rank 0: the others are no longer needed, and end with this status.
void release(Ranks& ranks, int status);

}  // namespace krohn
