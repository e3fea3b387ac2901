// tools/krohn/usual_name.h — the names by which other tools know what krohn's options take.
#pragma once

#include <string>

namespace krohn {

/// "fp32" of "float32" and "FP32", "torch" of "PyTorch", "cuda" of "gpu"; any other text in lower case where it has
/// capitals of ASCII, so that a name is found however it is written.
std::string usual_name(const std::string& text);

}  // namespace krohn
