// constructions/checkpoints/checkpoint_config.h — config.json of a checkpoint.
#pragma once

#include <string>
#include <string_view>

#include "krohn/constructions/checkpoints/checkpoint.h"

namespace krohn {

/// The text of config.json, with every member that the library reads.
std::string format_config(const CheckpointConfig& config);

/// The inverse, with the library's defaults for members that are absent or null, and without regard to members known
/// not to change the logits. Throws InputError naming the member that is out of range, asks for a layer that krohn does
/// not have, or is not known: what a library added, a checkpoint may depend on.
CheckpointConfig parse_config(std::string_view text, const std::string& where);

}  // namespace krohn
