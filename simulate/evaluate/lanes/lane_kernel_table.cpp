#include "krohn/simulate/evaluate/lanes/lane_kernel_table.h"

#include <algorithm>

#include "krohn/groups/base/error.h"

namespace krohn {

std::string to_string(InstructionSet set) {
  constexpr const char* kNames[] = {"portable", "AVX2", "AVX-512"};
  return kNames[static_cast<std::size_t>(set)];
}

std::vector<InstructionSet> available_instruction_sets() {
  std::vector<InstructionSet> sets{InstructionSet::kPortable};
#ifdef __x86_64__
  // Every processor with AVX2 has F16C, for which Clang 14 has no name here.
  if (__builtin_cpu_supports("avx2")) sets.push_back(InstructionSet::kAvx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    sets.push_back(InstructionSet::kAvx512);
#endif
  return sets;
}

void require_available(InstructionSet set) {
  const std::vector<InstructionSet> sets = available_instruction_sets();
  if (std::find(sets.begin(), sets.end(), set) == sets.end())
    throw InputError("this processor does not run " + to_string(set) + "; take another instruction set");
}

LaneKernels lane_kernels(InstructionSet set) {
  require_available(set);
#ifdef __x86_64__
  if (set == InstructionSet::kAvx512) return avx512_lane_kernels();
  if (set == InstructionSet::kAvx2) return avx2_lane_kernels();
#endif
  return portable_lane_kernels();
}

}  // namespace krohn
