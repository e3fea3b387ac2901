#include "tools/krohn/json_output.h"

#include <charconv>
#include <cstdint>
#include <cstdio>

#include "krohn/automata/formats/json.h"

namespace krohn {

std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string report_text(const nlohmann::ordered_json& report) {
  nlohmann::ordered_json whole{{"schema", kJsonSchema}};
  whole.update(report);
  return json_text(whole);
}

void print_json(const nlohmann::ordered_json& report) { std::fputs(report_text(report).c_str(), stdout); }

nlohmann::ordered_json exact_count(const std::string& digits) {
  constexpr std::uint64_t kGreatest = std::uint64_t{1} << 53;
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (error != std::errc() || count > kGreatest) return digits;
  return count;
}

}  // namespace krohn
