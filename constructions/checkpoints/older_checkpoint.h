// constructions/checkpoints/older_checkpoint.h — gated DeltaProduct checkpoints as the library wrote them before it
// kept all Householders of a layer in one tensor.
#pragma once

#include <cstdint>
#include <string>

#include "krohn/constructions/files/safetensors.h"

namespace krohn {

/// Joins what the older layers had apart for every Householder j, row after row, under the later name:
///   attn.{k,v,b}_projs.{j}.weight → attn.{k,v,b}_proj.weight     attn.{k,v}_conv1ds.{j}.weight →
///   attn.{k,v}_conv1d.weight
/// Leaves files without such names as they are; whether there were any. Throws InputError when a part is missing, too
/// many, or unlike the others.
bool join_householders(TensorFile& file, std::uint32_t householders, const std::string& where);

}  // namespace krohn
