#include "krohn/gpu/device/device.h"

#include <fmt/format.h>

#include <utility>

#include "krohn/gpu/device/graph.h"

namespace krohn {

bool wants_cuda(std::string_view device) {
  if (device == "cpu") return false;
  if (cuda_available()) return true;
  if (device == "auto") return false;
  throw NoDevice(fmt::format("CUDA: {}; take --device cpu, or auto", cuda_status()));
}

std::string device_name(bool on_cuda) { return on_cuda ? cuda_status() : "the processor"; }

void JobGraph::run_one_by_one() const {
  for (const auto& job : jobs_) job();
}

void JobGraph::replay() {
#ifdef KROHN_WITH_CUDA
  if (place_ == Place::kDevice && std::exchange(loaded_, true)) {
    if (!graph_) graph_ = cuda_make_graph(jobs_);
    return cuda_replay(graph_.get());
  }
#endif
  run_one_by_one();
}

UploadQueue::UploadQueue(Place place, std::size_t words) : place_(place), words_(place, words) {
#ifdef KROHN_WITH_CUDA
  if (place == Place::kDevice) {
    pinned_ = cuda_make_pinned(words);
    return;
  }
#endif
  for (auto& list : own_) list.resize(words);
}

std::span<std::uint32_t> UploadQueue::next() {
#ifdef KROHN_WITH_CUDA
  if (place_ == Place::kDevice) return cuda_next_pinned(pinned_.get(), turn_);
#endif
  return own_[turn_];
}

void UploadQueue::send() {
#ifdef KROHN_WITH_CUDA
  if (place_ == Place::kDevice)
    cuda_send_pinned(pinned_.get(), turn_, words_.data());
  else
    words_.write(own_[turn_]);
#else
  words_.write(own_[turn_]);
#endif
  turn_ ^= 1;
}

}  // namespace krohn
