#include "tools/krohn/report/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <sstream>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"

namespace krohn {
namespace {

constexpr std::string_view kUnits = "KMGT";

constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

std::optional<std::uint64_t> multiply(std::uint64_t a, std::uint64_t b) {
  if (b != 0 && a > kLargest / b) return std::nullopt;
  return a * b;
}

std::optional<std::uint64_t> power(std::uint64_t base, std::uint64_t exponent) {
  if (base <= 1) return exponent == 0 ? 1 : base;
  std::optional<std::uint64_t> result = 1;
  for (std::uint64_t i = 0; i < exponent && result; ++i) result = multiply(*result, base);
  return result;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Digits with single underscores between them.
std::optional<std::uint64_t> digits(std::string_view text) {
  if (text.empty() || !is_digit(text.front()) || !is_digit(text.back())) return std::nullopt;
  std::optional<std::uint64_t> value = 0;
  for (std::size_t i = 0; i < text.size() && value; ++i) {
    if (text[i] == '_' && text[i - 1] != '_') continue;
    if (!is_digit(text[i])) return std::nullopt;
    value = multiply(*value, 10);
    const auto digit = static_cast<std::uint64_t>(text[i] - '0');
    if (!value || *value > kLargest - digit) return std::nullopt;
    *value += digit;
  }
  return value;
}

std::optional<std::uint64_t> count_of(std::string_view text) {
  const std::size_t mark = text.find_first_of("eE^");
  const auto base = digits(text.substr(0, mark));
  if (mark == std::string_view::npos || !base) return base;
  const auto exponent = digits(text.substr(mark + 1));
  if (!exponent) return std::nullopt;
  if (text[mark] == '^') return power(*base, *exponent);
  const auto scale = power(10, *exponent);
  return scale ? multiply(*base, *scale) : (*base == 0 ? base : std::nullopt);
}

}  // namespace

std::uint64_t parse_count(std::string_view text, std::string_view what) {
  if (const auto count = count_of(text)) return *count;
  throw InputError(what, fmt::format("\"{}\" is not a count below 2^63; write 1000, 1e8, 10^8 or 1_000_000", text));
}

std::uint64_t parse_size(std::string_view text, std::string_view name) {
  const std::size_t unit = text.empty() ? std::string::npos : kUnits.find(text.back());
  const bool has_unit = unit != std::string::npos;
  const std::uint64_t bytes = has_unit ? std::uint64_t{1} << 10 * (unit + 1) : 1;
  std::uint64_t count = 0;
  try {
    count = parse_count(text.substr(0, text.size() - (has_unit ? 1 : 0)), name);
  } catch (const InputError&) {
    throw InputError(name, fmt::format("\"{}\" is not a size; write bytes, as 1e9, or 500M, 8G", text));
  }
  if (count > UINT64_MAX / bytes) throw InputError(name, fmt::format("{} is more than 2^64 bytes", text));
  return count * bytes;
}

std::string size_text(std::uint64_t bytes) {
  for (std::size_t unit = kUnits.size(); unit > 0; --unit)
    if (const std::uint64_t one = std::uint64_t{1} << 10 * unit; bytes >= one && bytes % one == 0)
      return fmt::format("{}{}", bytes / one, kUnits[unit - 1]);
  return fmt::format("{}", bytes);
}

namespace {

bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

std::vector<std::size_t> column_widths(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  return widths;
}

}  // namespace

std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string shortened(const std::string& text, std::size_t most) {
  if (width(text) <= most) return text;
  std::size_t end = 0, characters = 0;
  while (end < text.size() && (characters < most || !starts_character(text[end])))
    characters += starts_character(text[end++]) ? 1 : 0;
  return text.substr(0, end) + "…";
}

std::string format_table(const std::vector<std::vector<std::string>>& rows, const std::string& indent) {
  std::vector<std::vector<std::string>> cells = rows;
  for (auto& row : cells)
    for (std::string& cell : row) cell = visible(cell);
  const auto widths = column_widths(cells);
  std::string text;
  for (const auto& row : cells) {
    std::string line = indent;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - width(row[i]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string wrapped(const std::string& text, std::size_t columns, const std::string& indent) {
  std::istringstream words(text);
  std::string result, line;
  for (std::string word; words >> word;) {
    word = visible(word);
    if (!line.empty() && width(line) + 1 + width(word) > columns) {
      result += line + '\n';
      line = indent + word;
    } else {
      line += (line.empty() ? "" : " ") + word;
    }
  }
  return result + line;
}

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
