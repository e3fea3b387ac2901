// constructions/safetensors.h — the safetensors container: named tensors with a JSON header, read strictly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace krohn {

/// One tensor: element type ("F64", "F32", "F16", "BF16", "I64", "I32", "U32", "U8", …), shape, little-endian bytes.
struct Tensor {
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::vector<std::byte> bytes;
  std::uint64_t elements() const;
};

struct TensorFile {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Reads a file. Throws InputError for a header that is truncated, larger than the file or than 100 MB, not JSON, with a
/// repeated key, an unknown dtype, a negative or overflowing shape, offsets that do not match it, tensors that overlap or
/// leave gaps, or bytes left over. Nothing is allocated from a length before it was checked against the file.
TensorFile read_safetensors(const std::string& path);
TensorFile parse_safetensors(std::span<const std::byte> bytes, const std::string& where);

/// Writes to a temporary name beside `path` and renames. Tensors in name order; the header is padded so that data starts
/// at a multiple of 8. Throws SystemError, leaving nothing behind.
void write_safetensors(const TensorFile& file, const std::string& path);

}  // namespace krohn
