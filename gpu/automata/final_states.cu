// The kernel behind cuda_final_state_counts. A table that fits lies in shared memory, and so do the counts of a block;
// what does not fit stays in the device's memory, cached.

#include <algorithm>

#include "krohn/gpu/automata/stored_word.h"
#include "krohn/gpu/automata/word_tables.h"
#include "krohn/gpu/device/device_kernels.cuh"

namespace krohn {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::size_t kCountBytes = 16 * 1024;  // beside the table, within what every device grants without asking

struct Job {
  const std::uint32_t *table, *letter_table;
  SymbolCut cut;
  std::uint32_t states, initial, shared_words;
  bool counts_in_shared;
  std::uint64_t words, length, seed;
  unsigned long long* counts;
};

template <class Entry>
__global__ void __launch_bounds__(kThreads) count_final_states(Job job) {
  extern __shared__ std::uint32_t shared[];
  std::uint32_t* const block_counts = shared + job.shared_words;
  for (std::uint32_t i = threadIdx.x; i < job.shared_words; i += blockDim.x) shared[i] = job.table[i];
  if (job.counts_in_shared)
    for (std::uint32_t i = threadIdx.x; i < job.states; i += blockDim.x) block_counts[i] = 0;
  __syncthreads();

  const auto* table = reinterpret_cast<const Entry*>(job.shared_words > 0 ? shared : job.table);
  for (std::uint64_t word = first_item(); word < job.words; word += item_stride()) {
    const std::uint32_t state =
        read_word(table, job.letter_table, job.cut, random_key(job.seed, word), job.length, job.initial);
    if (job.counts_in_shared)
      atomicAdd(&block_counts[state], 1U);
    else
      atomicAdd(&job.counts[state], 1ULL);
  }
  if (!job.counts_in_shared) return;
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < job.states; i += blockDim.x)
    if (block_counts[i] != 0) atomicAdd(&job.counts[i], static_cast<unsigned long long>(block_counts[i]));
}

/// Enough blocks to fill the device; a block then makes several words, at most 2^32 − 1 so that its counts fit 32 bits.
unsigned block_count(std::uint64_t words) {
  const std::uint64_t filling = cuda_resident_threads() / kThreads;
  const std::uint64_t least = words / UINT32_MAX + 1;
  return blocks_for(std::max(least, std::min<std::uint64_t>(blocks_for(words, kThreads), filling)) * kThreads,
                    kThreads);
}

}  // namespace

std::vector<std::uint64_t> cuda_final_state_counts(const Dfa& dfa, const RandomSample& sample) {
  const SymbolTable table(dfa);
  require_device();
  std::vector<std::uint32_t> entries((table.entries.size() + 3) / 4);
  std::copy(table.entries.begin(), table.entries.end(), reinterpret_cast<std::byte*>(entries.data()));
  const Buffer<std::uint32_t> device_table(Place::kDevice, entries), letters(Place::kDevice, dfa.table());
  Buffer<unsigned long long> counts(Place::kDevice, dfa.states());

  Job job{};
  job.table = device_table.data();
  job.letter_table = letters.data();
  job.cut = table.cut;
  job.states = dfa.states();
  job.initial = dfa.initial();
  job.shared_words = table.fits_shared() ? static_cast<std::uint32_t>(entries.size()) : 0;
  job.counts_in_shared = dfa.states() * sizeof(std::uint32_t) <= kCountBytes;
  job.words = sample.words;
  job.length = sample.length;
  job.seed = sample.seed;
  job.counts = counts.data();
  const std::size_t shared_bytes = (job.shared_words + (job.counts_in_shared ? job.states : 0)) * sizeof(std::uint32_t);
  const auto launch = [&](auto kernel) { kernel<<<block_count(sample.words), kThreads, shared_bytes>>>(job); };
  switch (table.entry_size) {
    case 1:
      launch(count_final_states<std::uint8_t>);
      break;
    case 2:
      launch(count_final_states<std::uint16_t>);
      break;
    default:
      launch(count_final_states<std::uint32_t>);
  }
  check_launch();
  const std::vector<unsigned long long> result = counts.values();
  return {result.begin(), result.end()};
}

}  // namespace krohn
