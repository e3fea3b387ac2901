// constructions/checkpoints/hybrid_config.h — config.json of transformers' hybrid models: Olmo Hybrid, Qwen3-Next.
#pragma once

#include <string>

#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/constructions/checkpoints/config_members.h"

namespace krohn {

/// Of the norms of Olmo Hybrid's heads, whatever the config says.
inline constexpr double kOlmoOutputEpsilon = 1e-5;

/// What stands in config.json. Attention layers are named, though they are silent: the library's caches want one.
std::string format_hybrid_config(const CheckpointConfig& config);

/// `config` has the family, and what all families have. Throws as parse_config (checkpoint_config.h). Members of
/// attention layers are let pass.
CheckpointConfig parse_hybrid_config(const ConfigMembers& members, CheckpointConfig config);

}  // namespace krohn
