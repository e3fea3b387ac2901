// tools/krohn/report/output.h — the output of verbs: counts and sizes in words, columns for people, JSON for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/groups/base/error.h"

namespace krohn {

/// Reads a count exactly: digits with optional `_` between them, then optionally `eN` (times 10^N) or `^N` (to the
/// power N). Throws InputError, naming `what`, for anything else and for counts past 2^63 − 1.
std::uint64_t parse_count(std::string_view text, std::string_view what);

/// "8G": a count of bytes, or of 2^10, 2^20, 2^30 or 2^40 of them. Throws InputError, naming `name`.
std::uint64_t parse_size(std::string_view text, std::string_view name);
/// The same, written.
std::string size_text(std::uint64_t bytes);

/// Left-aligned columns, two spaces apart, as wide as their widest cell in characters (not bytes). Every line starts
/// with `indent`; no line ends in a space. Cells are shown as `visible` (automata/dfa/visible_text.h) writes them.
std::string format_table(const std::vector<std::vector<std::string>>& rows, const std::string& indent = "  ");

/// The number of code points of valid UTF-8.
std::size_t width(const std::string& text);

/// `text`, or its first characters and "…" when it is longer than `most` characters.
std::string shortened(const std::string& text, std::size_t most);

/// The words of `text` in lines of at most `columns` characters; every line but the first starts with `indent`. Shown
/// as `visible` writes it.
std::string wrapped(const std::string& text, std::size_t columns, const std::string& indent);

// JSON for programs.

/// With its fields in the order in which they were given.
using Json = nlohmann::ordered_json;

/// The version of what `--json` prints: it grows when a field changes its meaning, not when one is added.
inline constexpr int kJsonSchema = 2;

/// Indented text with a final line break. Bytes that are not UTF-8 (of a file's name) become U+FFFD, and
/// characters that would act on a terminal become \u escapes.
std::string json_text(const nlohmann::ordered_json& json);

/// `json_text` of an object with "schema" before its own fields: what `--json` prints and run.json holds.
std::string report_text(const nlohmann::ordered_json& report);

/// The text to standard output, or to the JsonTaker of this thread.
void print_told(const std::string& text);

/// Prints `report_text`.
void print_json(const nlohmann::ordered_json& report);

/// True if `find` came to its end. A limit that it meets stands beside what it had put into `facts` by then, as
/// "limit", for those to print; where people read on (no `is_json`), LimitError goes on to be the last line.
bool finds_all(nlohmann::ordered_json& facts, bool is_json, const std::function<void()>& find);

/// While one exists, what its thread would print as JSON is taken instead: for a program that asks in this process.
class JsonTaker {
 public:
  JsonTaker();
  ~JsonTaker();
  JsonTaker(const JsonTaker&) = delete;
  JsonTaker& operator=(const JsonTaker&) = delete;

  /// The last report, empty where none was made.
  const std::string& text() const { return text_; }

 private:
  friend void print_told(const std::string& text);
  std::string text_;
  JsonTaker* outer_;
};

/// A count of any size, given by its decimal digits: a number up to 2^53, which every reader of JSON holds exactly, and
/// a string of the digits beyond.
nlohmann::ordered_json exact_count(const std::string& digits);

}  // namespace krohn
