#include "krohn/gpu/device/device.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdint>

#include "krohn/gpu/device/device_kernels.cuh"
#include "krohn/simulate/probe/probe_sums.h"

namespace krohn {
namespace {

struct GivenFactors {
  const double* left;
  const double* right;
  std::uint32_t terms;
};

/// One thread, one term after the other.
template <class Number, bool kFused>
__global__ void sum_in_a_loop(const __grid_constant__ GivenFactors given, double* result) {
  const auto left = [&](std::uint32_t i) { return static_cast<Number>(given.left[i]); };
  const auto right = [&](std::uint32_t i) { return static_cast<Number>(given.right[i]); };
  Number sum = left(0) * right(0);
  for (std::uint32_t i = 1; i < given.terms; ++i) {
    if constexpr (kFused)
      sum = fma(left(i), right(i), sum);
    else if constexpr (sizeof(Number) == sizeof(double))
      sum = __dadd_rn(sum, __dmul_rn(left(i), right(i)));
    else
      sum = __fadd_rn(sum, __fmul_rn(left(i), right(i)));
  }
  *result = sum;
}

__device__ void set(__half& to, double number) { to = __float2half_rn(static_cast<float>(number)); }
__device__ void set(__nv_bfloat16& to, double number) { to = __float2bfloat16_rn(static_cast<float>(number)); }
__device__ void set(float& to, double number) { to = static_cast<float>(number); }

__device__ double stored(__half, float sum) { return __half2float(__float2half_rn(sum)); }
__device__ double stored(__nv_bfloat16, float sum) { return __bfloat162float(__float2bfloat16_rn(sum)); }
__device__ double stored(float, float sum) { return sum; }

template <class Given>
struct Tile {
  using Type = Given;
  static constexpr int kDepth = 16;
};
template <>
struct Tile<float> {
  using Type = nvcuda::wmma::precision::tf32;
  static constexpr int kDepth = 8;
};

/// One warp: the terms are the first row of the left matrix and the first column of the right one, one tile after the
/// other.
template <class Given>
__global__ void sum_on_tensor_cores(const __grid_constant__ GivenFactors given, double* result) {
  using namespace nvcuda;
  constexpr int kDepth = Tile<Given>::kDepth, kSide = 16;
  __shared__ alignas(32) Given left[kSide * kDepth], right[kDepth * kSide];
  __shared__ alignas(32) float sums[kSide * kSide];
  wmma::fragment<wmma::accumulator, kSide, kSide, kDepth, float> sum;
  wmma::fill_fragment(sum, 0.0F);
  for (std::uint32_t from = 0; from < given.terms; from += kDepth) {
    for (int at = static_cast<int>(threadIdx.x); at < kSide * kDepth; at += 32) {
      set(left[at], 0);
      set(right[at], 0);
    }
    __syncwarp();
    const std::uint32_t term = from + threadIdx.x;
    if (threadIdx.x < kDepth && term < given.terms) {
      set(left[threadIdx.x], given.left[term]);    // row 0
      set(right[threadIdx.x], given.right[term]);  // column 0
    }
    __syncwarp();
    wmma::fragment<wmma::matrix_a, kSide, kSide, kDepth, typename Tile<Given>::Type, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, kSide, kSide, kDepth, typename Tile<Given>::Type, wmma::col_major> b;
    wmma::load_matrix_sync(a, left, kDepth);
    wmma::load_matrix_sync(b, right, kDepth);
    wmma::mma_sync(sum, a, b, sum);
    __syncwarp();
  }
  wmma::store_matrix_sync(sums, sum, kSide, wmma::mem_row_major);
  __syncwarp();
  if (threadIdx.x == 0) *result = stored(Given{}, sums[0]);
}

/// Starts a kernel with the factors on the device, and gives its result back.
template <class Kernel>
double on_device(std::span<const double> left, std::span<const double> right, unsigned threads, Kernel kernel) {
  Buffer<double> numbers(Place::kDevice, 2 * left.size() + 1);
  cuda_copy_in(numbers.data(), left.data(), left.size_bytes());
  cuda_copy_in(numbers.data() + left.size(), right.data(), right.size_bytes());
  double* const result = numbers.data() + 2 * left.size();
  const GivenFactors given{numbers.data(), numbers.data() + left.size(), static_cast<std::uint32_t>(left.size())};
  kernel<<<1, threads, 0, launch_stream()>>>(given, result);
  check_launch();
  double sum = 0;
  cuda_copy_out(&sum, result, sizeof sum);
  return sum;
}

template <class Number>
void add_loops(std::vector<Summer>& summers, Precision format) {
  summers.push_back({"separate operations, " + to_string(format), format, [](auto left, auto right) {
                       return on_device(left, right, 1, sum_in_a_loop<Number, false>);
                     }});
  summers.push_back({"fused operations, " + to_string(format), format, [](auto left, auto right) {
                       return on_device(left, right, 1, sum_in_a_loop<Number, true>);
                     }});
}

template <class Given>
void add_tensor_cores(std::vector<Summer>& summers, const std::string& name, Precision format) {
  summers.push_back({"tensor cores, " + name, format, [](auto left, auto right) {
                       return on_device(left, right, 32, sum_on_tensor_cores<Given>);
                     }});
}

}  // namespace

std::vector<Summer> device_summers() {
  require_device();
  std::vector<Summer> summers;
  add_loops<double>(summers, Precision::kFp64);
  add_loops<float>(summers, Precision::kFp32);
  add_tensor_cores<__half>(summers, "fp16 factors", Precision::kFp16);
  add_tensor_cores<__nv_bfloat16>(summers, "bf16 factors", Precision::kBf16);
  add_tensor_cores<float>(summers, "tf32 factors", Precision::kFp32);
  return summers;
}

}  // namespace krohn
