// constructions/files/safetensors.h — the safetensors container: named tensors with a JSON header, read strictly.
// The format: github.com/huggingface/safetensors. A file is the header's length (8 bytes, little-endian), the header
// (JSON), and one buffer that the tensors tile in the order of their offsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
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

}  // namespace krohn
