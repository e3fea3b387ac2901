#include "tools/krohn/json_output.h"

#include <cstdio>

#include "krohn/automata/formats/json.h"

namespace krohn {

std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void print_json(const nlohmann::ordered_json& json) { std::fputs(json_text(json).c_str(), stdout); }

}  // namespace krohn
