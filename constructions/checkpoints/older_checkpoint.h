// constructions/checkpoints/older_checkpoint.h — gated DeltaProduct checkpoints as the library wrote them before it
// kept all Householders of a layer in one tensor.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "krohn/constructions/files/safetensors.h"

namespace krohn {

/// By the name of a tensor, those of the tensors that it stands for, one for each Householder.
using HouseholderParts = std::map<std::string, std::vector<std::string>>;

/// Joins what the older layers had apart for every Householder j, row after row, under the later name:
///   attn.{k,v,b}_projs.{j}.weight → attn.{k,v,b}_proj.weight     attn.{k,v}_conv1ds.{j}.weight →
///   attn.{k,v}_conv1d.weight
/// Returns what it joined, and leaves files without such names as they are. Throws InputError when a part is missing,
/// too many, or unlike the others.
HouseholderParts join_householders(TensorFile& file, std::uint32_t householders, const std::string& where);

/// The tensors as they were before they were joined.
TensorFile part_householders(TensorFile file, const HouseholderParts& parts);

}  // namespace krohn
