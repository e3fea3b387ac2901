#include "krohn/simulate/many/mpi_ranks.h"

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdio>
#include <new>
#include <numeric>
#include <thread>

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
    processors_ = count_processors();
  }
  ~MpiRanks() override {
    MPI_Op_free(&compose_);
    MPI_Finalize();
  }

  unsigned rank() const override { return rank_; }
  unsigned size() const override { return size_; }
  unsigned processors() const override { return processors_; }

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

  [[noreturn]] void abort(int status, const std::string& why) override {
    std::fprintf(stderr, "krohn: %s\n", why.c_str());
    std::fflush(nullptr);
    MPI_Abort(MPI_COMM_WORLD, status);
    std::_Exit(status);
  }

 private:
  static constexpr int kUndecided = 3;
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

  /// The processors that this rank may run on, shared fairly with the ranks of this machine that may run on the same.
  static unsigned count_processors() {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    if (sched_getaffinity(0, sizeof mask, &mask) != 0) return 1;
    MPI_Comm machine;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    int ranks = 1;
    MPI_Comm_size(machine, &ranks);
    std::vector<cpu_set_t> masks(static_cast<std::size_t>(ranks));
    MPI_Allgather(&mask, sizeof mask, MPI_BYTE, masks.data(), sizeof mask, MPI_BYTE, machine);
    MPI_Comm_free(&machine);
    const auto sharers = std::ranges::count_if(masks, [&](const cpu_set_t& other) { return CPU_EQUAL(&mask, &other); });
    return std::max(1u, static_cast<unsigned>(CPU_COUNT(&mask)) / static_cast<unsigned>(sharers));
  }

  unsigned rank_ = 0, size_ = 1, processors_ = 1;
  MPI_Op compose_ = MPI_OP_NULL;
  std::vector<int> sizes_to_, sizes_from_;
  std::vector<MPI_Request> requests_;
};

}  // namespace
}  // namespace krohn

krohn::Ranks* krohn_join_mpi_ranks() { return new krohn::MpiRanks; }
