#include "krohn/automata/formats/format_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <ranges>
#include <variant>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/formats.h"
#include "krohn/automata/syntax/regex.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

constexpr std::uint64_t kMaxLetters = 4096, kMaxEntries = std::uint64_t{1} << 28;

}  // namespace

Dfa with_single_characters(const Dfa& dfa) {
  const auto symbols = dfa.alphabet().symbols();
  std::uint64_t letters = 0;
  for (const Symbol& symbol : symbols) letters += std::max<std::uint64_t>(1, cardinality(symbol.characters));
  if (letters == symbols.size()) return dfa;
  if (letters > kMaxLetters || letters * dfa.states() > kMaxEntries)
    throw InputError(
        fmt::format("this format has no classes of characters, and the letters {} stand for {}; --alphabet "
                    "says which of them are meant, or JSON and DOT hold classes",
                    to_string(dfa.alphabet()), counted(letters, "character")));
  std::vector<Symbol> single;
  std::vector<Letter> of;  // per new letter, the old one
  for (Letter letter = 0; letter < symbols.size(); ++letter) {
    if (symbols[letter].characters.empty()) {
      single.push_back(symbols[letter]);
      of.push_back(letter);
    }
    for (const CodePointRange& range : symbols[letter].characters)
      for (char32_t c = range.first; c <= range.last; ++c) {
        single.push_back(character_symbol(c));
        of.push_back(letter);
      }
  }
  std::vector<State> table;
  table.reserve(of.size() * dfa.states());
  for (State state = 0; state < dfa.states(); ++state)
    for (const Letter letter : of) table.push_back(dfa.next(state, letter));
  Alphabet alphabet = Alphabet::from_symbols(std::move(single));
  return Dfa::acceptor(std::move(alphabet), std::move(table), dfa.initial(),
                       std::vector<bool>(dfa.outputs().begin(), dfa.outputs().end()));
}

namespace {

namespace fs = std::filesystem;

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::string extension_of(const std::string& path) { return lower_case(fs::path(path).extension().string()); }

std::optional<std::string> find_symbols_beside(const std::string& path) {
  std::error_code error;
  for (std::string& table : symbol_tables_beside(path))
    if (fs::exists(table, error)) return std::move(table);
  return std::nullopt;
}

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
    const bool lacks_extension = name.starts_with(wanted + ".");
    const std::size_t distance = lacks_extension ? 0 : edit_distance(lower_case(wanted), lower_case(name));
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
    throw SystemError(fmt::format(
        "{}: no such file{}\nA language is a file, or begins with regex:, search:, name:, expr:, ltlf: or pltl:.", path,
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
    if (line.find_first_not_of(" \t", gap) + number.size() != line.size() || !number_in<std::uint64_t>(number))
      return false;
    names += number_in<std::uint64_t>(name) ? 0 : 1;
  }
  return names > 0;
}

/// The content of a file of any format, before it is made deterministic.
using Machine = std::variant<Draft, Mealy, Automaton>;

Machine read_att_machine(std::string_view text, std::string_view where, const LanguageOptions& options) {
  if (!options.symbols) return read_att(text, where, nullptr, options);
  const AttSymbols symbols = read_symbol_table(read_text_file(*options.symbols), *options.symbols, options);
  return read_att(text, where, &symbols, options);
}

template <Draft read(std::string_view text, std::string_view where, const LanguageOptions& options)>
Machine read_machine(std::string_view text, std::string_view where, const LanguageOptions& options) {
  return read(text, where, options);
}

bool begins_dot(std::string_view text) {
  for (const std::string_view keyword : {"digraph", "strict", "graph", "//", "/*"})
    if (text.starts_with(keyword)) return true;
  return false;
}

using Options = WriteOptions;

/// A text that holds one regular expression, with or without a final line break.
Automaton read_expression(std::string_view text, std::string_view where, const LanguageOptions& options) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  RegexOptions regex;
  if (options.alphabet) regex.alphabet = parse_alphabet(*options.alphabet);
  regex.max_states = options.max_states;
  try {
    return parse_regex_as_it_is(text, regex);
  } catch (const InputError& error) {
    throw InputError(where, error.what());
  }
}

std::string write_expression(const Dfa& dfa, const Options& options) {
  return regex_of(dfa, {.max_length = options.longest_regex}) + "\n";
}

/// For formats without options of their own.
template <std::string write(const Dfa& dfa)>
std::string write_plainly(const Dfa& dfa, const Options&) {
  return write(dfa);
}

/// For formats that know letters only.
template <std::string write(const Dfa& dfa)>
std::string write_characters(const Dfa& dfa, const Options&) {
  return write(dfa.is_acceptor() ? with_single_characters(dfa) : dfa);
}

/// All that is known of one format.
struct Format {
  FileFormat format;
  std::array<std::string_view, 3> extensions;  ///< the first is its name
  bool (*begins)(std::string_view text);       ///< whether a text that begins so, white space left out, is of it
  /// Nothing: it is written only.
  Machine (*read)(std::string_view text, std::string_view where, const LanguageOptions& options);
  std::string (*write)(const Dfa& dfa, const Options& options);
};

bool begins_no_text(std::string_view) { return false; }

constexpr std::array kFormats{
    Format{FileFormat::kDot,
           {"dot", "gv"},
           begins_dot,
           [](std::string_view text, std::string_view where, const LanguageOptions& options) {
             return std::visit([](auto machine) { return Machine(std::move(machine)); },
                               read_dot(text, where, options));
           },
           [](const Dfa& dfa, const Options&) { return write_dot(dfa); }},
    Format{FileFormat::kAtt,
           {"att", "fsm"},
           [](std::string_view text) { return text[0] >= '0' && text[0] <= '9'; },
           read_att_machine,
           write_characters<write_att>},
    Format{FileFormat::kMata,
           {"mata"},
           [](std::string_view text) { return text[0] == '@'; },
           read_machine<read_mata>,
           write_characters<write_mata>},
    Format{FileFormat::kJff,
           {"jff"},
           [](std::string_view text) { return text[0] == '<' && text.find("<structure") != text.npos; },
           read_machine<read_jff>,
           write_plainly<write_jff>},
    Format{FileFormat::kJson,
           {"json"},
           [](std::string_view text) { return text[0] == '{'; },
           [](std::string_view text, std::string_view where, const LanguageOptions&) {
             return Machine(read_json(text, where));
           },
           write_plainly<write_json>},
    Format{FileFormat::kGap, {"gap", "g"}, begins_no_text, read_machine<read_gap>, write_plainly<write_gap>},
    Format{FileFormat::kRegex,
           {"regex"},
           begins_no_text,
           [](std::string_view text, std::string_view where, const LanguageOptions& options) {
             return Machine(read_expression(text, where, options));
           },
           write_expression},
    Format{FileFormat::kHoa, {"hoa"}, begins_no_text, nullptr, write_plainly<write_hoa>},
    Format{FileFormat::kOpenFst, {"openfst", "fst"}, begins_no_text, nullptr, write_characters<write_openfst>},
    Format{FileFormat::kTikz, {"tikz", "tex"}, begins_no_text, nullptr, write_plainly<write_tikz>},
    Format{FileFormat::kLatexTable, {"latex-table"}, begins_no_text, nullptr, write_plainly<write_latex_table>},
    Format{FileFormat::kMooreDot, {"moore-dot"}, begins_no_text, nullptr, write_plainly<write_moore_dot>},
    Format{FileFormat::kMealyDot,
           {"mealy-dot"},
           begins_no_text,
           nullptr,
           [](const Dfa& dfa, const Options&) { return write_dot(to_mealy(dfa)); }},
};

const Format& entry(FileFormat format) {
  return *std::find_if(kFormats.begin(), kFormats.end(), [format](const Format& f) { return f.format == format; });
}

}  // namespace

std::vector<std::string> format_names(bool to_write) {
  std::vector<std::string> all;
  for (const Format& format : kFormats)
    if (to_write || format.read != nullptr) all.emplace_back(format.extensions[0]);
  return all;
}

namespace {

/// "dot, att, …", or with another word before the last.
std::string names(std::string_view last = ", ", bool to_write = false) {
  std::vector<std::string> all = format_names(to_write);
  const std::string final = all.back();
  all.pop_back();
  return fmt::format("{}{}{}", fmt::join(all, ", "), last, final);
}

Automaton automaton_of(Machine machine, std::string_view where) {
  if (auto* draft = std::get_if<Draft>(&machine)) return to_automaton(*draft, where);
  if (const auto* mealy = std::get_if<Mealy>(&machine)) return to_moore(*mealy);
  return std::move(std::get<Automaton>(machine));
}

Machine read_machine_of(std::string_view text, std::string_view where, FileFormat format,
                        const LanguageOptions& options) {
  const Format& known = entry(format);
  if (known.read == nullptr)
    throw InputError(where,
                     fmt::format("{} is written, not read; the formats are {}", known.extensions[0], names(" and ")));
  return known.read(text, where, options);
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
  return to_dfa(automaton_of(read_machine_of(text, where, format, options), where), options.max_states);
}

namespace {

/// A text, the format that it has, and how to read it.
struct OpenedFile {
  std::string text, where;
  FileFormat format;
  LanguageOptions options;
};

OpenedFile open_file(const std::string& path, const LanguageOptions& options) {
  if (!options.format && extension_of(path) == ".safetensors")
    throw InputError(path, "a network, not an automaton; only commands that take a network read .safetensors");
  OpenedFile file{read_existing_file(path), path == "-" ? "standard input" : path, FileFormat::kDot, options};
  file.format = format_of(path, file.text, options);
  if (file.format == FileFormat::kAtt && !options.symbols && path != "-")
    file.options.symbols = find_symbols_beside(path);
  return file;
}

}  // namespace

Dfa read_automaton_file(const std::string& path, const LanguageOptions& options) {
  const OpenedFile file = open_file(path, options);
  return read_automaton(file.text, file.where, file.format, file.options);
}

Automaton read_automaton_as_it_is(const std::string& path, const LanguageOptions& options) {
  const OpenedFile file = open_file(path, options);
  return automaton_of(read_machine_of(file.text, file.where, file.format, file.options), file.where);
}

std::string write_automaton(const Dfa& dfa, FileFormat format, const WriteOptions& options) {
  return entry(format).write(dfa, options);
}

FileFormat format_to_write(const std::string& path) {
  if (const auto format = format_of_extension(extension_of(path))) return *format;
  throw InputError(path, fmt::format("the name does not tell the format; end it in .dot, .att, .mata, .jff, .json, "
                                     ".regex, …, or name it: {}",
                                     names(" or ", true)));
}

namespace {

/// And 0 among them.
bool has_only_numbers(const Alphabet& alphabet) {
  const auto names = alphabet.symbols() | std::views::transform(&Symbol::name);
  return std::ranges::all_of(names,
                             [](const std::string& name) { return number_in<std::uint64_t>(name).has_value(); }) &&
         std::ranges::find(names, "0") != names.end();
}

}  // namespace

void write_automaton_file(const Dfa& dfa, const std::string& path, std::optional<FileFormat> format,
                          const WriteOptions& options) {
  if (!format) format = format_to_write(path);
  const std::string text = write_automaton(dfa, *format, options);
  if (*format == FileFormat::kAtt && path == "-" && has_only_numbers(with_single_characters(dfa).alphabet()))
    throw InputError("--to",
                     "without a symbol table, the number 0 of AT&T text is the empty word, where all letters are "
                     "numbers; write to a file, which gets a table");
  if (*format == FileFormat::kAtt && path != "-")
    write_file(symbol_tables_beside(path).front(), write_symbol_table(with_single_characters(dfa).alphabet()));
  write_file(path, text);
}

}  // namespace krohn
