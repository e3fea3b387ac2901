// constructions/checkpoints/checkpoint_config.h — config.json of a checkpoint.
#pragma once

#include <string>
#include <string_view>

#include "krohn/constructions/checkpoints/checkpoint.h"

namespace krohn {

/// The text of config.json, with every member that the library reads.
std::string format_config(const CheckpointConfig& config);

/// The inverse, with the library's defaults for absent members and without regard to members that do not shape the
/// forward pass. Throws InputError naming the member that is out of range or asks for a layer that krohn does not have.
CheckpointConfig parse_config(std::string_view text, const std::string& where);

}  // namespace krohn
