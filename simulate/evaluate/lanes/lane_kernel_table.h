// simulate/evaluate/lanes/lane_kernel_table.h — the loops that run a LaneProgram, for each instruction set that the
// processor may have.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "krohn/simulate/evaluate/lanes/lane_program.h"

namespace krohn {

enum class InstructionSet : std::uint8_t { kPortable, kAvx2, kAvx512 };

/// "portable", "AVX2", "AVX-512".
std::string to_string(InstructionSet set);

/// The kernels that this build has and this processor runs, the fastest last.
std::vector<InstructionSet> available_instruction_sets();
/// Throws InputError for a set that is not among them.
void require_available(InstructionSet set);

/// An automaton over `steps` letters of kLanes words, beside the answers of a network.
struct LaneComparison {
  const std::int32_t* table = nullptr;  ///< [state · letters + letter], `entries` of them, 128 allocated at least
  std::uint32_t letter_count = 0, entries = 0;
  const std::uint32_t* letters = nullptr;  ///< of step t from letters + t · stride on
  std::size_t stride = kLanes, steps = 0;
  const std::uint32_t* answers = nullptr;  ///< [steps][kLanes]
  std::uint32_t* states = nullptr;         ///< [kLanes]: before and after
  std::uint32_t* right = nullptr;          ///< [kLanes]: one more for each answer that is the state
  /// Called for the others.
  void (*differs)(void* owner, std::size_t step, std::size_t lane, std::uint32_t state, std::uint32_t answer) = nullptr;
  void* owner = nullptr;
};

/// Runs one layer over all steps. Numbers of fp16 and bf16 are held in floats and rounded after every operation, so
/// that lanes are as wide as for fp32.
struct LaneKernels {
  void (*fp64)(const LaneProgram<double>&, const LaneRun<double>&) = nullptr;
  void (*fp32)(const LaneProgram<float>&, const LaneRun<float>&) = nullptr;
  void (*fp16)(const LaneProgram<float>&, const LaneRun<float>&) = nullptr;
  void (*bf16)(const LaneProgram<float>&, const LaneRun<float>&) = nullptr;
  /// `blocks` blocks of random letters (simulate/words/random_letters.h) from block `first` on, per_block letters each,
  /// for kLanes words with these keys: out[t][lane].
  void (*random_letters)(const std::uint64_t* keys, std::uint64_t first, std::uint64_t blocks, std::uint32_t letters,
                         std::uint32_t per_block, std::uint32_t* out) = nullptr;
  void (*compare)(const LaneComparison&) = nullptr;
};

/// Throws InputError for a set that is not available.
LaneKernels lane_kernels(InstructionSet set);

// One per translation unit; those of x86 are defined there only.
LaneKernels portable_lane_kernels();
LaneKernels avx2_lane_kernels();
LaneKernels avx512_lane_kernels();

}  // namespace krohn
