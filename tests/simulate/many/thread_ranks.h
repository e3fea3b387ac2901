// tests/simulate/many/thread_ranks.h — the ranks of a job as threads of this process, which meet at a barrier.
#pragma once

#include <sys/resource.h>

#include <barrier>
#include <csignal>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <variant>

#include "krohn/simulate/many/many_place.h"
#include "krohn/simulate/many/ranks.h"
#include "tests/simulate/hand_built.h"
#include "tests/simulate/proving.h"
#include "tests/testing.h"

namespace krohn::test {

/// State that the threads share.
class ThreadJob {
 public:
  explicit ThreadJob(unsigned size) : size(size), barrier(size), numbers(size), words(size), maps(size), mail(size) {}

  const unsigned size;
  std::barrier<> barrier;
  Ranks::Bytes bytes;
  std::vector<std::vector<std::uint64_t>> numbers;
  std::vector<std::vector<Ranks::Words>> words;
  std::vector<std::vector<State>> maps;
  std::mutex mail_mutex;
  std::vector<std::deque<Ranks::Received>> mail;  ///< by receiver
};

class ThreadRank final : public Ranks {
 public:
  ThreadRank(ThreadJob& job, unsigned rank) : job_(job), rank_(rank) {}

  unsigned rank() const override { return rank_; }
  unsigned size() const override { return job_.size; }
  unsigned processors() const override { return 1; }
  unsigned number_on_machine() const override { return rank_; }
  /// In exchanges, to other ranks.
  std::uint64_t bytes_sent() const { return sent_; }

  Bytes broadcast(Bytes bytes) override {
    if (rank_ == 0) job_.bytes = std::move(bytes);
    job_.barrier.arrive_and_wait();
    Bytes copy = job_.bytes;
    job_.barrier.arrive_and_wait();
    return copy;
  }

  std::vector<std::uint64_t> gather(std::span<const std::uint64_t> mine) override {
    job_.numbers[rank_].assign(mine.begin(), mine.end());
    job_.barrier.arrive_and_wait();
    std::vector<std::uint64_t> all;
    for (const auto& numbers : job_.numbers) all.insert(all.end(), numbers.begin(), numbers.end());
    job_.barrier.arrive_and_wait();
    return all;
  }

  void exchange(std::span<const Words> to, std::vector<Words>& from) override {
    job_.words[rank_].assign(to.begin(), to.end());
    for (unsigned rank = 0; rank < job_.size; ++rank)
      if (rank != rank_) sent_ += to[rank].size() * sizeof(std::uint32_t);
    job_.barrier.arrive_and_wait();
    from.clear();
    for (const auto& words : job_.words) from.push_back(words[rank_]);
    job_.barrier.arrive_and_wait();
  }

  std::vector<State> compose_before(std::span<const State> map) override {
    job_.maps[rank_].assign(map.begin(), map.end());
    job_.barrier.arrive_and_wait();
    std::vector<State> before(map.size());
    std::iota(before.begin(), before.end(), State{0});
    for (unsigned rank = 0; rank < rank_; ++rank)
      for (State& state : before) state = job_.maps[rank][state];
    job_.barrier.arrive_and_wait();
    return before;
  }

  void send(unsigned to, Bytes bytes) override {
    const std::lock_guard lock(job_.mail_mutex);
    job_.mail[to].push_back({rank_, std::move(bytes)});
  }
  std::optional<Received> receive() override {
    const std::lock_guard lock(job_.mail_mutex);
    if (job_.mail[rank_].empty()) return std::nullopt;
    Received received = std::move(job_.mail[rank_].front());
    job_.mail[rank_].pop_front();
    return received;
  }

  [[noreturn]] void abort(int, const std::string&) override { std::terminate(); }

 private:
  ThreadJob& job_;
  unsigned rank_;
  std::uint64_t sent_ = 0;
};

/// Runs `work` on every rank; throws what rank 0 threw. All ranks have to throw together, or none.
inline void on_ranks(unsigned size, const std::function<void(Ranks&)>& work) {
  ThreadJob job(size);
  std::exception_ptr thrown;
  std::vector<std::jthread> threads;
  for (unsigned rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      ThreadRank ranks(job, rank);
      try {
        work(ranks);
      } catch (...) {
        if (rank == 0) thrown = std::current_exception();
      }
    });
  threads.clear();
  if (thrown) std::rethrow_exception(thrown);
}

/// Rank 0 works; the others serve it, with what `service` gives them, until they are released with its status.
inline void on_served_ranks(unsigned size, const std::function<void(Ranks&)>& work,
                            const std::function<RankService(const Ranks&)>& service = {}) {
  constexpr int kStatus = 5;
  on_ranks(size, [&](Ranks& ranks) {
    if (ranks.rank() == 0) {
      work(ranks);
      release(ranks, kStatus);
    } else if (serve(ranks, service ? service(ranks) : RankService{}) != kStatus) {
      std::terminate();
    }
  });
}

// Searches of pairs on threads as ranks, and all that is said of one.

/// Everything that is said of a search.
inline std::string text_of(const Certificate& certificate) {
  std::string text = to_string(certificate.claim) + "; " + certificate.evidence + "; limit: " + certificate.limit +
                     "; pairs: " + std::to_string(certificate.pairs) +
                     "; length: " + std::to_string(certificate.length());
  if (const Word* word = certificate.failing_word())
    for (const Letter letter : *word) text += " " + std::to_string(letter);
  if (const auto* run = std::get_if<FailingRun>(&certificate.proof))
    text += "; " + std::to_string(run->expected) + " given " + (run->given ? std::to_string(*run->given) : "none");
  if (const auto* pairs = std::get_if<ReachedPairs>(&certificate.proof))
    text += "; " + std::to_string(pairs->pairs) + " by depth " + std::to_string(pairs->depth);
  return text;
}

/// The result on rank 0, after a check that the others have the same.
inline std::string search(unsigned size, const Network& network, const CertifyOptions& options,
                          const KeptSearch& kept) {
  std::string text;
  on_ranks(size, [&](Ranks& ranks) {
    CertifyOptions mine = options;
    if (ranks.rank() != 0) mine.progress = {};
    const Certificate certificate = search_pairs_on_ranks(ranks, network, mine, kept);
    const std::uint64_t hash[] = {std::hash<std::string>()(text_of(certificate))};
    for (const std::uint64_t other : ranks.gather(hash))
      if (ranks.rank() == 0) CHECK(other == hash[0]);
    if (ranks.rank() == 0) text = text_of(certificate);
  });
  return text;
}

// A full disk, without one.

/// No file of this process grows past so many bytes while this lives: the system refuses the write, as a full disk
/// does.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit less{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &less);
  }
  ~SmallFiles() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = SIG_DFL;
};

/// Parity beside an automaton that is wrong after the first run of `ones` ones.
struct Compared {
  Dfa automaton, machine;
};
inline Compared wrong_after(State ones) {
  std::vector<State> table;
  for (State run = 0; run <= ones; ++run)
    for (State letter = 0; letter < 2; ++letter) table.push_back(run == ones ? ones : letter == 1 ? run + 1 : 0);
  std::vector<Output> outputs(ones + 1, 0);
  outputs[ones] = 1;
  const Dfa one = hand_built::automaton(2, {0, 0});
  return {one, Dfa::moore(one.alphabet(), table, 0, outputs, {"0", "1"})};
}

}  // namespace krohn::test
