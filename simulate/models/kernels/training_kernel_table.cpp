#include "krohn/simulate/models/kernels/training_kernel_table.h"

#include <algorithm>

#include "krohn/simulate/evaluate/lanes/lane_kernel_table.h"

namespace krohn {

TrainingKernels<float> training_kernels(InstructionSet set) {
  require_available(set);
#ifdef __x86_64__
  if (set == InstructionSet::kAvx512) return avx512_training_kernels();
  if (set == InstructionSet::kAvx2) return avx2_training_kernels();
#endif
  return portable_training_kernels();
}

std::size_t reflection_chunk(std::size_t tokens, std::size_t reflections, std::size_t keys) {
  // Work grows with the chunk's length, and with keys once a chunk; a word of one chunk needs no state.
  if (tokens * reflections <= std::clamp<std::size_t>(2 * keys, 16, kMaxChunkSteps))
    return std::max<std::size_t>(tokens, 1);
  return std::max<std::size_t>(std::clamp<std::size_t>(keys, 16, 32) / reflections, 1);
}

template <class Real>
std::size_t reflection_chunks(const Reflections<Real>& run) {
  std::size_t chunks = 0;
  for (std::size_t word = 0; word < run.words; ++word) {
    const std::size_t tokens = run.first[word + 1] - run.first[word];
    const std::size_t length = reflection_chunk(tokens, run.reflections, run.keys);
    chunks += (tokens + length - 1) / length;
  }
  return chunks;
}

template <class Real>
ReflectionExtents reflection_extents(const Reflections<Real>& run) {
  ReflectionExtents extents{};
  for (std::size_t word = 0; word < run.words; ++word) {
    const std::size_t tokens = run.first[word + 1] - run.first[word];
    extents.chunk_tokens = std::max(extents.chunk_tokens, reflection_chunk(tokens, run.reflections, run.keys));
  }
  extents.chunk_steps = extents.chunk_tokens * run.reflections;
  const std::size_t tokens = run.words == 0 ? 0 : run.first[run.words] - run.first[0];
  extents.shared = run.sources * run.reflections <= kMaxSharedRows && 2 * run.sources <= tokens;
  return extents;
}

template <class Real>
std::size_t reflection_scratch(const Reflections<Real>& run) {
  const auto wide = [](std::size_t count) { return (count + 15) / 16 * 16; };  // in the widest vectors
  const ReflectionExtents extents = reflection_extents(run);
  const std::size_t steps = wide(extents.chunk_steps), keys = wide(run.keys), values = wide(run.values),
                    rows = extents.shared ? wide(run.sources * run.reflections) : 0;
  return 5 * steps * keys + 4 * steps * steps + 4 * steps * values + 3 * keys * values + 5 * rows * keys +
         4 * rows * rows + 2 * rows * steps + 64;
}

template <class Real>
std::size_t letter_reflection_scratch(const LetterReflections<Real>& letters) {
  const Reflections<Real>& run = letters.run;
  const std::size_t rows = run.sources * run.reflections, wide = 2 * kWidestVector;  // columns at a time
  return rows * rows + run.sources * rows + letters.positions + 1 + 4 * kWidestVector +
         rows * (rows + run.sources + 4 + letters.positions + 1) * wide;
}

template std::size_t letter_reflection_scratch(const LetterReflections<float>&);
template std::size_t letter_reflection_scratch(const LetterReflections<double>&);
template std::size_t reflection_chunks(const Reflections<float>&);
template std::size_t reflection_chunks(const Reflections<double>&);
template ReflectionExtents reflection_extents(const Reflections<float>&);
template ReflectionExtents reflection_extents(const Reflections<double>&);
template std::size_t reflection_scratch(const Reflections<float>&);
template std::size_t reflection_scratch(const Reflections<double>&);

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
