// tools/krohn/report/page.h — the page that `krohn report` writes: tools/krohn/page/ with data in it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace krohn {

/// Bytes as text (RFC 4648).
std::string base64(std::string_view bytes);

/// One HTML file that loads nothing: style, script and `data`, which the script finds as JSON. No name in the data can
/// end its element, and no other script is allowed to run.
std::string page_of(const nlohmann::ordered_json& data);

}  // namespace krohn
