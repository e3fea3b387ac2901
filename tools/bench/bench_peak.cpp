// Peak rates of a core of this processor, for bounds: fused multiply-adds a second, and bytes a second from memory of
// some sizes. One JSON object. Compiled for the processor that it is built on.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <limits>
#include <utility>
#include <vector>

namespace {

#ifdef __AVX512F__
constexpr std::size_t kBytes = 64;
#else
constexpr std::size_t kBytes = 32;
#endif
constexpr std::size_t kLanes = kBytes / sizeof(float);
typedef float Vector __attribute__((vector_size(kBytes)));

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// The least time of several, as other programs only ever take time away.
template <class Body>
double least_seconds(const Body& body) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 7; ++i) {
    const double start = processor_seconds();
    body();
    least = std::min(least, processor_seconds() - start);
  }
  return least;
}

/// Twelve sums that do not wait for each other, four cycles of latency being hidden behind two starts a cycle.
double multiply_adds_a_second(float* out) {
  constexpr std::size_t kSums = 12, kRounds = 2'000'000;
  Vector sums[kSums] = {};
  const Vector by = Vector{} + 0.999f, added = Vector{} + 0.001f;
  const double seconds = least_seconds([&] {
    Vector own[kSums];  // in registers, where every loop over them is unrolled
#pragma GCC unroll 12
    for (std::size_t i = 0; i < kSums; ++i) own[i] = sums[i];
    for (std::size_t round = 0; round < kRounds; ++round) {
#pragma GCC unroll 12
      for (std::size_t i = 0; i < kSums; ++i) own[i] = own[i] * by + added;
    }
#pragma GCC unroll 12
    for (std::size_t i = 0; i < kSums; ++i) sums[i] = own[i];
  });
  for (const Vector& sum : sums) *out += sum[0];
  return static_cast<double>(kSums * kRounds * kLanes) / seconds;
}

/// Bytes read, and bytes read and as many written, a second.
std::pair<double, double> bytes_a_second(std::size_t bytes, float* out) {
  const std::size_t count = bytes / sizeof(float), rounds = (std::size_t{256} << 20) / bytes;
  std::vector<float> numbers(count, 1);
  Vector sums[8] = {};
  const double reading = least_seconds([&] {
    for (std::size_t round = 0; round < rounds; ++round)
      for (std::size_t i = 0; i + 8 * kLanes <= count; i += 8 * kLanes)
        for (std::size_t j = 0; j < 8; ++j) {
          Vector own;
          std::memcpy(&own, numbers.data() + i + j * kLanes, kBytes);
          sums[j] += own;
        }
  });
  const double changing = least_seconds([&] {
    for (std::size_t round = 0; round < rounds; ++round) {
      asm volatile("" ::: "memory");  // or compilers make two rounds at once
      for (std::size_t i = 0; i + kLanes <= count; i += kLanes) {
        Vector own;
        std::memcpy(&own, numbers.data() + i, kBytes);
        own += 1e-3f;
        std::memcpy(numbers.data() + i, &own, kBytes);
      }
    }
  });
  for (const Vector& sum : sums) *out += sum[0];
  *out += numbers[0];
  const double all = static_cast<double>(rounds * bytes);
  return {all / reading, 2 * all / changing};
}

}  // namespace

int main() {
  float out = 0;
  std::printf("{\"flops\": %.4g", 2 * multiply_adds_a_second(&out));
  for (const std::size_t kilobytes : {16, 512, 4096}) {
    const auto [reading, changing] = bytes_a_second(kilobytes << 10, &out);
    std::printf(", \"read_%zuK\": %.4g, \"change_%zuK\": %.4g", kilobytes, reading, kilobytes, changing);
  }
  std::printf("}\n");
  return out == 1 ? 1 : 0;  // so that nothing was computed in vain
}
