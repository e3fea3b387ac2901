#include "tools/krohn/report/json_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/groups/base/error.h"

namespace krohn {

namespace {

thread_local JsonTaker* taking = nullptr;

/// Valid UTF-8 with every unseen character but the line breaks between values as \u escapes; in JSON they can only
/// stand in strings.
std::string with_escapes(const std::string& text) {
  if (std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x7F; })) return text;
  std::string escaped;
  for (const char32_t c : decode_utf8(text)) {
    if (c == U'\n' || !is_unseen(c))
      append_utf8(escaped, c);
    else if (c < 0x10000)
      escaped += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c));
    else
      escaped += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + ((static_cast<std::uint32_t>(c) - 0x10000) >> 10),
                             0xDC00 + (static_cast<std::uint32_t>(c) & 0x3FF));
  }
  return escaped;
}

}  // namespace

std::string json_text(const nlohmann::ordered_json& json) {
  return with_escapes(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) + "\n";
}

std::string report_text(const nlohmann::ordered_json& report) {
  nlohmann::ordered_json whole{{"schema", kJsonSchema}};
  whole.update(report);
  return json_text(whole);
}

JsonTaker::JsonTaker() : outer_(taking) { taking = this; }
JsonTaker::~JsonTaker() { taking = outer_; }

void print_told(const std::string& text) {
  if (taking != nullptr)
    taking->text_ = text;
  else
    fmt::print("{}", text);
}

void print_json(const nlohmann::ordered_json& report) { print_told(report_text(report)); }

bool finds_all(nlohmann::ordered_json& facts, bool is_json, const std::function<void()>& find) {
  try {
    find();
    return true;
  } catch (const LimitError& error) {
    if (!is_json) throw;
    facts["limit"] = error.what();
    return false;
  }
}

nlohmann::ordered_json exact_count(const std::string& digits) {
  constexpr std::uint64_t kMax = std::uint64_t{1} << 53;
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (error != std::errc() || count > kMax) return digits;
  return count;
}

}  // namespace krohn
