// gpu/device/place.h — the two places where the items of a kernel run: a CUDA device, and the processor in its place.
// Code written for one runs on the other: memory is a Buffer, and a kernel is a function of an item's number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace krohn {

enum class Place : std::uint8_t { kProcessor, kDevice };

// Memory of the device. They throw NoDevice when there is none, or too little; SystemError
// after a kernel failed.
void* cuda_allocate(std::size_t bytes);
void cuda_free(void* memory) noexcept;
void cuda_copy_in(void* to, const void* from, std::size_t bytes);
void cuda_copy_out(void* to, const void* from, std::size_t bytes);
void cuda_clear(void* memory, std::size_t bytes);
/// Bytes of the device that nobody uses.
std::uint64_t cuda_free_bytes();
/// Threads that fill the device.
std::uint64_t cuda_resident_threads();

/// Starts a kernel that calls job(item) for every item below `items`, each in a thread of its own, in no order. Defined
/// in the .cu file that instantiates it for the job.
template <class Job>
void cuda_launch(const Job& job, std::uint64_t items);

// A program that knows of CUDA and one that does not instantiate these under different names.
#ifdef KROHN_WITH_CUDA
inline namespace with_cuda {
#else
inline namespace without_cuda {
#endif

/// The same in either place; on the processor one after another. On the device it returns before they are done.
template <class Job>
void launch(Place place, const Job& job, std::uint64_t items) {
#ifdef KROHN_WITH_CUDA
  if (place == Place::kDevice) return cuda_launch(job, items);
#else
  static_cast<void>(place);  // a Buffer on a device could not be made
#endif
  for (std::uint64_t item = 0; item < items; ++item) job(item);
}

}  // namespace with_cuda or without_cuda

/// An array of plain values in a place, all zero at first.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit Buffer(Place place, std::size_t size = 0) : place_(place), size_(size) {
    if (size == 0) return;
    if (place == Place::kDevice)
      data_ = static_cast<T*>(cuda_allocate(size * sizeof(T)));
    else
      data_ = static_cast<T*>(::operator new (size * sizeof(T), std::align_val_t{64}));
    clear();
  }
  Buffer(Place place, std::span<const T> values) : Buffer(place, values.size()) { write(values); }
  Buffer(Buffer&& other) noexcept
      : place_(other.place_), data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(place_, other.place_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Buffer() {
    if (place_ == Place::kDevice)
      cuda_free(data_);
    else
      ::operator delete (data_, std::align_val_t{64});
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }

  void clear() {
    if (size_ == 0) return;
    if (place_ == Place::kDevice)
      cuda_clear(data_, size_ * sizeof(T));
    else
      std::memset(static_cast<void*>(data_), 0, size_ * sizeof(T));
  }
  void write(std::span<const T> values, std::size_t first = 0) {
    if (values.empty()) return;
    if (place_ == Place::kDevice)
      cuda_copy_in(data_ + first, values.data(), values.size_bytes());
    else
      std::memcpy(static_cast<void*>(data_ + first), values.data(), values.size_bytes());
  }
  /// Waits for the kernels before it.
  void read(std::span<T> values, std::size_t first = 0) const {
    if (values.empty()) return;
    if (place_ == Place::kDevice)
      cuda_copy_out(values.data(), data_ + first, values.size_bytes());
    else
      std::memcpy(static_cast<void*>(values.data()), data_ + first, values.size_bytes());
  }
  std::vector<T> values() const {
    std::vector<T> copy(size_);
    read(copy);
    return copy;
  }

 private:
  Place place_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace krohn
