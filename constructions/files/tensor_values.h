// constructions/files/tensor_values.h — tensors as vectors of numbers: what readers and writers of tensor files share.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "krohn/constructions/files/safetensors.h"

namespace krohn {

/// The format's name of an element type.
template <class T>
constexpr std::string_view dtype_of() {
  if constexpr (std::is_same_v<T, double>) return "F64";
  if constexpr (std::is_same_v<T, float>) return "F32";
  if constexpr (std::is_same_v<T, std::uint64_t>) return "U64";
  if constexpr (std::is_same_v<T, std::int64_t>) return "I64";
  if constexpr (std::is_same_v<T, std::uint32_t>) return "U32";
  if constexpr (std::is_same_v<T, std::int32_t>) return "I32";
  if constexpr (std::is_same_v<T, std::uint8_t>) return "U8";
  if constexpr (std::is_same_v<T, std::int8_t>) return "I8";
}

using Shape = std::vector<std::uint64_t>;

/// In an expected shape: whatever the file says.
inline constexpr std::uint64_t kAnyExtent = UINT64_MAX;

/// Numbers in row-major order.
template <class T>
Tensor make_tensor(const std::vector<T>& values, Shape shape) {
  static_assert(std::is_trivially_copyable_v<T> && !dtype_of<T>().empty());
  Tensor tensor{std::string(dtype_of<T>()), std::move(shape), std::vector<std::byte>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

/// Reals as F32 when that loses nothing, otherwise as F64.
Tensor make_real_tensor(const std::vector<double>& values, Shape shape);

/// The numbers of a tensor of F64, F32, F16 or BF16, all of which double holds; nothing of another type.
std::optional<std::vector<double>> floating_numbers(const Tensor& tensor);

/// Takes the tensors of a file one by one, each of a stated type and shape, and knows at the end which were left.
/// All functions throw InputError naming the tensor.
class TensorReader {
 public:
  /// `file` must outlive the reader.
  explicit TensorReader(const TensorFile& file) : file_(file) {}

  bool has(const std::string& name) const { return file_.tensors.contains(name); }
  /// The shape of a tensor, before its values are taken.
  const Shape& shape(const std::string& name) const;

  template <class T>
  std::vector<T> values(const std::string& name, const Shape& expected) {
    const Tensor& tensor = take(name, expected);
    require_type(name, tensor, dtype_of<T>());
    std::vector<T> result(tensor.bytes.size() / sizeof(T));
    if (!result.empty()) std::memcpy(result.data(), tensor.bytes.data(), tensor.bytes.size());
    return result;
  }

  /// As `values`, but an absent tensor is an empty vector.
  template <class T>
  std::vector<T> optional_values(const std::string& name, const Shape& expected) {
    return has(name) ? values<T>(name, expected) : std::vector<T>();
  }

  /// F32 or F64, all finite.
  std::vector<double> reals(const std::string& name, const Shape& expected);

  /// Where `count` consecutive lists begin and end: count + 1 numbers from 0 to `total`, none below the one before.
  std::vector<std::uint64_t> offsets(const std::string& name, std::uint64_t count, std::uint64_t total);

  /// Counts a tensor, if it is there, as taken.
  void leave_for_later(const std::string& name) { taken_.insert(name); }

  /// Throws InputError naming the first tensor that nobody took: a file must not hold more than it means.
  void require_all_taken() const;

 private:
  const Tensor& take(const std::string& name, const Shape& expected);
  static void require_type(const std::string& name, const Tensor& tensor, std::string_view dtype);

  const TensorFile& file_;
  std::set<std::string> taken_;
};

}  // namespace krohn
