#include "krohn/simulate/arithmetic/stated_exp.h"
#include "krohn/simulate/operations/step_kernels.h"

namespace krohn {
namespace {

struct ExpTable {
  std::uint64_t powers[32];
  ExpTable() {
    for (std::uint32_t i = 0; i < 32; ++i) powers[i] = exp_table(i);
  }
};

}  // namespace

const std::uint64_t* const kExpTable = [] {
  static const ExpTable table;
  return table.powers;
}();

StepKernels step_kernels(InstructionSet set) {
  require_available(set);
#ifdef __x86_64__
  if (set == InstructionSet::kAvx512) return avx512_step_kernels();
  if (set == InstructionSet::kAvx2) return avx2_step_kernels();
#endif
  return portable_step_kernels();
}

}  // namespace krohn
