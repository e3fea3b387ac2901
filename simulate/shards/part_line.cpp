#include "krohn/simulate/shards/part_line.h"

#include <fmt/format.h>

#include <cassert>
#include <charconv>

#include "krohn/automata/formats/json.h"

namespace krohn {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kItem = "{\"item\":";

}  // namespace

std::string header_line(const PartHeader& header) {
  Json json{{"part", header.kind},          {"krohn", header.maker}, {"options", header.options},
            {"list", header.list},          {"items", header.items}, {"shard", header.shard.number},
            {"shards", header.shard.count}, {"lines", header.lines}};
  if (!header.digest.empty()) json["sha256"] = header.digest;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<PartHeader> parse_header(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  for (const char* name : {"part", "krohn", "options", "list"})
    if (!json.contains(name) || !json[name].is_string()) return std::nullopt;
  for (const char* name : {"items", "shard", "shards", "lines"})
    if (!json.contains(name) || !json[name].is_number_unsigned()) return std::nullopt;
  PartHeader header{json["part"],    json["krohn"],
                    json["options"], json["list"],
                    json["items"],   {json["shard"], json["shards"]},
                    json["lines"],   {}};
  if (json.contains("sha256")) {
    if (!json["sha256"].is_string()) return std::nullopt;
    header.digest = json["sha256"];
  }
  if (header.shard.number < 1 || header.shard.number > header.shard.count || header.shard.count > kMostShards)
    return std::nullopt;
  return header;
}

std::string numbered(std::uint64_t item, std::string_view line) {
  assert(line.size() > 2 && line.front() == '{' && line.find('\n') == std::string_view::npos);
  return fmt::format("{}{},{}\n", kItem, item, line.substr(1));
}

std::optional<std::pair<std::uint64_t, std::string>> parse_numbered(std::string_view line) {
  if (!line.starts_with(kItem) || !Json::accept(line)) return std::nullopt;
  const char* const end = line.data() + line.size();
  std::uint64_t item = 0;
  const auto [stop, error] = std::from_chars(line.data() + kItem.size(), end, item);
  if (error != std::errc() || stop == end || *stop != ',') return std::nullopt;
  return std::pair(item, "{" + std::string(stop + 1, end));
}

}  // namespace krohn
