// gpu/device/graph.h — a list of kernels that is replayed: on a device one CUDA graph, whose start costs as much as
// that of one kernel; on the processor the kernels one after another. What changes between replays lies in the place's
// memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "krohn/gpu/device/place.h"
#include "krohn/gpu/device/team.h"

namespace krohn {

class JobGraph {
 public:
  explicit JobGraph(Place place) : place_(place) {}

  /// At every replay, job(item) for every item below `items`; kernels that were added before have ended.
  template <class Job>
  void add(const Job& job, std::uint64_t items) {
    if (items > 0) record([place = place_, job, items] { launch(place, job, items); });
  }
  /// Likewise job(team, i) for every i below `teams`.
  template <class Job>
  void add_teams(const Job& job, std::uint64_t teams) {
    if (teams > 0) record([place = place_, job, teams] { launch_teams(place, job, teams); });
  }
  std::size_t size() const { return jobs_.size(); }

  /// On a device it returns before the kernels have run. The first replay there starts them one by one, which loads
  /// them; the second makes the graph.
  void replay();
  /// The same kernels, started one by one.
  void run_one_by_one() const;

 private:
  void record(std::function<void()> job) {
    jobs_.push_back(std::move(job));
    graph_.reset();
    loaded_ = false;
  }

  Place place_;
  std::vector<std::function<void()>> jobs_;
  std::shared_ptr<void> graph_;  ///< of the CUDA runtime
  bool loaded_ = false;
};

/// A list of 32-bit words that the processor writes anew for every replay, while the kernels of earlier ones still read
/// theirs: two lists are on their way, in pinned memory, and one copy takes each to the place.
class UploadQueue {
 public:
  UploadQueue(Place place, std::size_t words);

  /// Where the next list is to be written. Waits until the one before the last has left.
  std::span<std::uint32_t> next();
  /// Takes it to `data()`: behind the kernels started so far, before those started from now on.
  void send();
  const std::uint32_t* data() const { return words_.data(); }
  std::size_t size() const { return words_.size(); }

 private:
  Place place_;
  Buffer<std::uint32_t> words_;
  std::vector<std::uint32_t> own_[2];  ///< on the processor
  std::shared_ptr<void> pinned_;       ///< of the CUDA runtime
  unsigned turn_ = 0;
};

// Behind them, in device.cu.
std::shared_ptr<void> cuda_make_graph(std::span<const std::function<void()>> jobs);
void cuda_replay(void* graph);
std::shared_ptr<void> cuda_make_pinned(std::size_t words);
std::span<std::uint32_t> cuda_next_pinned(void* pinned, unsigned turn);
void cuda_send_pinned(void* pinned, unsigned turn, std::uint32_t* to);

}  // namespace krohn
