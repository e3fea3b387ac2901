#include "krohn/gpu/device/device.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "krohn/gpu/device/device_kernels.cuh"
#include "krohn/gpu/device/graph.h"

namespace krohn {
namespace {

std::atomic<int> chosen = 0;

/// The runtime asks every thread again which device it means.
void mean_chosen_device() {
  thread_local int meant = 0;
  if (meant == chosen) return;
  check(cudaSetDevice(chosen), "cannot take the device");
  meant = chosen;
}

}  // namespace

void take_device(unsigned number) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0)
    chosen = static_cast<int>(device_of_process(number, static_cast<unsigned>(devices)));
  else
    cudaGetLastError();  // whoever asks for a device is told then
}

void throw_cuda_error(cudaError_t error, const char* action) {
  throw SystemError(std::string("CUDA: ") + action + ": " + cudaGetErrorString(error) + " (" + cudaGetErrorName(error) +
                    "); --device cpu does without");
}

void* cuda_allocate(std::size_t bytes) {
  require_device();
  void* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, bytes);
  if (error != cudaErrorMemoryAllocation) {
    check(error, "cannot allocate");
    return memory;
  }
  cudaGetLastError();  // this failure does not stay
  std::size_t available = 0, all = 0;
  check(cudaMemGetInfo(&available, &all), "cannot ask for the device's memory");
  throw NoDevice("CUDA: " + std::to_string((bytes >> 20) + 1) + " MB of device memory are needed and " +
                    std::to_string(available >> 20) + " of " + std::to_string(all >> 20) +
                    " MB are free; --device cpu does without");
}

void cuda_free(void* memory) noexcept { cudaFree(memory); }

void cuda_copy_in(void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "cannot copy");
}

void cuda_copy_out(void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "a kernel failed");
}

void cuda_clear(void* memory, std::size_t bytes) { check(cudaMemset(memory, 0, bytes), "cannot clear"); }

std::uint64_t cuda_free_bytes() {
  std::size_t available = 0, all = 0;
  check(cudaMemGetInfo(&available, &all), "cannot ask for the device's memory");
  return available;
}

std::uint64_t cuda_resident_threads() {
  return static_cast<std::uint64_t>(device_attribute(cudaDevAttrMultiProcessorCount)) *
         static_cast<std::uint64_t>(device_attribute(cudaDevAttrMaxThreadsPerMultiProcessor));
}

void require_device() {
  if (!cuda_available()) throw NoDevice("CUDA: " + cuda_status());
  mean_chosen_device();
}

bool cuda_available() {
  int devices = 0;
  const bool available = cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
  if (!available) cudaGetLastError();  // not the next one's
  return available;
}

std::string cuda_status() {
  int devices = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&devices); error != cudaSuccess) {
    cudaGetLastError();
    return cudaGetErrorString(error);
  }
  if (devices == 0) return "no CUDA device";
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, chosen), "cannot ask the device");
  return properties.name;
}

double cuda_copy_rate() {
  constexpr std::size_t kBytes = std::size_t{1} << 30;
  const Buffer<std::byte> from(Place::kDevice, kBytes);
  Buffer<std::byte> to(Place::kDevice, kBytes);
  double best = 0;
  for (int round = 0; round < 11; ++round) {  // the first is not counted
    check(cudaDeviceSynchronize(), "a kernel failed");
    const auto start = std::chrono::steady_clock::now();
    check(cudaMemcpyAsync(to.data(), from.data(), kBytes, cudaMemcpyDeviceToDevice), "cannot copy");
    check(cudaDeviceSynchronize(), "cannot copy");
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (round > 0) best = std::max(best, 2.0 * kBytes / seconds.count());
  }
  return best;
}

double shared_accesses_per_second() {
  require_device();
  return 32.0 * device_attribute(cudaDevAttrMultiProcessorCount) * 1e3 * device_attribute(cudaDevAttrClockRate);
}

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
