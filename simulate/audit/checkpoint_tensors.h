// simulate/audit/checkpoint_tensors.h — the tensors of a published checkpoint, in one file or in shards, one in memory
// at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "krohn/constructions/files/tensor_places.h"

namespace krohn {

class CheckpointTensors {
 public:
  /// None: only the config is known.
  CheckpointTensors() = default;
  /// model.safetensors, or the shards that model.safetensors.index.json names. Reads headers only; a folder without
  /// either has no tensors. Throws InputError for a shard that is missing or damaged.
  explicit CheckpointTensors(const std::string& folder);

  bool empty() const { return places_.empty(); }
  bool has(const std::string& name) const { return places_.contains(name); }
  /// Throws InputError naming the tensor where it is missing.
  const std::vector<std::uint64_t>& shape(const std::string& name) const;
  /// Of F32, F16, BF16 or F64, all finite.
  std::vector<double> numbers(const std::string& name) const;
  std::uint64_t bytes() const;

 private:
  struct Place {
    std::string file;
    TensorPlace place;
  };
  const Place& at(const std::string& name) const;

  std::string folder_;
  std::map<std::string, Place> places_;
};

}  // namespace krohn
