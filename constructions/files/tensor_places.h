// constructions/files/tensor_places.h — a safetensors file (constructions/files/safetensors.h) that is too large to be
// read whole: where its tensors lie, and one of them at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "krohn/constructions/files/safetensors.h"

namespace krohn {

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

}  // namespace krohn
