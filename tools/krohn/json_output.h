// tools/krohn/json_output.h — JSON for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace krohn {

/// Indented text with a final line break. Bytes that are not UTF-8 (of a file's name) become U+FFFD, and
/// characters that would act on a terminal become \u escapes.
std::string json_text(const nlohmann::ordered_json& json);

/// `json_text` to standard output.
void print_json(const nlohmann::ordered_json& json);

}  // namespace krohn
