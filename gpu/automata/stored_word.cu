// The kernels of gpu/automata/stored_scan.cuh.

#include "krohn/gpu/automata/stored_scan.cuh"

#include "krohn/gpu/device/device_kernels.cuh"

namespace krohn {
namespace {

template <class Element>
__device__ TileMemory<Element>& tile_memory(unsigned char* shared) {
  return *reinterpret_cast<TileMemory<Element>*>(shared);
}

/// Every block reads tiles one after another and keeps what they do.
template <class Algebra>
__global__ void __launch_bounds__(kTileThreads) read_stored(const __grid_constant__ StoredScan<Algebra> scan) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto& memory = tile_memory<typename Algebra::Element>(shared);
  const DeviceThreads threads{kTileThreads};
  const unsigned char* const table = scan.load_table(threads, shared + sizeof(memory));
  const std::uint64_t tiles = scan.tiles();
  scan.read_block(threads, table, memory, blockIdx.x, tiles * blockIdx.x / gridDim.x,
                  tiles * (blockIdx.x + 1) / gridDim.x);
}

/// Blocks take tiles in the order of their numbers, so that a tile that is waited for is being read, or has been.
template <class Algebra>
__global__ void __launch_bounds__(kTileThreads) write_states(const __grid_constant__ StoredScan<Algebra> scan) {
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ std::uint32_t taken;
  auto& memory = tile_memory<typename Algebra::Element>(shared);
  const DeviceThreads threads{kTileThreads};
  const unsigned char* const table = scan.load_table(threads, shared + sizeof(memory));
  unsigned char* const behind_table = shared + sizeof(memory) + scan.table_size();
  scan.load_steps(threads, behind_table);
  const StateWriter writer = scan.writer(behind_table);
  while (true) {
    threads.each([&](std::uint32_t thread) {
      if (thread == 0) taken = atomicAdd(scan.next_tile, 1U);
    });
    const std::uint32_t tile = taken;
    if (tile >= scan.tiles()) return;
    scan.read_tile(threads, table, memory, tile);
    scan.tell_total(threads, memory, tile);
    scan.look_back(threads, memory, tile);
    scan.write_tile(threads, memory, writer, tile);
  }
}

/// Blocks of a kernel that are resident at once.
template <class Kernel>
std::uint32_t resident_blocks(Kernel* kernel, std::uint32_t shared_bytes) {
  int per_processor = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, kernel, kTileThreads, shared_bytes),
        "cannot ask for a kernel's occupancy");
  return static_cast<std::uint32_t>((per_processor < 1 ? 1 : per_processor) *
                                    device_attribute(cudaDevAttrMultiProcessorCount));
}

}  // namespace

template <class Algebra>
void cuda_read_stored(const StoredScan<Algebra>& scan, std::uint32_t blocks) {
  read_stored<<<blocks, kTileThreads, scan.shared_size()>>>(scan);
  check_launch();
}

template <class Algebra>
void cuda_write_states(const StoredScan<Algebra>& scan) {
  // More than a kernel has without asking.
  check(cudaFuncSetAttribute(write_states<Algebra>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(scan.shared_size())),
        "cannot have that much shared memory");
  write_states<<<resident_blocks(write_states<Algebra>, scan.shared_size()), kTileThreads, scan.shared_size()>>>(scan);
  check_launch();
}

template <class Algebra>
std::uint32_t cuda_stored_blocks(const StoredScan<Algebra>& scan) {
  return resident_blocks(read_stored<Algebra>, scan.shared_size());
}

// Three lines for each algebra.
template void cuda_read_stored(const StoredScan<MapAlgebra<2>>&, std::uint32_t);
template void cuda_write_states(const StoredScan<MapAlgebra<2>>&);
template std::uint32_t cuda_stored_blocks(const StoredScan<MapAlgebra<2>>&);

template void cuda_read_stored(const StoredScan<MapAlgebra<4>>&, std::uint32_t);
template void cuda_write_states(const StoredScan<MapAlgebra<4>>&);
template std::uint32_t cuda_stored_blocks(const StoredScan<MapAlgebra<4>>&);

template void cuda_read_stored(const StoredScan<MapAlgebra<8>>&, std::uint32_t);
template void cuda_write_states(const StoredScan<MapAlgebra<8>>&);
template std::uint32_t cuda_stored_blocks(const StoredScan<MapAlgebra<8>>&);

template void cuda_read_stored(const StoredScan<ElementAlgebra<std::uint8_t>>&, std::uint32_t);
template void cuda_write_states(const StoredScan<ElementAlgebra<std::uint8_t>>&);
template std::uint32_t cuda_stored_blocks(const StoredScan<ElementAlgebra<std::uint8_t>>&);

template void cuda_read_stored(const StoredScan<ElementAlgebra<std::uint16_t>>&, std::uint32_t);
template void cuda_write_states(const StoredScan<ElementAlgebra<std::uint16_t>>&);
template std::uint32_t cuda_stored_blocks(const StoredScan<ElementAlgebra<std::uint16_t>>&);

template void cuda_launch(const ReadSliceEnds&, std::uint64_t);
template void cuda_launch(const WriteSliceStates&, std::uint64_t);

}  // namespace krohn
