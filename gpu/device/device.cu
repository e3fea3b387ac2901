#include "krohn/gpu/device/device.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>

#include "krohn/gpu/device/device_kernels.cuh"
#include "krohn/groups/base/error.h"

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

}  // namespace krohn
