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
  switch (instructions) {
    case Instructions::kPortable:
      return "portable";
    case Instructions::kSsse3:
      return "SSSE3";
    case Instructions::kAvx512:
      return "AVX-512 VBMI";
  }
  return "";
}

}  // namespace krohn
