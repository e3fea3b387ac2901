// The kernel that reads random words through networks, one word a thread: state, scratch and labels of a block's words
// lie in its shared memory, entry by entry, so that the threads of a warp never share a bank; tables are read through
// the first-level cache. Words too large for that work in the device's memory.

#include <algorithm>

#include "krohn/gpu/device/device_kernels.cuh"
#include "krohn/gpu/networks/device_network.cuh"

namespace krohn {
namespace {

constexpr unsigned kMaxThreads = 128, kLeastThreads = 32;
constexpr std::size_t kSharedBytes = 48 * 1024;  // what every device grants without asking

/// Words are read in shared memory, a column of `numbers` and one of 32-bit words a thread; or in `large`, where every
/// thread of the grid has both.
template <class D>
__global__ void __launch_bounds__(kMaxThreads)
    read_words(const __grid_constant__ NetworkWordsJob<D> job, typename D::Number* large, std::uint64_t columns) {
  using Number = typename D::Number;
  extern __shared__ __align__(16) unsigned char shared[];
  const auto stride = static_cast<std::uint32_t>(large == nullptr ? blockDim.x : columns);
  Number* const numbers = large == nullptr ? reinterpret_cast<Number*>(shared) : large;
  auto* const words = reinterpret_cast<std::uint32_t*>(numbers + std::uint64_t{job.work_numbers()} * stride);
  const std::uint64_t column = large == nullptr ? threadIdx.x : first_item();
  for (std::uint64_t item = first_item(); item < job.words; item += item_stride())
    job.read(job.network, item, {numbers + column, stride}, {words + column, stride});
}

constexpr std::size_t kMaxParameters = 4096;  // bytes that every driver takes

/// The same for FewLayers, in shared memory, which is known here to be no other.
template <class D>
__global__ void __launch_bounds__(kMaxThreads)
    read_words_of_few_layers(const __grid_constant__ NetworkWordsJob<D> job) {
  using Number = typename D::Number;
  static_assert(sizeof(job) <= kMaxParameters);
  extern __shared__ __align__(16) unsigned char shared[];
  auto* const numbers = reinterpret_cast<Number*>(shared);
  auto* const words = reinterpret_cast<std::uint32_t*>(numbers + std::uint64_t{job.work_numbers()} * blockDim.x);
  for (std::uint64_t item = first_item(); item < job.words; item += item_stride())
    job.read(job.few, item, {numbers + threadIdx.x, blockDim.x}, {words + threadIdx.x, blockDim.x});
}

}  // namespace

template <class D>
void cuda_read_words(const NetworkWordsJob<D>& job) {
  using Number = typename D::Number;
  const std::size_t bytes = job.work_numbers() * sizeof(Number) + job.work_words() * sizeof(std::uint32_t);
  unsigned threads = kMaxThreads;
  while (threads > kLeastThreads && bytes * threads > kSharedBytes) threads /= 2;
  if (bytes * threads <= kSharedBytes) {
    if (job.has_few)
      read_words_of_few_layers<D><<<blocks_for(job.words, threads), threads, bytes * threads>>>(job);
    else
      read_words<D><<<blocks_for(job.words, threads), threads, bytes * threads>>>(job, nullptr, 0);
    return check_launch();
  }
  const unsigned blocks = blocks_for(std::min<std::uint64_t>(cuda_resident_threads() / 2, job.words), kMaxThreads);
  const std::uint64_t columns = std::uint64_t{blocks} * kMaxThreads;
  Buffer<std::byte> large(Place::kDevice, bytes * columns);
  read_words<D><<<blocks, kMaxThreads>>>(job, reinterpret_cast<Number*>(large.data()), columns);
  check_launch();
  check(cudaDeviceSynchronize(), "a kernel failed");  // before its memory goes
}

#define KROHN_KERNELS(D) template void cuda_read_words(const NetworkWordsJob<D>&);
KROHN_FOR_EVERY_DEVICE_ARITHMETIC(KROHN_KERNELS)

}  // namespace krohn
