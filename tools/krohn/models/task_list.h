// tools/krohn/models/task_list.h — every task and every language that has a name, for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace krohn {

/// {"tasks": [{"name", "summary", "source", "length_unit", "train", "test", "chance"}], "languages": [{"pattern",
/// "summary", "source", "example"}]}
nlohmann::ordered_json task_list();

}  // namespace krohn
