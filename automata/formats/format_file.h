// automata/formats/format_file.h — which format a file has, and the reader or writer for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/automata/syntax/language_options.h"

namespace krohn {

/// The same language with a letter for each character of every class, in the order of the classes and of code points.
/// An automaton without classes is returned as it is. Throws InputError when there would be more than 4,096 letters or
/// 2^28 entries in the table.
Dfa with_single_characters(const Dfa& dfa);

/// "dot", "att", …: the names by which users choose a format to read or to write.
std::vector<std::string> format_names(bool to_write = false);

enum class FileFormat {
  kDot,
  kAtt,
  kMata,
  kJff,
  kJson,
  kGap,
  kRegex,
  kHoa,
  kOpenFst,
  kTikz,
  kLatexTable,
  kMooreDot,
  kMealyDot,
};

/// "dot", "gv", "att", "fsm", "mata", "jff", "json", "g", "regex", "hoa", "fst", "tex", …, in any case and with or
/// without a leading dot.
std::optional<FileFormat> format_of_extension(std::string_view extension);

/// By the extension of a file that is to be written. Throws InputError where it names no format.
FileFormat format_to_write(const std::string& path);

/// By the first thing in the text: `@`, `<`, `{`, `digraph`, a digit.
std::optional<FileFormat> format_of_content(std::string_view text);

/// Parses the text of an automaton and completes it (`to_dfa`). A Mealy machine becomes the Moore machine of its last
/// output, or the acceptor of its traces with `options.mealy_as_labels`. `where` names the file in errors.
/// Throws InputError, LimitError, and SystemError when the symbol table cannot be read.
Dfa read_automaton(std::string_view text, std::string_view where, FileFormat format,
                   const LanguageOptions& options = {});

/// Reads the file at `path` ("-": standard input) in `options.format`, else the format of its extension, else of its
/// content. AT&T text without `options.symbols` uses the symbol table beside it, the same name with `.syms`, `.isyms`
/// or
/// `.osyms`, if there is one. A file that does not exist is reported with the names in its directory that look alike.
Dfa read_automaton_file(const std::string& path, const LanguageOptions& options = {});

/// The same without determinising: a nondeterministic acceptor stays one.
Automaton read_automaton_as_it_is(const std::string& path, const LanguageOptions& options = {});

struct WriteOptions {
  std::uint64_t longest_regex = 2000;  ///< bytes; LimitError beyond
};

/// The text of the automaton, or bytes for OpenFst. Throws InputError when the format cannot hold it, LimitError when
/// no short regular expression was found.
std::string write_automaton(const Dfa& dfa, FileFormat format, const WriteOptions& options = {});

/// Writes the automaton to `path` in the format of its extension or in `format`; AT&T text takes its symbol table along
/// as `.syms` beside it (not to standard output), so that reading it back gives the same automaton.
void write_automaton_file(const Dfa& dfa, const std::string& path, std::optional<FileFormat> format = std::nullopt,
                          const WriteOptions& options = {});

}  // namespace krohn
