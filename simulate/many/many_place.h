// simulate/many/many_place.h — the ranks of a job as a place for long work (simulate/prove/place.h): rank 0 runs the
// command and asks; the others serve it until it says that it is done.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "krohn/simulate/check/recheck.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/many/ranks.h"
#include "krohn/simulate/prove/place.h"
#include "krohn/simulate/run/long_comparison.h"
#include "krohn/simulate/run/run_dfa.h"
#include "krohn/simulate/shards/part_file.h"
#include "krohn/simulate/words/word.h"

namespace krohn {

/// `recheck`, with the same finding. Collective, with the same arguments on every rank: `options` are for the whole
/// certificate. Established means that every rank said so of its share. Throws on all ranks what one threw.
Recheck recheck_on_ranks(Ranks& ranks, const Certificate& certificate, const CheckedModel& model,
                         const RecheckOptions& options);

// A list worked through by the ranks of a job: rank 0 hands items out as ranks become
// free, and is given their lines.

/// Rank 0's part of a list.
struct ListDuty {
  std::span<const std::uint64_t> items;
  unsigned threads = 0;  ///< of this rank; 0: the processors that it has for itself
  LineOf line_of;
  /// Is given every line, from any rank, in the order in which they come, in the thread that called.
  std::function<void(std::uint64_t item, const std::string& line)> keep;
  /// Is told now and then how many lines there are; may throw Interrupted.
  std::function<void(std::uint64_t lines)> tell;
};

/// On rank 0, while all others are in `help_with_list`. A rank has as many items at a time as keep its threads busy for
/// a fraction of what is left: one for each thread where items are few, so that none waits behind a long one. When
/// anything throws, on any rank, items that are under way are finished and kept, no others are begun, and then it is
/// thrown here (failure_of). Sent: 8 bytes an item and its line.
void work_on_list(Ranks& ranks, const ListDuty& duty);

/// On every other rank, until rank 0 has all lines. `line_of` gives every item the line that it has on rank 0. `check`
/// is called now and then and may throw Interrupted. An interrupt on rank 0 is one here, too
/// (groups/base/time_limit.h).
void help_with_list(Ranks& ranks, unsigned threads, const LineOf& line_of, const std::function<void()>& check);

// Random words shared out over the ranks of a job, whole ones: each rank reads some of
// them, and what they say is added up.

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

// One long word cut over the ranks of a job: each makes and reads its own share, and
// what the shares do to all states is composed in their order.

/// Where letters [first, first + length) of the word lead from `from`. Collective, with the same arguments on every
/// rank: Runner::run, word for word. Shares whose maps cannot be had about as fast as one state is run (Runner::effect)
/// are read by rank 0 alone. Sent: a map of the automaton's states over each step of MPI_Exscan, and 8 bytes.
State run_on_ranks(Ranks& ranks, const Runner& runner, const RandomWord& word, std::uint64_t first,
                   std::uint64_t length, State from);

/// The work of higher floors on a rank.
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
  std::shared_ptr<const LongComparison> here;  ///< the comparison of rank 0
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
