#include "krohn/automata/formats/format_dot_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <unordered_set>

#include "krohn/automata/dfa/symbol_names.h"
#include "krohn/automata/dfa/utf8.h"
#include "krohn/automata/formats/format_draft.h"
#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"

namespace krohn {

namespace {

constexpr int kDeepestSubgraph = 50;
constexpr std::size_t kLongestHtml = std::size_t{1} << 16;
constexpr std::size_t kLongestPiece = std::size_t{1} << 12;  // of a string that Graphviz' lexer is given at once
constexpr std::size_t kMostAttributes = 1000;                // every node and arc has a place for each
constexpr int kLongestChain = 2000;  // Graphviz' parser takes four entries of its stack, of 10,000, for each arc

/// Walks once over the text, as Graphviz' lexer would, and copies what it will be given.
class Preparer {
 public:
  Preparer(std::string_view text, std::string_view where) : text_(text), where_(where) {
    prepared_.text.reserve(text.size() + 2 * text.size() / kLongestPiece);
  }

  PreparedDot run() {
    while (at_ < text_.size()) step();
    if (!finished_)
      fail(opened_ ? text_.size() : 0, opened_ ? "the graph ends before its closing brace" : "not a DOT graph");
    prepared_.text.erase(prepared_.text.rfind('}') + 1);  // Graphviz would keep what follows for the next file
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
    if (c == '=') note_attribute();
    last_ = c;
    begins_name() && name_.size() > kLongestPiece ? copy_in_quotes(name_.size()) : copy(1);
  }

  /// A long bare name, as the same name in quotes.
  void copy_in_quotes(std::size_t count) {
    const auto in_number = [this](std::size_t offset) { return offset < text_.size() && text_[offset] == '.'; };
    if (in_number(at_ + count) || (at_ > 0 && in_number(at_ - 1)))
      fail(at_, fmt::format("a number of more than {} digits", kLongestPiece));
    prepared_.text += '"';
    for (; count > kLongestPiece; count -= kLongestPiece) {
      copy(kLongestPiece);
      break_line();
    }
    copy(count);
    prepared_.text += '"';
  }
  /// An escaped line end in a string is no part of it.
  void break_line() {
    prepared_.text += "\\\n";
    prepared_.added_lines.push_back(line_++);
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
      if (++braces_ > kDeepestSubgraph)
        fail(at_, fmt::format("subgraphs nested deeper than {} levels", kDeepestSubgraph));
    }
    if (c == '}' && --braces_ <= 0) finished_ = true;
  }
  /// Counts the arcs of a chain a -> b -> c: arrows with exactly one name between them.
  void note_chain(char c) {
    if (c == ';' || c == '[' || c == '{' || c == '}') names_after_arrow_ = 2;
    if (begins_name()) {
      note_name();
      name_ = bare_name();
    }
    if (c != '>' || last_ != '-') return;
    chain_ = names_after_arrow_ == 1 ? chain_ + 1 : 1;
    names_after_arrow_ = 0;
    if (chain_ > kLongestChain)
      fail(at_, fmt::format("a chain of more than {} arcs; write each arc separately", kLongestChain));
  }
  /// Ports (a:b) and concatenations ("a" + "b") are parts of one name.
  void note_name() { names_after_arrow_ += last_ == ':' || last_ == '+' ? 0 : 1; }
  void note_attribute() {
    attributes_.insert(name_);
    if (attributes_.size() > kMostAttributes)
      fail(at_, fmt::format("more than {} different names of attributes", kMostAttributes));
  }
  bool begins_name() const { return is_name_byte(at_) && (at_ == 0 || !is_name_byte(at_ - 1)); }
  std::string_view bare_name() const {
    std::size_t end = at_;
    while (is_name_byte(end)) ++end;
    return text_.substr(at_, end - at_);
  }

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
    const std::string_view part = text_.substr(at_, count);
    line_ += static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
    prepared_.text += part;
    at_ += count;
  }
  void blank(std::size_t count) {
    for (const char c : text_.substr(at_, count)) prepared_.text += c == '\n' ? '\n' : ' ';
    const std::string_view part = text_.substr(at_, count);
    line_ += static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
    at_ += count;
  }
  void blank_line() { blank(std::min(text_.find('\n', at_), text_.size()) - at_); }
  void blank_to(std::string_view end, const char* otherwise) {
    const std::size_t found = text_.find(end, at_ + 2);
    if (found == std::string_view::npos) fail(at_, otherwise);
    blank(found + end.size() - at_);
  }

  void copy_string() {
    const std::size_t start = at_;
    std::size_t end = at_ + 1;
    for (; end < text_.size() && text_[end] != '"'; end += text_[end] == '\\' ? 2 : 1)
      if (end - at_ >= kLongestPiece) {
        copy(end - at_);
        break_line();
      }
    if (end >= text_.size()) fail(start, "a string is not closed");
    note_name();
    name_ = text_.substr(start + 1, end - start - 1);
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
    if (end - at_ > kLongestHtml)
      fail(at_, fmt::format("an HTML-like label of {}; at most {} are read", counted(end - at_, "byte"), kLongestHtml));
    note_name();
    last_ = '"';
    copy(end - at_);
  }

  std::string_view text_, where_;
  PreparedDot prepared_;
  std::size_t at_ = 0, line_ = 1;  ///< in the text, and the line of what is prepared
  std::string_view name_;          ///< the last name or string
  std::unordered_set<std::string_view> attributes_;
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

std::string decode_entities(std::string text) {
  constexpr std::pair<std::string_view, char> kEntities[] = {
      {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#39;", '\''}, {"&nbsp;", ' '}, {"&amp;", '&'}};  // & last
  for (const auto& [entity, character] : kEntities)
    for (std::size_t at = 0; (at = text.find(entity, at)) != std::string::npos; ++at)
      text.replace(at, entity.size(), 1, character);
  return text;
}

}  // namespace

std::size_t PreparedDot::line_in_file(std::size_t line) const {
  const auto before = std::lower_bound(added_lines.begin(), added_lines.end(), line) - added_lines.begin();
  return line - static_cast<std::size_t>(before);
}

PreparedDot prepare_dot(std::string_view text, std::string_view where) {
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

std::vector<std::string> split_html_label(std::string_view label) {
  const std::size_t tag = label.find('<'), end = label.find('>');
  if (tag == std::string_view::npos || end == std::string_view::npos ||
      label.find('<', tag + 1) != std::string_view::npos)
    return {};
  const std::string_view name = without_blanks(label.substr(tag + 1, end - tag - 1));
  if (name != "br" && name != "br/" && name != "br /") return {};
  const std::string output(without_blanks(label.substr(end + 1)));
  std::vector<std::string> symbols;
  constexpr std::string_view kBar = " | ";
  for (std::size_t at = 0; at <= tag;) {
    const std::size_t bar = std::min(label.find(kBar, at), tag);
    const std::string_view input = without_blanks(label.substr(at, bar - at));
    if (input.empty() || input.find('/') != std::string_view::npos) return {};
    symbols.push_back(decode_entities(std::string(input) + "/" + output));
    at = bar + kBar.size();
  }
  return output.empty() ? std::vector<std::string>{} : symbols;
}

std::optional<std::string> split_fst_label(std::string_view label) {
  if (const std::size_t slash = label.rfind('/'); slash != std::string_view::npos && slash > 0) {
    double weight = 0;
    const std::string_view text = label.substr(slash + 1);
    if (std::from_chars(text.data(), text.data() + text.size(), weight).ptr == text.data() + text.size() &&
        !text.empty())
      return std::nullopt;
  }
  const std::size_t half = label.size() / 2;
  if (label.size() % 2 == 1 && half > 0 && label[half] == ':' && label.substr(0, half) == label.substr(half + 1))
    return std::string(label.substr(0, half));
  return label.size() > 1 && label.find(':') != std::string_view::npos ? std::nullopt
                                                                       : std::optional(std::string(label));
}

std::optional<std::pair<std::string, std::string>> split_record(std::string_view label) {
  label = without_blanks(label);
  if (label.starts_with('{') && label.ends_with('}')) label = label.substr(1, label.size() - 2);
  const std::size_t bar = label.find('|');
  if (bar == std::string_view::npos) return std::nullopt;
  return std::pair(std::string(without_blanks(label.substr(0, bar))),
                   std::string(without_blanks(label.substr(bar + 1))));
}

bool ends_in_probability(std::string_view symbol, bool has_point) {
  symbol = without_blanks(symbol.substr(symbol.rfind(':') + 1));  // npos + 1 is 0
  if (symbol.empty() || symbol.find_first_not_of("0123456789.eE-") != std::string_view::npos) return false;
  if (has_point && symbol.find('.') == std::string_view::npos) return false;
  double number = -1;
  const auto [end, error] = std::from_chars(symbol.data(), symbol.data() + symbol.size(), number);
  return error == std::errc{} && end == symbol.data() + symbol.size() && number >= 0 && number <= 1;
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
