// CUDA graphs and pinned memory behind gpu/device/graph.h.

#include "krohn/gpu/device/device_kernels.cuh"
#include "krohn/gpu/device/graph.h"

namespace krohn {
namespace {

struct Stream {
  cudaStream_t stream = nullptr;
  Stream() { check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cannot make a stream"); }
  ~Stream() { cudaStreamDestroy(stream); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
};

/// Kernels of this thread go to `stream`, for as long as this lives.
class LaunchInto {
 public:
  explicit LaunchInto(cudaStream_t stream) : before_(launch_stream()) { launch_stream() = stream; }
  ~LaunchInto() { launch_stream() = before_; }
  LaunchInto(const LaunchInto&) = delete;
  LaunchInto& operator=(const LaunchInto&) = delete;

 private:
  cudaStream_t before_;
};

struct Graph {
  Stream recorder;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ~Graph() {
    if (executable != nullptr) cudaGraphExecDestroy(executable);
    if (graph != nullptr) cudaGraphDestroy(graph);
  }
};

struct Pinned {
  std::size_t words = 0;
  std::uint32_t *lists[2]{}, *landed[2]{};
  cudaEvent_t arrived[2]{}, read[2]{};
  Stream carrier;
  ~Pinned() {
    if (carrier.stream != nullptr) cudaStreamSynchronize(carrier.stream);
    for (int i = 0; i < 2; ++i) {
      cudaFreeHost(lists[i]);
      cudaFree(landed[i]);
      if (arrived[i] != nullptr) cudaEventDestroy(arrived[i]);
      if (read[i] != nullptr) cudaEventDestroy(read[i]);
    }
  }
};

}  // namespace

cudaStream_t& launch_stream() {
  thread_local cudaStream_t stream = nullptr;
  return stream;
}

std::shared_ptr<void> cuda_make_graph(std::span<const std::function<void()>> jobs) {
  auto made = std::make_shared<Graph>();
  check(cudaStreamBeginCapture(made->recorder.stream, cudaStreamCaptureModeThreadLocal), "cannot record a graph");
  try {
    const LaunchInto recording(made->recorder.stream);
    for (const auto& job : jobs) job();
  } catch (...) {
    cudaStreamEndCapture(made->recorder.stream, &made->graph);
    throw;
  }
  check(cudaStreamEndCapture(made->recorder.stream, &made->graph), "cannot record a graph");
  check(cudaGraphInstantiate(&made->executable, made->graph, 0), "cannot make a graph");
  return made;
}

void cuda_replay(void* graph) {
  check(cudaGraphLaunch(static_cast<Graph*>(graph)->executable, launch_stream()), "cannot start a graph");
}

std::shared_ptr<void> cuda_make_pinned(std::size_t words) {
  auto made = std::make_shared<Pinned>();
  made->words = words;
  for (int i = 0; i < 2; ++i) {
    check(cudaMallocHost(&made->lists[i], words * sizeof(std::uint32_t)), "cannot allocate pinned memory");
    made->landed[i] = static_cast<std::uint32_t*>(cuda_allocate(words * sizeof(std::uint32_t)));
    check(cudaEventCreateWithFlags(&made->arrived[i], cudaEventDisableTiming), "cannot make an event");
    check(cudaEventCreateWithFlags(&made->read[i], cudaEventDisableTiming), "cannot make an event");
  }
  return made;
}

std::span<std::uint32_t> cuda_next_pinned(void* pinned, unsigned turn) {
  auto& queue = *static_cast<Pinned*>(pinned);
  check(cudaEventSynchronize(queue.arrived[turn]), "a kernel failed");  // at once, when nothing was sent yet
  return {queue.lists[turn], queue.words};
}

/// The list lands beside what the kernels read, while they run; within the device it follows in their stream.
void cuda_send_pinned(void* pinned, unsigned turn, std::uint32_t* to) {
  auto& queue = *static_cast<Pinned*>(pinned);
  const std::size_t bytes = queue.words * sizeof(std::uint32_t);
  check(cudaStreamWaitEvent(queue.carrier.stream, queue.read[turn], 0), "cannot wait for a copy");
  check(cudaMemcpyAsync(queue.landed[turn], queue.lists[turn], bytes, cudaMemcpyHostToDevice, queue.carrier.stream),
        "cannot copy");
  check(cudaEventRecord(queue.arrived[turn], queue.carrier.stream), "cannot record an event");
  check(cudaStreamWaitEvent(launch_stream(), queue.arrived[turn], 0), "cannot wait for a copy");
  check(cudaMemcpyAsync(to, queue.landed[turn], bytes, cudaMemcpyDeviceToDevice, launch_stream()), "cannot copy");
  check(cudaEventRecord(queue.read[turn], launch_stream()), "cannot record an event");
}

}  // namespace krohn
