// The ranks that `mpirun` started. A module of its own (krohn_mpi), loaded only under mpirun: whoever works on one
// machine neither needs MPI nor waits for it to be loaded.

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdio>
#include <list>
#include <new>
#include <numeric>
#include <thread>

#include "krohn/simulate/many/ranks.h"

/// Initialises MPI; the one who deletes the ranks finalises it. Once in a process.
extern "C" krohn::Ranks* krohn_join_mpi_ranks();

namespace krohn {
namespace {

/// The operation of MPI_Exscan: the maps of lower ranks come first. A value is one map, whole, as the data type says.
void compose(void* before, void* map, int* count, MPI_Datatype* type) {
  int bytes = 0;
  MPI_Type_size(*type, &bytes);
  const std::size_t states = static_cast<std::size_t>(bytes) / sizeof(State);
  for (int i = 0; i < *count; ++i) {
    const std::span<const State> f(static_cast<const State*>(before) + i * states, states);
    const std::span<State> g(static_cast<State*>(map) + i * states, states);
    const std::vector<State> second(g.begin(), g.end());
    for (std::size_t state = 0; state < states; ++state) g[state] = second[f[state]];
  }
}

class MpiRanks final : public Ranks {
 public:
  MpiRanks() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rank_ = static_cast<unsigned>(rank);
    size_ = static_cast<unsigned>(size);
    MPI_Op_create(compose, /*commute=*/0, &compose_);
    look_at_machine();
  }
  ~MpiRanks() override {
    for (Sent& sent : sent_) MPI_Wait(&sent.request, MPI_STATUS_IGNORE);
    MPI_Op_free(&compose_);
    MPI_Finalize();
  }

  unsigned rank() const override { return rank_; }
  unsigned size() const override { return size_; }
  unsigned processors() const override { return processors_; }
  unsigned number_on_machine() const override { return number_on_machine_; }

  Bytes broadcast(Bytes bytes) override {
    std::uint64_t size = bytes.size();
    // The others wait while rank 0 works alone: they look now and then instead of spinning.
    MPI_Request request;
    MPI_Ibcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD, &request);
    for (auto nap = std::chrono::microseconds(1);; nap = std::min(2 * nap, kLongestNap)) {
      int done = 0;
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (done != 0) break;
      std::this_thread::sleep_for(nap);
    }
    with_memory([&] { bytes.resize(size); });
    for (std::uint64_t first = 0; first < size; first += kPiece) {
      const int count = static_cast<int>(std::min<std::uint64_t>(kPiece, size - first));
      MPI_Bcast(bytes.data() + first, count, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    return bytes;
  }

  std::vector<std::uint64_t> gather(std::span<const std::uint64_t> mine) override {
    std::vector<std::uint64_t> all;
    with_memory([&] { all.resize(mine.size() * size_); });
    const int count = static_cast<int>(mine.size());
    MPI_Allgather(mine.data(), count, MPI_UINT64_T, all.data(), count, MPI_UINT64_T, MPI_COMM_WORLD);
    return all;
  }

  void exchange(std::span<const Words> to, std::vector<Words>& from) override {
    with_memory([&] {
      from.resize(size_);
      sizes_to_.assign(size_, 0);
      sizes_from_.assign(size_, 0);
      requests_.clear();
      requests_.reserve(2 * std::size_t{size_});
    });
    for (unsigned rank = 0; rank < size_; ++rank) {
      if (to[rank].size() > INT_MAX) abort(kUndecided, "a message between ranks is too long; take more ranks");
      sizes_to_[rank] = static_cast<int>(to[rank].size());
    }
    MPI_Alltoall(sizes_to_.data(), 1, MPI_INT, sizes_from_.data(), 1, MPI_INT, MPI_COMM_WORLD);
    with_memory([&] {
      for (unsigned rank = 0; rank < size_; ++rank) from[rank].resize(static_cast<std::size_t>(sizes_from_[rank]));
      from[rank_] = to[rank_];
    });
    // Every rank begins with another one.
    for (unsigned i = 1; i < size_; ++i) {
      const unsigned source = (rank_ + size_ - i) % size_;
      if (sizes_from_[source] == 0) continue;
      MPI_Irecv(from[source].data(), sizes_from_[source], MPI_UINT32_T, static_cast<int>(source), 0, MPI_COMM_WORLD,
                &requests_.emplace_back());
    }
    for (unsigned i = 1; i < size_; ++i) {
      const unsigned target = (rank_ + i) % size_;
      if (sizes_to_[target] == 0) continue;
      MPI_Isend(to[target].data(), sizes_to_[target], MPI_UINT32_T, static_cast<int>(target), 0, MPI_COMM_WORLD,
                &requests_.emplace_back());
    }
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

  std::vector<State> compose_before(std::span<const State> map) override {
    std::vector<State> before;
    with_memory([&] { before.resize(map.size()); });
    MPI_Datatype type;
    MPI_Type_contiguous(static_cast<int>(map.size()), MPI_UINT32_T, &type);
    MPI_Type_commit(&type);
    MPI_Exscan(map.data(), before.data(), 1, type, compose_, MPI_COMM_WORLD);
    MPI_Type_free(&type);
    if (rank_ == 0) std::iota(before.begin(), before.end(), State{0});
    return before;
  }

  void send(unsigned to, Bytes bytes) override {
    if (bytes.size() > INT_MAX) abort(kUndecided, "a message between ranks is too long");
    with_memory([&] { sent_.push_back({std::move(bytes), MPI_REQUEST_NULL}); });
    Sent& sent = sent_.back();
    MPI_Isend(sent.bytes.data(), static_cast<int>(sent.bytes.size()), MPI_BYTE, static_cast<int>(to), kTag,
              MPI_COMM_WORLD, &sent.request);
  }

  std::optional<Received> receive() override {
    std::erase_if(sent_, [](Sent& sent) {
      int done = 0;
      MPI_Test(&sent.request, &done, MPI_STATUS_IGNORE);
      return done != 0;
    });
    int is_there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &is_there, &status);
    if (is_there == 0) return std::nullopt;
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    Received received{static_cast<unsigned>(status.MPI_SOURCE), {}};
    with_memory([&] { received.bytes.resize(static_cast<std::size_t>(size)); });
    MPI_Recv(received.bytes.data(), size, MPI_BYTE, status.MPI_SOURCE, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return received;
  }

  [[noreturn]] void abort(int status, const std::string& why) override {
    std::fprintf(stderr, "krohn: %s\n", why.c_str());
    std::fflush(nullptr);
    MPI_Abort(MPI_COMM_WORLD, status);
    std::_Exit(status);
  }

 private:
  static constexpr int kUndecided = 3;
  static constexpr int kTag = 1;  ///< of what is sent to one rank; exchanges have 0
  static constexpr std::uint64_t kPiece = std::uint64_t{1} << 30;
  static constexpr std::chrono::microseconds kLongestNap{2000};

  /// Between two halves of a meeting nobody can be told that this rank has no memory for it.
  template <class Work>
  void with_memory(Work&& work) {
    try {
      work();
    } catch (const std::bad_alloc&) {
      abort(kUndecided, "rank " + std::to_string(rank_) + " is out of memory; take more machines");
    }
  }

  /// The processors that this rank may run on, shared fairly with the ranks of this machine that may run on the same;
  /// and its number among these.
  void look_at_machine() {
    MPI_Comm machine;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    int ranks = 1, number = 0;
    MPI_Comm_size(machine, &ranks);
    MPI_Comm_rank(machine, &number);
    number_on_machine_ = static_cast<unsigned>(number);
    cpu_set_t mask;
    CPU_ZERO(&mask);
    const bool is_known = sched_getaffinity(0, sizeof mask, &mask) == 0;
    std::vector<cpu_set_t> masks(static_cast<std::size_t>(ranks));
    MPI_Allgather(&mask, sizeof mask, MPI_BYTE, masks.data(), sizeof mask, MPI_BYTE, machine);
    MPI_Comm_free(&machine);
    if (!is_known) return;
    const auto sharers = std::ranges::count_if(masks, [&](const cpu_set_t& other) { return CPU_EQUAL(&mask, &other); });
    processors_ = std::max(1u, static_cast<unsigned>(CPU_COUNT(&mask)) / static_cast<unsigned>(sharers));
  }

  struct Sent {
    Bytes bytes;
    MPI_Request request;
  };

  unsigned rank_ = 0, size_ = 1, processors_ = 1, number_on_machine_ = 0;
  MPI_Op compose_ = MPI_OP_NULL;
  std::vector<int> sizes_to_, sizes_from_;
  std::vector<MPI_Request> requests_;
  std::list<Sent> sent_;  ///< until they are on their way
};

}  // namespace
}  // namespace krohn

krohn::Ranks* krohn_join_mpi_ranks() { return new krohn::MpiRanks; }
