// gpu/device/team.h — kernels whose items work together: a team is a block of threads on a device, and a loop on the
// processor. Its job calls team.each(count, body) again and again: every call is complete, for all threads, before the
// next begins.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "krohn/gpu/device/place.h"
#include "krohn/simulate/words/host_device.h"

namespace krohn {

struct Team {
  /// The team's own numbers, at first anything.
  float* numbers = nullptr;

  /// The same memory for numbers of another type.
  template <class T>
  KROHN_HOST_DEVICE T* numbers_as() const {
    return static_cast<T*>(static_cast<void*>(numbers));
  }

  /// body(0) … body(count − 1), each in one thread: always the same one for the same index. What stands outside is done
  /// by all threads alike.
  template <class Body>
  KROHN_HOST_DEVICE void each(std::uint32_t count, Body&& body) const {
#ifdef __CUDA_ARCH__
    for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x) body(i);
    __syncthreads();
#else
    for (std::uint32_t i = 0; i < count; ++i) body(i);
#endif
  }
};

/// A value of every thread that lasts from one each(kThreads, …) to the next: in registers, on a device.
template <class T, std::uint32_t kThreads>
class PerThread {
 public:
#ifdef __CUDA_ARCH__
  KROHN_HOST_DEVICE T& operator[](std::uint32_t) { return value_; }

 private:
  T value_{};
#else
  KROHN_HOST_DEVICE T& operator[](std::uint32_t thread) { return values_[thread]; }

 private:
  T values_[kThreads]{};
#endif
};

/// Sums of `rows` rows of kThreads numbers of the team's own, each left in its row's first number: a tree, whose order
/// depends on nothing else.
template <std::uint32_t kThreads, class T>
KROHN_HOST_DEVICE void add_by_tree(const Team& team, T* numbers, std::uint32_t rows) {
  for (std::uint32_t half = kThreads / 2; half > 0; half /= 2)
    team.each(rows * half, [&](std::uint32_t i) {
      T* const row = numbers + std::size_t{i} / half * kThreads;
      row[i % half] += row[i % half + half];
    });
}

/// Starts a kernel that calls job(team, i) for every i below `teams`, each by job.threads() threads with
/// job.team_numbers() floats of shared memory. Defined in the .cu file that instantiates it for the job.
template <class Job>
void cuda_launch_teams(const Job& job, std::uint64_t teams);

#ifdef KROHN_WITH_CUDA
inline namespace with_cuda {  // as in gpu/device/place.h
#else
inline namespace without_cuda {
#endif

/// The same in either place; on the processor one team after another.
template <class Job>
void launch_teams(Place place, const Job& job, std::uint64_t teams) {
#ifdef KROHN_WITH_CUDA
  if (place == Place::kDevice) return cuda_launch_teams(job, teams);
#else
  static_cast<void>(place);
#endif
  std::vector<float> numbers(job.team_numbers(), std::nanf(""));  // whoever reads before it writes is found out
  for (std::uint64_t team = 0; team < teams; ++team) job(Team{numbers.data()}, team);
}

}  // namespace with_cuda or without_cuda

}  // namespace krohn
