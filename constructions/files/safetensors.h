// constructions/files/safetensors.h — the safetensors container: named tensors with a JSON header, read strictly.
// The format: github.com/huggingface/safetensors. A file is the header's length (8 bytes, little-endian), the header
// (JSON), and one buffer that the tensors tile in the order of their offsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace krohn {

/// One tensor: element type ("F64", "F32", "F16", "BF16", "I64", "I32", "U32", "U8", …), shape, little-endian bytes in
/// row-major order.
struct Tensor {
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::vector<std::byte> bytes;
  /// The product of the shape; 1 for a scalar. Throws InputError past 2^64 − 1.
  std::uint64_t elements() const;
  friend bool operator==(const Tensor&, const Tensor&) = default;
};

struct TensorFile {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;
  /// A text of the metadata; empty where there is none of that name.
  std::string text(const std::string& key) const {
    const auto found = metadata.find(key);
    return found == metadata.end() ? "" : found->second;
  }
  friend bool operator==(const TensorFile&, const TensorFile&) = default;
};

/// Bytes per element. Throws InputError for a type that the format does not have; types smaller than a byte are not
/// supported.
std::uint64_t element_bytes(std::string_view dtype);

/// Reads a file. Throws InputError for a header that is truncated, larger than the file or than 100 MB, not JSON, with
/// a repeated key, an unknown dtype, a negative or overflowing shape, offsets that do not match it, tensors that
/// overlap or leave gaps, or bytes left over. Nothing is allocated from a length before it was checked against the
/// file.
TensorFile read_safetensors(const std::string& path);
TensorFile parse_safetensors(std::span<const std::byte> bytes, const std::string& where);

/// The bytes of a file. Tensors lie in the order of falling element size, then name, so that each is aligned to its
/// elements; the header is padded with spaces so that the buffer starts at a multiple of 8. A function of the content
/// alone. Throws InputError when a tensor's bytes do not fit its shape and type, or a name is not UTF-8 or reserved;
/// LimitError for a header that readers would refuse.
std::string format_safetensors(const TensorFile& file);

/// Writes to a temporary name beside `path` and renames. Throws as `format_safetensors`, and SystemError, leaving
/// nothing behind.
void write_safetensors(const TensorFile& file, const std::string& path);

// A safetensors file that is too large to be
// read whole: where its tensors lie, and one of them at a time.

/// Where a tensor lies in a file.
struct TensorPlace {
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0, bytes = 0;  ///< in the file
};

/// Reads and checks the header alone, as read_safetensors does.
std::map<std::string, TensorPlace> read_tensor_places(const std::string& path);
/// One tensor. Throws InputError when the file ends before it does.
Tensor read_tensor(const std::string& path, const TensorPlace& place);

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

/// "[3, 4]"; an extent that is any is said to be.
std::string shape_text(const Shape& shape);

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

// Tensors as a NumPy archive: an uncompressed ZIP file of .npy arrays, as numpy.savez
// writes it. The formats: numpy.org/doc/stable/reference/generated/numpy.lib.format.html, PKWARE's APPNOTE.TXT.

/// The bytes of the archive. Every tensor becomes an array of its name; every metadata text an array of its UTF-8 bytes
/// (uint8) named `metadata.KEY`. A function of the content alone. Throws InputError for an element type that NumPy does
/// not have (BF16), LimitError for an archive of 4 GB, which would need another format.
std::string format_npz(const TensorFile& file);

}  // namespace krohn
