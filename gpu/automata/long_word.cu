// The kernels behind cuda_slice_reader: tables lie in shared memory where they fit, and otherwise in the device's
// memory, cached. A thread reads a slice, or a slice from one state; nothing but what it ends in is written.

#include <algorithm>

#include "krohn/gpu/automata/long_word.h"
#include "krohn/gpu/device/device_kernels.cuh"

namespace krohn {
namespace {

constexpr unsigned kThreads = 256;

/// Copies a table into the block's shared memory, word by word; everybody waits for it.
__device__ const void* to_shared(const void* table, std::uint32_t words) {
  extern __shared__ __align__(16) std::uint32_t shared[];
  for (std::uint32_t i = threadIdx.x; i < words; i += blockDim.x)
    shared[i] = static_cast<const std::uint32_t*>(table)[i];
  __syncthreads();
  return shared;
}

template <class Entry>
__global__ void __launch_bounds__(kThreads)
    read_slices(WordSlices word, SymbolCut cut, const void* table, std::uint32_t shared_words, std::uint32_t starts,
                std::uint32_t* ends) {
  if (shared_words > 0) table = to_shared(table, shared_words);
  for (std::uint64_t item = first_item(); item < word.slices * starts; item += item_stride())
    read_slice(word, cut, static_cast<const Entry*>(table), starts, item, ends);
}

template <class Entry>
__global__ void __launch_bounds__(kThreads)
    read_led_slices(WordSlices word, SymbolCut cut, const void* table, std::uint32_t shared_words, std::uint64_t lead,
                    std::uint32_t* out) {
  if (shared_words > 0) table = to_shared(table, shared_words);
  for (std::uint64_t item = first_item(); item < word.slices; item += item_stride())
    read_led_slice(word, cut, static_cast<const Entry*>(table), lead, item, out);
}

template <std::uint32_t kWords>
__global__ void __launch_bounds__(kThreads)
    compose_slices(WordSlices word, SymbolCut cut, const void* maps, std::uint32_t shared_words, std::uint32_t* out) {
  maps = to_shared(maps, shared_words);
  for (std::uint64_t item = first_item(); item < word.slices; item += item_stride())
    compose_slice(word, cut, static_cast<const SymbolMap<kWords>*>(maps), item, out);
}

class CudaReader final : public SliceReader {
 public:
  explicit CudaReader(const SliceTables& tables) : tables_(tables) {
    require_device();
    if (tables.kind() == SliceTables::Kind::kMaps) {
      table_ = Buffer<std::uint32_t>(Place::kDevice, tables.symbol_maps());
    } else {
      // Padded to whole words, as it is copied.
      std::vector<std::uint32_t> words((tables.table().entries.size() + 3) / 4);
      std::copy(tables.table().entries.begin(), tables.table().entries.end(),
                reinterpret_cast<std::byte*>(words.data()));
      table_ = Buffer<std::uint32_t>(Place::kDevice, words);
    }
    slices_ = std::max<std::uint64_t>(1, cuda_resident_threads() / tables.starts());
  }

  std::uint64_t slices() const override { return slices_; }

  std::vector<std::uint32_t> read(const WordSlices& word) override {
    const std::size_t numbers = word.slices * tables_.numbers_per_slice();
    if (numbers_.size() < numbers) numbers_ = Buffer<std::uint32_t>(Place::kDevice, numbers);
    tables_.kind() == SliceTables::Kind::kMaps ? compose(word) : read_table(word);
    check_launch();
    std::vector<std::uint32_t> result(numbers);
    numbers_.read(result);
    return result;
  }

 private:
  void compose(const WordSlices& word) {
    const auto words = static_cast<std::uint32_t>(table_.size());
    const unsigned blocks = blocks_for(word.slices, kThreads);
    const auto launch = [&](auto kernel) {
      kernel<<<blocks, kThreads, words * sizeof(std::uint32_t)>>>(word, tables_.cut(), table_.data(), words,
                                                                  numbers_.data());
    };
    switch (tables_.map_words()) {
      case 2:
        return launch(compose_slices<2>);
      case 4:
        return launch(compose_slices<4>);
      default:
        return launch(compose_slices<8>);
    }
  }

  void read_table(const WordSlices& word) {
    const SymbolTable& table = tables_.table();
    const auto words = table.fits_shared() ? static_cast<std::uint32_t>(table_.size()) : 0;
    const std::size_t bytes = words * sizeof(std::uint32_t);
    const bool led = tables_.kind() == SliceTables::Kind::kLed;
    const unsigned blocks = blocks_for(word.slices * tables_.starts(), kThreads);
    const auto launch = [&](auto kernel, auto starts_or_lead) {
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
            "cannot have that much shared memory");
      kernel<<<blocks, kThreads, bytes>>>(word, table.cut, table_.data(), words, starts_or_lead, numbers_.data());
    };
    const auto launch_for = [&]<class Entry>(Entry) {
      led ? launch(read_led_slices<Entry>, tables_.lead()) : launch(read_slices<Entry>, tables_.starts());
    };
    switch (table.entry_size) {
      case 1:
        return launch_for(std::uint8_t{});
      case 2:
        return launch_for(std::uint16_t{});
      default:
        return launch_for(std::uint32_t{});
    }
  }

  const SliceTables& tables_;
  Buffer<std::uint32_t> table_{Place::kDevice}, numbers_{Place::kDevice};
  std::uint64_t slices_ = 1;
};

}  // namespace

std::unique_ptr<SliceReader> cuda_slice_reader(const SliceTables& tables) {
  return std::make_unique<CudaReader>(tables);
}

}  // namespace krohn
