#include "krohn/automata/formats/format_dot_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "krohn/automata/dfa/symbol_names.h"
#include "krohn/automata/dfa/utf8.h"
#include "krohn/automata/formats/format_draft.h"
#include "krohn/groups/error.h"

namespace krohn {

namespace {

constexpr int kDeepest = 50;
constexpr int kLongestChain = 2000;  // Graphviz' parser takes four entries of its stack, of 10,000, for each arc

/// Walks once over the text, as Graphviz' lexer would, and copies what it will be given.
class Preparer {
 public:
  Preparer(std::string_view text, std::string_view where) : text_(text), where_(where) {
    prepared_.reserve(text.size());
  }

  std::string run() {
    while (at_ < text_.size()) step();
    if (!finished_)
      fail(opened_ ? text_.size() : 0, opened_ ? "the graph ends before its closing brace" : "not a DOT graph");
    prepared_.erase(prepared_.rfind('}') + 1);  // Graphviz would keep what follows for the next file
    return std::move(prepared_);
  }

 private:
  [[noreturn]] void fail(std::size_t offset, const std::string& message) const {
    throw InputError(position_in(text_, offset, where_), message);
  }
  bool starts(std::string_view token) const { return text_.substr(at_).starts_with(token); }

  void step() {
    const char c = text_[at_];
    if (starts("/*")) return blank_to("*/", "a comment is not closed");
    if (starts("//") || (c == '#' && (at_ == 0 || text_[at_ - 1] == '\n'))) return blank_line();
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') return copy(1);
    if (finished_) fail(at_, "something follows the graph; one graph per file");
    if (c == '"') return copy_string();
    if (c == '<') return copy_html();
    if (c == '@') fail(at_, "unexpected '@'; put names in double quotes");
    note_structure(c);
    note_chain(c);
    last_ = c;
    copy(1);
  }

  /// Follows braces and refuses node sets at the ends of arcs: two sets of n nodes would be n² arcs.
  void note_structure(char c) {
    if (at_keyword_subgraph()) subgraph_named_ = true;
    const bool after_arrow = last_ == '>' || last_ == '-';
    if (after_arrow && (c == '{' || subgraph_named_)) refuse_set();
    if (c == '-' && (last_ == '}' || subgraph_named_)) refuse_set();
    if (c == ',' && brackets_ == 0) refuse_set();
    if (c == '{' || c == ';') subgraph_named_ = false;
    if (c == '[') ++brackets_;
    if (c == ']') --brackets_;
    if (c == '{') {
      opened_ = true;
      if (++braces_ > kDeepest) fail(at_, fmt::format("subgraphs nested deeper than {} levels", kDeepest));
    }
    if (c == '}' && --braces_ <= 0) finished_ = true;
  }
  /// Counts the arcs of a chain a -> b -> c: arrows with exactly one name between them.
  void note_chain(char c) {
    if (c == ';' || c == '[' || c == '{' || c == '}') names_after_arrow_ = 2;
    if (is_name_byte(at_) && (at_ == 0 || !is_name_byte(at_ - 1))) note_name();
    if (c != '>' || last_ != '-') return;
    chain_ = names_after_arrow_ == 1 ? chain_ + 1 : 1;
    names_after_arrow_ = 0;
    if (chain_ > kLongestChain)
      fail(at_, fmt::format("a chain of more than {} arcs; write each arc separately", kLongestChain));
  }
  /// Ports (a:b) and concatenations ("a" + "b") are parts of one name.
  void note_name() { names_after_arrow_ += last_ == ':' || last_ == '+' ? 0 : 1; }

  bool at_keyword_subgraph() const {
    constexpr std::string_view kKeyword = "subgraph";
    const std::string_view word = text_.substr(at_, kKeyword.size());
    return word.size() == kKeyword.size() && (at_ == 0 || !is_name_byte(at_ - 1)) && !is_name_byte(at_ + word.size()) &&
           std::equal(word.begin(), word.end(), kKeyword.begin(), [](char a, char b) { return (a | 0x20) == b; });
  }
  [[noreturn]] void refuse_set() const { fail(at_, "a set of nodes at the end of an arc; write one arc for each"); }
  bool is_name_byte(std::size_t offset) const {
    if (offset >= text_.size()) return false;
    const auto byte = static_cast<unsigned char>(text_[offset]);
    return std::isalnum(byte) || byte == '_' || byte >= 0x80;
  }

  void copy(std::size_t count) {
    prepared_ += text_.substr(at_, count);
    at_ += count;
  }
  void blank(std::size_t count) {
    for (const char c : text_.substr(at_, count)) prepared_ += c == '\n' ? '\n' : ' ';
    at_ += count;
  }
  void blank_line() { blank(std::min(text_.find('\n', at_), text_.size()) - at_); }
  void blank_to(std::string_view end, const char* otherwise) {
    const std::size_t found = text_.find(end, at_ + 2);
    if (found == std::string_view::npos) fail(at_, otherwise);
    blank(found + end.size() - at_);
  }

  void copy_string() {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) fail(at_, "a string is not closed");
    note_name();
    last_ = '"';
    copy(end + 1 - at_);
  }

  void copy_html() {
    std::size_t end = at_;
    int depth = 0;
    do {
      if (text_.substr(end).starts_with("<!--")) fail(end, "a comment in an HTML-like label");
      if (text_[end] == '<') ++depth;
      if (text_[end] == '>') --depth;
      ++end;
    } while (end < text_.size() && depth > 0);
    if (depth > 0) fail(at_, "an HTML-like label is not closed");
    note_name();
    last_ = '"';
    copy(end - at_);
  }

  std::string_view text_, where_;
  std::string prepared_;
  std::size_t at_ = 0;
  int braces_ = 0, brackets_ = 0, chain_ = 0;
  int names_after_arrow_ = 2;  ///< anything but 1 begins a new chain
  bool opened_ = false, finished_ = false;
  bool subgraph_named_ = false;  ///< after the keyword, until its body or a semicolon
  char last_ = ' ';              ///< the last byte that was not blank
};

/// Calls `visit(byte offset, depth of brackets)` for every byte; all depths are 0 when the brackets do not balance.
template <class Visit>
void for_each_with_depth(std::string_view text, Visit visit) {
  const bool balanced = has_balanced_brackets(text);
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (balanced && std::string_view(")]}").find(text[i]) != std::string_view::npos) --depth;
    visit(i, depth);
    if (balanced && std::string_view("([{").find(text[i]) != std::string_view::npos) ++depth;
  }
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

}  // namespace

std::string prepare_dot(std::string_view text, std::string_view where) {
  return Preparer(checked_text(text, where), where).run();
}

std::string unescape_dot(std::string_view label) {
  std::string text;
  for (std::size_t i = 0; i < label.size(); ++i) {
    if (label[i] != '\\' || i + 1 == label.size())
      text += label[i];
    else if (const char c = label[++i]; c == 'n' || c == 'l' || c == 'r')
      text += '\n';
    else
      text += c;
  }
  return text;
}

std::string escape_dot(std::string_view text) {
  std::string label;
  for (const char c : text) {
    if (c == '\n') {
      label += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') label += '\\';
    label += c;
  }
  return label;
}

std::vector<std::string> split_dot_label(std::string_view label) {
  if (single_code_point(label)) return {std::string(label)};
  std::vector<std::string> symbols;
  std::size_t start = 0;
  bool has_empty = false;
  const auto finish = [&](std::size_t end) {
    symbols.emplace_back(without_blanks(label.substr(start, end - start)));
    has_empty = has_empty || symbols.back().empty();
    start = end + 1;
  };
  for_each_with_depth(label, [&](std::size_t i, int depth) {
    if (label[i] == '\n' || (label[i] == ',' && depth == 0)) finish(i);
  });
  if (start < label.size() || symbols.empty() || label.back() == ',')
    finish(label.size());  // a last newline ends, it does not separate
  if (has_empty) symbols.clear();
  return symbols;
}

std::optional<std::pair<std::string, std::string>> split_input_output(std::string_view symbol) {
  std::size_t slash = std::string_view::npos;
  for_each_with_depth(symbol, [&](std::size_t i, int depth) {
    if (symbol[i] == '/' && depth == 0 && i > 0) slash = std::min(slash, i);
  });
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view input = without_blanks(symbol.substr(0, slash));
  if (input.empty()) return std::nullopt;
  return std::pair(std::string(input), std::string(without_blanks(symbol.substr(slash + 1))));
}

}  // namespace krohn
