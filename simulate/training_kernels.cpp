#include "simulate/training_kernels.h"

#include "groups/error.h"
#include "simulate/lane_kernels.h"

namespace krohn {

TrainingKernels<float> training_kernels(InstructionSet set) {
  const std::vector<InstructionSet> sets = available_instruction_sets();
  if (std::find(sets.begin(), sets.end(), set) == sets.end())
    throw InputError("this processor does not run " + to_string(set) + "; take another instruction set");
#ifdef __x86_64__
  if (set == InstructionSet::kAvx512) return avx512_training_kernels();
  if (set == InstructionSet::kAvx2) return avx2_training_kernels();
#endif
  return portable_training_kernels();
}

template <>
const TrainingKernels<float>& training_kernels() {
  static const TrainingKernels<float> fastest = training_kernels(available_instruction_sets().back());
  return fastest;
}

template <>
const TrainingKernels<double>& training_kernels() {
  static const TrainingKernels<double> portable = portable_double_training_kernels();
  return portable;
}

}  // namespace krohn
