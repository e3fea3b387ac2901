// simulate/many/ranks.h — the processes of one job, on one machine or many: all of them run the same steps, and meet in
// the functions of this interface. MPI is behind it where `mpirun` started the job (mpi_ranks.cpp), nothing else knows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/network/network.h"
#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {

/// Every function below that is neither const nor said to be otherwise is collective: all ranks call it, in the same
/// order.
class Ranks {
 public:
  using Bytes = std::vector<std::byte>;
  using Words = std::vector<std::uint32_t>;

  virtual ~Ranks() = default;
  virtual unsigned rank() const = 0;
  virtual unsigned size() const = 0;
  /// Processors that this rank has for itself, at least one.
  virtual unsigned processors() const = 0;
  /// The number of this rank among those of its machine.
  virtual unsigned number_on_machine() const = 0;

  /// Rank 0's bytes, for everybody; what the others give is not looked at. They may wait long, and do so asleep.
  virtual Bytes broadcast(Bytes bytes) = 0;
  /// Everybody's numbers, as many each, one rank's after another's.
  virtual std::vector<std::uint64_t> gather(std::span<const std::uint64_t> mine) = 0;
  /// Rank r is given to[r]; from[r] becomes what rank r gave to this one.
  virtual void exchange(std::span<const Words> to, std::vector<Words>& from) = 0;
  /// The composition of the maps of the ranks before this one: the identity on rank 0. Maps of as many states
  /// each, state ↦ state; composing them is associative, and their order matters.
  virtual std::vector<State> compose_before(std::span<const State> map) = 0;

  /// Sends a message from one rank to one other, without waiting. Not collective.
  virtual void send(unsigned to, Bytes bytes) = 0;
  struct Received {
    unsigned from = 0;
    Bytes bytes;
  };
  /// The next that somebody sent to this rank, if it is there; one rank's come in the order in which they were sent.
  /// Not collective.
  virtual std::optional<Received> receive() = 0;

  /// Ends all ranks with this status after a line on standard error: for what leaves no way to tell the others. Not
  /// collective.
  [[noreturn]] virtual void abort(int status, const std::string& why) = 0;
};

/// A job of one process, without MPI.
class OneRank final : public Ranks {
 public:
  unsigned rank() const override { return 0; }
  unsigned size() const override { return 1; }
  unsigned processors() const override;
  unsigned number_on_machine() const override { return 0; }
  Bytes broadcast(Bytes bytes) override { return bytes; }
  std::vector<std::uint64_t> gather(std::span<const std::uint64_t> mine) override { return {mine.begin(), mine.end()}; }
  void exchange(std::span<const Words> to, std::vector<Words>& from) override { from.assign(to.begin(), to.end()); }
  std::vector<State> compose_before(std::span<const State> map) override;
  /// There is nobody else.
  void send(unsigned, Bytes) override {}
  std::optional<Received> receive() override { return std::nullopt; }
  [[noreturn]] void abort(int status, const std::string& why) override;
};

/// Rank r's share of [begin, end): shares differ by at most one and are in the order of ranks.
struct Share {
  std::uint64_t begin = 0, end = 0;
};
Share share_of(std::uint64_t begin, std::uint64_t end, unsigned rank, unsigned size);

/// An exception of one rank in a form that another can throw.
struct RankFailure {
  enum class Kind : std::uint64_t { kNone, kInput, kLimit, kSystem, kInterrupted };
  Kind kind = Kind::kNone;
  std::string what;
};
/// Out of memory is a LimitError that names the rank.
RankFailure failure_of(const std::exception_ptr& thrown, unsigned rank);
[[noreturn]] void throw_again(const RankFailure& failure);

/// Does the work, which is not collective, on every rank; where it throws on some, all throw what the first of them
/// did (failure_of).
void together(Ranks& ranks, const std::function<void()>& work);

// The search of pairs (simulate/prove/pairs/pair_search.h) on the ranks of a job: pairs are owned by hash, and the
// frontier is expanded by all ranks in one order, so that the outcome is the same on any number of them.

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
