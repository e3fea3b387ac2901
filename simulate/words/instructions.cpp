#include "krohn/simulate/words/instructions.h"

namespace krohn {
namespace {

Instructions detected() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vbmi"))
    return Instructions::kAvx512;
  if (__builtin_cpu_supports("ssse3")) return Instructions::kSsse3;
#endif
  return Instructions::kPortable;
}

}  // namespace

Instructions best_instructions() {
  static const Instructions best = detected();
  return best;
}

const char* to_string(Instructions instructions) {
  constexpr const char* kNames[] = {"portable", "SSSE3", "AVX-512 VBMI"};
  return kNames[static_cast<std::uint8_t>(instructions)];
}

}  // namespace krohn
