#include "krohn/automata/formats/format_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <variant>

#include "krohn/automata/formats/format_att.h"
#include "krohn/automata/formats/format_dot.h"
#include "krohn/automata/formats/format_jff.h"
#include "krohn/automata/formats/format_json.h"
#include "krohn/automata/formats/format_mata.h"
#include "krohn/groups/atomic_file.h"
#include "krohn/groups/error.h"
#include "krohn/groups/near_miss.h"

namespace krohn {

namespace {

namespace fs = std::filesystem;

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::string extension_of(const std::string& path) { return lower_case(fs::path(path).extension().string()); }

std::string symbols_beside(const std::string& path) { return fs::path(path).replace_extension(".syms").string(); }

/// "; did you mean a.dot or b.dot?", or nothing. Looks at no more than 10,000 names.
std::string suggestion(const fs::path& path) {
  std::error_code error;
  const std::string wanted = path.filename().string();
  if (wanted.empty() || wanted.size() > 255) return "";
  std::vector<std::pair<std::size_t, std::string>> near;
  const fs::path directory = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::size_t looked_at = 0;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end && looked_at < 10'000;
       entry.increment(error), ++looked_at) {
    const std::string name = entry->path().filename().string();
    const std::size_t distance = edit_distance(lower_case(wanted), lower_case(name));
    if (distance <= std::max<std::size_t>(1, wanted.size() / 5))
      near.emplace_back(distance, path.has_parent_path() ? entry->path().string() : name);
  }
  std::sort(near.begin(), near.end());
  if (near.size() > 3) near.resize(3);
  std::string text;
  for (const auto& candidate : near) text += (text.empty() ? "; did you mean " : " or ") + candidate.second;
  return text.empty() ? text : text + "?";
}

std::string read_existing_file(const std::string& path) {
  std::error_code error;
  if (path != "-" && !fs::exists(path, error) && !error)
    throw SystemError(fmt::format("{}: no such file{}\nA language is a file, regex:EXPRESSION or name:FAMILY.", path,
                                  suggestion(path)));
  return read_text_file(path);
}

/// Two columns, a name and a number, where AT&T text has states or states and weights; 0 is the empty word.
bool is_symbol_table(std::string_view text) {
  std::size_t lines = 0, names = 0;
  for (std::size_t at = 0; at < text.size() && lines < 1000; ++lines) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    while (line.ends_with('\r') || line.ends_with(' ') || line.ends_with('\t')) line.remove_suffix(1);
    const std::size_t gap = line.find_first_of(" \t");
    if (line.empty() && lines > 0) continue;
    if (gap == 0 || gap == std::string_view::npos) return false;
    const std::string_view name = line.substr(0, gap), number = line.substr(line.find_last_of(" \t") + 1);
    if (line.find_first_not_of(" \t", gap) + number.size() != line.size() || !parse_number(number)) return false;
    names += parse_number(name) ? 0 : 1;
  }
  return names > 0;
}

Dfa read_att_automaton(std::string_view text, std::string_view where, const LanguageOptions& options) {
  if (!options.symbols) return to_dfa(read_att(text, where), where, {options.max_states});
  const AttSymbols symbols = read_symbol_table(read_text_file(*options.symbols), *options.symbols);
  return to_dfa(read_att(text, where, &symbols), where, {options.max_states});
}

Dfa read_dot_automaton(std::string_view text, std::string_view where, const LanguageOptions& options) {
  const auto machine = read_dot(text, where, {options.mealy_as_labels});
  if (const auto* mealy = std::get_if<Mealy>(&machine)) return to_moore(*mealy);
  return to_dfa(std::get<Draft>(machine), where, {options.max_states});
}

bool begins_dot(std::string_view text) {
  for (const std::string_view keyword : {"digraph", "strict", "graph", "//", "/*"})
    if (text.starts_with(keyword)) return true;
  return false;
}

/// All that is known of one format.
struct Format {
  FileFormat format;
  std::array<std::string_view, 2> extensions;  ///< the first is its name
  bool (*begins)(std::string_view text);       ///< whether a text that begins so, white space left out, is of it
  Dfa (*read)(std::string_view text, std::string_view where, const LanguageOptions& options);
  std::string (*write)(const Dfa& dfa);  ///< nothing: it is read only
};

constexpr std::array kFormats{
    Format{
        FileFormat::kDot, {"dot", "gv"}, begins_dot, read_dot_automaton, [](const Dfa& dfa) { return write_dot(dfa); }},
    Format{FileFormat::kAtt,
           {"att", "fsm"},
           [](std::string_view text) { return text[0] >= '0' && text[0] <= '9'; },
           read_att_automaton,
           [](const Dfa& dfa) { return write_att(dfa); }},
    Format{FileFormat::kMata,
           {"mata"},
           [](std::string_view text) { return text[0] == '@'; },
           [](std::string_view text, std::string_view where, const LanguageOptions& options) {
             return to_dfa(read_mata(text, where), where, {options.max_states});
           },
           nullptr},
    Format{FileFormat::kJff,
           {"jff"},
           [](std::string_view text) { return text[0] == '<'; },
           [](std::string_view text, std::string_view where, const LanguageOptions& options) {
             return to_dfa(read_jff(text, where), where, {options.max_states});
           },
           [](const Dfa& dfa) { return write_jff(dfa); }},
    Format{FileFormat::kJson,
           {"json"},
           [](std::string_view text) { return text[0] == '{'; },
           [](std::string_view text, std::string_view where, const LanguageOptions& options) {
             return to_dfa(read_json(text, where), where, {options.max_states});
           },
           [](const Dfa& dfa) { return write_json(dfa); }},
};

const Format& entry(FileFormat format) {
  return *std::find_if(kFormats.begin(), kFormats.end(), [format](const Format& f) { return f.format == format; });
}

}  // namespace

std::vector<std::string> format_names(bool only_written) {
  std::vector<std::string> all;
  for (const Format& format : kFormats)
    if (format.write || !only_written) all.emplace_back(format.extensions[0]);
  return all;
}

namespace {

/// "dot, att, mata, jff, json", or with another word before the last; those that can be written only, where asked.
std::string names(std::string_view last = ", ", bool only_written = false) {
  std::vector<std::string> all = format_names(only_written);
  const std::string final = all.back();
  all.pop_back();
  return fmt::format("{}{}{}", fmt::join(all, ", "), last, final);
}

FileFormat format_of(const std::string& path, std::string_view text, const LanguageOptions& options) {
  if (options.format) {
    if (const auto format = format_of_extension(*options.format)) return *format;
    throw InputError(
        fmt::format("the format {} is not known; the formats are {}", in_quotes(*options.format), names()));
  }
  if (const auto format = format_of_extension(extension_of(path))) return *format;
  if (is_symbol_table(text))
    throw InputError(
        path, "a symbol table (names and numbers), not an automaton; give it with --symbols beside an .att file");
  if (const auto format = format_of_content(text)) return *format;
  throw InputError(
      path, fmt::format("neither the name nor the content tells the format; name it with --format {}", names(" or ")));
}

}  // namespace

std::optional<FileFormat> format_of_extension(std::string_view extension) {
  if (extension.starts_with('.')) extension.remove_prefix(1);
  const std::string name = lower_case(extension);
  for (const Format& format : kFormats)
    for (const std::string_view known : format.extensions)
      if (!name.empty() && name == known) return format.format;
  return std::nullopt;
}

std::optional<FileFormat> format_of_content(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  if (text.empty()) return std::nullopt;
  for (const Format& format : kFormats)
    if (format.begins(text)) return format.format;
  return std::nullopt;
}

Dfa read_automaton(std::string_view text, std::string_view where, FileFormat format, const LanguageOptions& options) {
  return entry(format).read(text, where, options);
}

Dfa read_automaton_file(const std::string& path, const LanguageOptions& options) {
  if (!options.format && extension_of(path) == ".safetensors")
    throw InputError(path, "a network, not an automaton; only commands that take a network read .safetensors");
  const std::string text = read_existing_file(path);
  const FileFormat format = format_of(path, text, options);
  LanguageOptions resolved = options;
  std::error_code error;
  if (format == FileFormat::kAtt && !options.symbols && path != "-" && fs::exists(symbols_beside(path), error))
    resolved.symbols = symbols_beside(path);
  return read_automaton(text, path == "-" ? "standard input" : path, format, resolved);
}

std::string write_automaton(const Dfa& dfa, FileFormat format) {
  const Format& known = entry(format);
  if (!known.write)
    throw InputError(
        fmt::format(".{} files are read, not written; write {}", known.extensions[0], names(" or ", true)));
  return known.write(dfa);
}

void write_automaton_file(const Dfa& dfa, const std::string& path, std::optional<FileFormat> format) {
  if (!format) format = format_of_extension(extension_of(path));
  if (!format) throw InputError(path, "the name does not tell the format; end it in .dot, .att, .jff or .json");
  const std::string text = write_automaton(dfa, *format);
  if (*format == FileFormat::kAtt && path != "-") write_file(symbols_beside(path), write_symbol_table(dfa.alphabet()));
  write_file(path, text);
}

}  // namespace krohn
