#include "krohn/automata/formats/formats.h"

#include <fmt/format.h>
#include <graphviz/cgraph.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/format_draft.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"

namespace krohn {

// The contents of a DOT file, before they are interpreted: nodes, arcs, attributes.

struct DotNode {
  std::string id, label, shape, output, style;
  bool has_arrivals = false, has_departures = false, all_departures_unlabelled = true;
  bool accepting = false;

  bool is_record() const { return (shape == "record" || shape == "Mrecord") && label.find('|') != std::string::npos; }
  /// The label of a record, whatever the shape: AALpy gives a state another shape to make it stand out.
  bool is_labelled_as_record() const {
    return is_record() || (label.starts_with('{') && label.ends_with('}') && label.find('|') != std::string::npos);
  }
  bool is_named_start() const { return id.starts_with("__start"); }
  bool marks_start() const {
    const bool shapeless = shape == "none" || shape == "point" || shape == "plaintext" || shape == "plain";
    return !has_arrivals && has_departures && all_departures_unlabelled && (shapeless || is_named_start());
  }
};

struct DotArc {
  std::size_t source = 0, target = 0;
  std::uint64_t sequence = 0;  ///< counts arcs in the order of the file
  std::string label;           ///< unescaped; of an HTML-like label all between its brackets
  bool is_html = false;
  std::string symbol;  ///< exact, wins over the label
  bool unlabelled() const { return label.empty() && symbol.empty(); }
};

struct DotFile {
  std::vector<DotNode> nodes;
  std::vector<DotArc> arcs;
  std::string alphabet, outputs;  ///< JSON, or empty
};

namespace {

constexpr int kDeepestSubgraph = 50;
constexpr std::size_t kLongestHtml = std::size_t{1} << 16;
constexpr std::size_t kLongestPiece = std::size_t{1} << 12;  // of a string that Graphviz' lexer is given at once
constexpr std::size_t kMaxAttributes = 1000;                 // every node and arc has a place for each
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
    if (attributes_.size() > kMaxAttributes)
      fail(at_, fmt::format("more than {} different names of attributes", kMaxAttributes));
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

std::string_view without_blanks(std::string_view text) { return trimmed(text, " \t\r"); }

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
  const auto number = number_in<double>(symbol);
  return number && *number >= 0 && *number <= 1;
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

namespace {

// --- cgraph behind one lock, its messages kept instead of printed

std::string& messages() {
  static std::string text;
  return text;
}

/// While it lives, Graphviz' messages go into `messages()`.
class MessageCapture {
 public:
  MessageCapture() : printer_(agseterrf(&append)), level_(agseterr(AGWARN)) {
    messages().clear();
    agreseterrors();
  }
  MessageCapture(const MessageCapture&) = delete;
  MessageCapture& operator=(const MessageCapture&) = delete;
  ~MessageCapture() {
    agseterrf(printer_);
    agseterr(level_);
    agreseterrors();
  }

 private:
  static int append(char* message) {
    messages() += message;
    return 0;
  }
  agusererrf printer_;
  agerrlevel_t level_;
};

struct CloseGraph {
  void operator()(Agraph_t* graph) const { agclose(graph); }
};
using Graph = std::unique_ptr<Agraph_t, CloseGraph>;

/// "Error: : syntax error in line 3 near '}'" becomes "FILE:3: syntax error near '}'".
[[noreturn]] void fail_with_message(const std::string& said, const PreparedDot& prepared, std::string_view where) {
  constexpr std::size_t kShown = 100;  // it may quote a token of any length
  std::string message = said.substr(0, said.find('\n'));
  for (const std::string_view prefix : {"Error", "Warning", ": ", ": "})
    if (message.starts_with(prefix)) message.erase(0, prefix.size());
  constexpr std::string_view kInLine = " in line ";
  const std::size_t at = message.find(kInLine);
  if (at == std::string::npos)
    throw InputError(where, message.empty() ? "not a DOT graph" : visible(cut_short(message, kShown)));
  const std::size_t digits = at + kInLine.size(), end = message.find_first_not_of("0123456789", digits);
  const std::size_t line = number_in<std::uint64_t>(message.substr(digits, end - digits)).value_or(1);
  message.erase(at, (end == std::string::npos ? message.size() : end) - at);
  throw InputError(fmt::format("{}:{}", where, prepared.line_in_file(line)), visible(cut_short(message, kShown)));
}

/// Graphviz keeps what it did not read of one text, also after an error, for the next read. A read that returns nothing
/// empties its buffer.
void drain_lexer() {
  while (Agraph_t* rest = agmemread("")) agclose(rest);
  messages().clear();
}

/// A graph that Graphviz read without an error or a warning (it warns where it guesses).
Graph parse_graph(std::string_view text, std::string_view where) {
  const PreparedDot prepared = prepare_dot(text, where);
  drain_lexer();       // whoever read before
  agsetfile(nullptr);  // counts lines from 1 again
  Graph graph(agmemread(prepared.text.c_str()));
  if (!graph || !messages().empty()) fail_with_message(messages(), prepared, where);
  if (agisundirected(graph.get())) throw InputError(where, "an undirected graph; an automaton is a digraph with ->");
  return graph;
}

/// An attribute as written, "" when there is none. The library takes non-const names that it does not change.
std::string attribute(void* object, const char* name) {
  const char* value = agget(object, const_cast<char*>(name));
  return value == nullptr ? "" : value;
}

// --- Nodes and arcs

DotNode to_node(Agnode_t* node) {
  DotNode result;
  result.id = agnameof(node);
  result.shape = attribute(node, "shape");
  result.style = attribute(node, "style");
  result.output = unescape_dot(attribute(node, "output"));
  char* label = agget(node, const_cast<char*>("label"));
  const bool own_label = label != nullptr && *label != 0 && !aghtmlstr(label) && std::string_view(label) != "\\N";
  result.label = own_label ? unescape_dot(label) : result.id;
  const auto peripheries = number_in<std::uint64_t>(attribute(node, "peripheries"));
  result.accepting =
      result.shape == "doublecircle" || result.shape == "doubleoctagon" || (peripheries && *peripheries > 1);
  return result;
}

DotArc to_arc(Agedge_t* edge) {
  DotArc arc;
  char* label = agget(edge, const_cast<char*>("label"));
  arc.is_html = label != nullptr && aghtmlstr(label);
  if (label != nullptr) arc.label = arc.is_html ? label : unescape_dot(label);
  arc.symbol = unescape_dot(attribute(edge, "symbol"));
  return arc;
}

/// A label that all nodes share is kept once by Graphviz, and for every node here.
class TextBudget {
 public:
  explicit TextBudget(std::string_view where) : where_(where) {}
  void spend(std::size_t bytes) {
    spent_ += bytes;
    if (spent_ > kMaxTextBytes)
      throw LimitError(
          fmt::format("{}: the labels of all nodes and arcs have more than {} bytes; the limit protects "
                      "the memory",
                      where_, kMaxTextBytes));
  }

 private:
  std::string_view where_;
  std::size_t spent_ = 0;
};

}  // namespace

/// Reads a digraph through Graphviz' parser, and copies everything out of it, so that no later error can happen while
/// its memory is held. Arcs come in the order of the file. Throws InputError, with a line where Graphviz gives one, and
/// LimitError when labels that many nodes share would be too much text. Thread-safe.
DotFile read_dot_graph(std::string_view text, std::string_view where) {
  const std::lock_guard lock(graphviz_mutex());
  const MessageCapture capture;
  const Graph graph = parse_graph(text, where);
  DotFile file;
  TextBudget budget(where);
  file.alphabet = unescape_dot(attribute(graph.get(), "alphabet"));
  file.outputs = unescape_dot(attribute(graph.get(), "outputs"));
  std::unordered_map<Agnode_t*, std::size_t> index;
  for (Agnode_t* node = agfstnode(graph.get()); node != nullptr; node = agnxtnode(graph.get(), node)) {
    index.emplace(node, file.nodes.size());
    file.nodes.push_back(to_node(node));
    budget.spend(file.nodes.back().label.size() + file.nodes.back().output.size());
  }
  for (Agnode_t* node = agfstnode(graph.get()); node != nullptr; node = agnxtnode(graph.get(), node))
    for (Agedge_t* edge = agfstout(graph.get(), node); edge != nullptr; edge = agnxtout(graph.get(), edge)) {
      DotArc arc = to_arc(edge);
      budget.spend(arc.label.size() + arc.symbol.size());
      arc.source = index.at(node);
      arc.target = index.at(aghead(edge));
      file.nodes[arc.target].has_arrivals = true;
      file.nodes[arc.source].has_departures = true;
      // A label on the arc from a start mark means nothing where it is for the eye alone.
      const bool says_nothing = arc.unlabelled() || (arc.is_html && file.nodes[arc.source].is_named_start());
      if (!says_nothing) file.nodes[arc.source].all_departures_unlabelled = false;
      arc.sequence = AGSEQ(edge);
      file.arcs.push_back(std::move(arc));
    }
  // Graphviz lists the arcs of a node by their targets; the order of the letters follows the file.
  std::sort(file.arcs.begin(), file.arcs.end(),
            [](const DotArc& a, const DotArc& b) { return a.sequence < b.sequence; });
  return file;
}

std::mutex& graphviz_mutex() {
  static std::mutex mutex;
  return mutex;
}

namespace {

constexpr State kNoState = UINT32_MAX;

// --- What it means

/// An arc between states with the symbols that it bears.
struct LabelledArc {
  const DotArc* arc;
  std::vector<std::string> symbols;
};

class Interpreter {
 public:
  Interpreter(DotFile file, std::string_view where, const LanguageOptions& options)
      : file_(std::move(file)), where_(where), mealy_as_labels_(options.mealy_as_labels), epsilons_(options, where) {}

  std::variant<Draft, Mealy> run() {
    number_states();
    find_initial();
    collect_arcs();
    refuse_probabilities();
    const bool mealy = is_mealy();
    if (mealy && !mealy_as_labels_) return to_mealy();
    return to_draft(mealy);
  }

 private:
  void number_states() {
    states_.assign(file_.nodes.size(), kNoState);
    for (std::size_t i = 0; i < file_.nodes.size(); ++i)
      if (!file_.nodes[i].marks_start()) {
        states_[i] = static_cast<State>(nodes_.size());
        nodes_.push_back(&file_.nodes[i]);
      }
    if (nodes_.empty()) throw InputError(where_, "the graph has no states");
  }

  void find_initial() {
    for (const DotArc& arc : file_.arcs) {
      if (states_[arc.source] != kNoState) continue;
      const State state = states_[arc.target];
      if (initial_ != kNoState && initial_ != state)
        throw InputError(where_, fmt::format("two start states, {} and {}; an automaton has one",
                                             in_quotes(nodes_[initial_]->id), in_quotes(nodes_[state]->id)));
      initial_ = state;
    }
    if (initial_ == kNoState) find_bold_start();
    if (initial_ == kNoState)
      throw InputError(where_, fmt::format("no start state; add the lines  __start0 [label=\"\", shape=none];  and  "
                                           "__start0 -> \"{}\";  to begin there",
                                           escape_dot(visible(cut_short(nodes_.front()->id, 60)))));
  }

  /// OpenFst's fstdraw has no arc to the start: that state is bold, and all others are solid.
  void find_bold_start() {
    State bold = kNoState;
    for (State state = 0; state < nodes_.size(); ++state) {
      const bool is_bold = nodes_[state]->style == "bold";
      if (is_bold ? bold != kNoState : nodes_[state]->style != "solid") return;
      if (is_bold) bold = state;
    }
    initial_ = bold;
    is_fst_ = bold != kNoState;
  }

  std::string fst_label(const std::string& label, const std::string& what) const {
    if (auto symbol = split_fst_label(label)) return *std::move(symbol);
    throw InputError(where_,
                     fmt::format("{} has the label {}, of a transducer or with a weight; a language has neither. "
                                 "Use `fstproject` or `fstmap --map_type=rmweight`",
                                 what, in_quotes(label)));
  }

  std::vector<std::string> symbols_of(const DotArc& arc) const {
    if (!arc.symbol.empty()) return {arc.symbol};
    if (is_fst_) return {fst_label(arc.label, describe(arc))};
    if (!arc.is_html) return split_dot_label(arc.label);
    std::vector<std::string> symbols = split_html_label(arc.label);
    if (symbols.empty())
      throw InputError(where_, fmt::format("{} has an HTML-like label; write plain text", describe(arc)));
    return symbols;
  }

  std::string describe(const DotArc& arc) const {
    return fmt::format("the arc {} -> {}", in_quotes(file_.nodes[arc.source].id),
                       in_quotes(file_.nodes[arc.target].id));
  }

  void collect_arcs() {
    for (const DotNode* node : nodes_)
      if (is_fst_) fst_label(node->label, "the state " + in_quotes(node->id));
    for (const DotArc& arc : file_.arcs) {
      if (states_[arc.source] == kNoState) continue;
      if (arc.unlabelled()) throw InputError(where_, describe(arc) + " has no label; write ε for the empty word");
      std::vector<std::string> symbols = symbols_of(arc);
      if (symbols.empty())
        throw InputError(where_,
                         fmt::format("{} has an empty symbol in its label {}", describe(arc), in_quotes(arc.label)));
      arcs_.push_back({&arc, std::move(symbols)});
    }
  }

  /// A Markov decision process read as an acceptor would be one of the wrong letters, and usually of the empty
  /// language.
  void refuse_probabilities() const {
    bool has_point = false;
    for (const LabelledArc& arc : arcs_) {
      if (!arc.arc->symbol.empty()) return;
      for (const std::string& symbol : arc.symbols) {
        if (!ends_in_probability(symbol, false)) return;
        has_point = has_point || ends_in_probability(symbol, true);
      }
    }
    if (has_point)
      throw InputError(where_, fmt::format("every label ends in a probability, as {} on {}: a Markov chain, decision "
                                           "process or other stochastic automaton, not a language. Where such numbers "
                                           "are parts of letters, give arcs the attribute symbol=\"…\"",
                                           in_quotes(arcs_.front().symbols.front()), describe(*arcs_.front().arc)));
  }

  bool has_outputs_in_states() const {
    return std::any_of(nodes_.begin(), nodes_.end(),
                       [](const DotNode* node) { return !node->output.empty() || node->is_record(); });
  }

  bool is_mealy() const {
    if (!file_.outputs.empty() || arcs_.empty() || has_outputs_in_states()) return false;
    if (std::any_of(nodes_.begin(), nodes_.end(), [](const DotNode* node) { return node->accepting; })) return false;
    return std::all_of(arcs_.begin(), arcs_.end(), [](const LabelledArc& arc) {
      return arc.arc->symbol.empty() &&
             std::all_of(arc.symbols.begin(), arc.symbols.end(),
                         [](const std::string& symbol) { return split_input_output(symbol).has_value(); });
    });
  }

  // --- Acceptors and Moore machines, traces of Mealy machines

  bool is_epsilon(const LabelledArc& arc, const std::string& symbol) {
    return arc.arc->symbol.empty() && epsilons_.contains(symbol, [&](const std::string& message) {
      throw InputError(where_, describe(*arc.arc) + ": " + message);
    });
  }

  void refuse_epsilon(const LabelledArc& arc, const std::string& input) {
    if (is_epsilon(arc, input))
      throw InputError(where_, fmt::format("{} reads the input {}, the empty word; a Mealy machine reads a letter at "
                                           "every step. Where it is a letter, say --no-epsilon",
                                           describe(*arc.arc), in_quotes(input)));
  }

  Draft to_draft(bool traces) {
    Draft draft;
    draft.initial = {initial_};
    draft.state_names = state_names();
    read_outputs(draft, traces);
    NameTable letters;
    const bool declared = !file_.alphabet.empty();
    if (declared) draft.alphabet = read_json_alphabet(file_.alphabet, where_);
    for (const Symbol& symbol : draft.alphabet.symbols()) letters.intern(symbol.name);
    for (const LabelledArc& arc : arcs_)
      for (std::string symbol : arc.symbols) {
        if (traces) {
          const auto pair = *split_input_output(symbol);
          refuse_epsilon(arc, pair.first);
          symbol = pair.first + "/" + pair.second;  // without the blanks that may stand around the slash
        }
        const bool epsilon = is_epsilon(arc, symbol);
        if (declared && !epsilon && !letters.find(symbol))
          throw InputError(where_, fmt::format("{} reads {}, which is not in the graph's alphabet", describe(*arc.arc),
                                               in_quotes(symbol)));
        draft.arcs.push_back(
            {states_[arc.arc->source], epsilon ? kEpsilon : letters.intern(symbol), states_[arc.arc->target]});
      }
    epsilons_.check_letters(letters.names());
    if (!declared) draft.alphabet = alphabet_of_names(letters.names(), where_);
    return draft;
  }

  void read_outputs(Draft& draft, bool traces) const {
    if (!file_.outputs.empty()) return read_listed_outputs(draft);
    const auto count = [&](auto holds) { return std::count_if(nodes_.begin(), nodes_.end(), holds); };
    const auto with_output = count([](const DotNode* node) { return !node->output.empty(); });
    if (with_output > 0) return read_named_outputs(draft, [](const DotNode& node) { return node.output; });
    if (count([](const DotNode* node) { return node->is_record(); }) > 0)
      return read_named_outputs(draft, [](const DotNode& node) {
        return node.is_labelled_as_record() ? split_record(node.label)->second : "";
      });
    for (const DotNode* node : nodes_) draft.outputs.push_back(traces || node->accepting ? 1 : 0);
  }

  /// The outputs in the order in which `write_dot` had them.
  void read_listed_outputs(Draft& draft) const {
    draft.output_names = read_json_strings(file_.outputs, where_);
    NameTable outputs;
    for (const std::string& name : draft.output_names) outputs.intern(name);
    if (outputs.size() != draft.output_names.size()) throw InputError(where_, "the graph's outputs repeat a name");
    for (const DotNode* node : nodes_) {
      const auto output = outputs.find(node->output);
      if (!output)
        throw InputError(where_, fmt::format("the output {} of state {} is not among the graph's outputs",
                                             in_quotes(node->output), in_quotes(node->id)));
      draft.outputs.push_back(*output);
    }
  }

  template <class OutputOf>
  void read_named_outputs(Draft& draft, OutputOf output_of) const {
    NameTable outputs;
    for (const DotNode* node : nodes_) {
      const std::string output = output_of(*node);
      if (output.empty())
        throw InputError(where_, fmt::format("state {} has no output, but others do", in_quotes(node->id)));
      draft.outputs.push_back(outputs.intern(output));
    }
    draft.output_names = outputs.names();
  }

  /// Empty when the names are only the numbers.
  std::vector<std::string> state_names() const {
    std::vector<std::string> names;
    bool plain = true;
    const bool has_records =
        std::any_of(nodes_.begin(), nodes_.end(), [](const DotNode* node) { return node->is_record(); });
    for (const DotNode* node : nodes_) {
      if (has_records && node->is_labelled_as_record()) {
        names.push_back(split_record(node->label)->first);
        plain = plain && names.back() == std::to_string(names.size() - 1);
        continue;
      }
      const std::string suffix = "/" + node->output;
      const bool shows_output =
          suffix.size() > 1 && node->label.size() > suffix.size() && node->label.ends_with(suffix);
      names.push_back(shows_output ? node->label.substr(0, node->label.size() - suffix.size()) : node->label);
      plain = plain && names.back() == std::to_string(names.size() - 1);
    }
    if (plain) names.clear();
    return names;
  }

  // --- Mealy machines

  Mealy to_mealy() {
    NameTable inputs, outputs;
    struct Move {
      State source, target;
      Letter input;
      Output output;
    };
    std::vector<Move> moves;
    for (const LabelledArc& arc : arcs_)
      for (const std::string& symbol : arc.symbols) {
        const auto [input, output] = *split_input_output(symbol);
        refuse_epsilon(arc, input);
        moves.push_back(
            {states_[arc.arc->source], states_[arc.arc->target], inputs.intern(input), outputs.intern(output)});
      }
    if (nodes_.size() * inputs.size() > kMaxMealyEntries)
      throw LimitError(fmt::format("{}: {} × {}; the limit is {} arcs", where_, counted(nodes_.size(), "state"),
                                   counted(inputs.size(), "input"), kMaxMealyEntries));
    std::vector<State> table(nodes_.size() * inputs.size(), kNoState);
    std::vector<Output> written(table.size());
    for (const Move& move : moves) {
      const std::size_t entry = std::size_t{move.source} * inputs.size() + move.input;
      if (table[entry] != kNoState)
        throw InputError(where_,
                         fmt::format("state {} has two arcs on input {}; a Mealy machine is deterministic. To read "
                                     "its arcs as plain letters use --mealy-as-labels",
                                     in_quotes(nodes_[move.source]->id), in_quotes(inputs.names()[move.input])));
      table[entry] = move.target;
      written[entry] = move.output;
    }
    require_complete(table, inputs);
    return Mealy::machine(alphabet_of_names(inputs.names(), where_), std::move(table), initial_, std::move(written),
                          outputs.names(), static_cast<State>(nodes_.size()))
        .with_state_names(state_names());
  }

  void require_complete(const std::vector<State>& table, const NameTable& inputs) const {
    const auto missing = std::find(table.begin(), table.end(), kNoState);
    if (missing == table.end()) return;
    const auto entry = static_cast<std::size_t>(missing - table.begin());
    throw InputError(
        where_,
        fmt::format("state {} has no arc on input {}; a Mealy machine has one on every input. To read "
                    "its arcs as plain letters use --mealy-as-labels",
                    in_quotes(nodes_[entry / inputs.size()]->id), in_quotes(inputs.names()[entry % inputs.size()])));
  }

  static constexpr std::size_t kMaxMealyEntries = std::size_t{1} << 26;

  DotFile file_;
  std::string_view where_;
  bool mealy_as_labels_;
  EpsilonNames epsilons_;
  std::vector<State> states_;          ///< per node; kNoState for start marks
  std::vector<const DotNode*> nodes_;  ///< per state
  std::vector<LabelledArc> arcs_;      ///< between states
  State initial_ = kNoState;
  bool is_fst_ = false;  ///< drawn by OpenFst
};

// --- Writing

/// True when a label that is just this name is read back as exactly this symbol.
bool is_plain_label(const std::string& name) {
  return split_dot_label(name) == std::vector<std::string>{name} && !EpsilonNames::may_be_no_letter(name) &&
         name.find('/') == std::string::npos && !ends_in_probability(name, true);
}

std::string start_lines(State initial) {
  return fmt::format("  __start0 [label=\"\", shape=none];\n  __start0 -> {};\n", initial);
}

std::string state_line(const Dfa& dfa, State state) {
  const std::string name = escape_dot(dfa.state_name(state));
  if (dfa.is_acceptor())
    return fmt::format("  {} [label=\"{}\"{}];\n", state, name, dfa.accepts(state) ? ", shape=doublecircle" : "");
  const std::string output = escape_dot(dfa.output_names()[dfa.output(state)]);
  return fmt::format("  {} [label=\"{}/{}\", output=\"{}\"];\n", state, name, output, output);
}

std::vector<std::string> arc_attributes(const Alphabet& alphabet) {
  std::vector<std::string> attributes;
  for (const Symbol& symbol : alphabet.symbols()) {
    const std::string name = escape_dot(symbol.name);
    attributes.push_back(is_plain_label(symbol.name) ? fmt::format("[label=\"{}\"]", name)
                                                     : fmt::format("[label=\"{}\", symbol=\"{}\"]", name, name));
  }
  return attributes;
}

}  // namespace

std::variant<Draft, Mealy> read_dot(std::string_view text, std::string_view where, const LanguageOptions& options) {
  return Interpreter(read_dot_graph(text, where), where, options).run();
}

std::string write_dot(const Dfa& dfa) {
  std::string text = "digraph automaton {\n  rankdir=LR;\n  node [shape=circle];\n";
  if (!names_suffice(dfa.alphabet()))
    text += fmt::format("  alphabet=\"{}\";\n", escape_dot(write_json_alphabet(dfa.alphabet())));
  if (!dfa.is_acceptor())
    text += fmt::format("  outputs=\"{}\";\n",
                        escape_dot(write_json_strings({dfa.output_names().begin(), dfa.output_names().end()})));
  for (State state = 0; state < dfa.states(); ++state) text += state_line(dfa, state);
  text += start_lines(dfa.initial());  // after the states: Graphviz numbers nodes as they are first named
  const std::vector<std::string> attributes = arc_attributes(dfa.alphabet());
  for (State state = 0; state < dfa.states(); ++state)
    for (Letter letter = 0; letter < dfa.letters(); ++letter)
      fmt::format_to(std::back_inserter(text), "  {} -> {} {};\n", state, dfa.next(state, letter), attributes[letter]);
  return text + "}\n";
}

std::string write_moore_dot(const Dfa& dfa) {
  std::string text = "digraph automaton {\n  rankdir=LR;\n  node [shape=record];\n";
  for (State state = 0; state < dfa.states(); ++state) {
    const std::string name = dfa.state_name(state), output = dfa.output_names()[dfa.output(state)];
    for (const std::string& part : {name, output})
      if (part.find_first_of("{}|<>\\\n") != std::string::npos || split_record("{ " + part + " | x }")->first != part)
        throw InputError(fmt::format("a record of DOT cannot hold {}; write dot instead", in_quotes(part)));
    fmt::format_to(std::back_inserter(text), "  {} [shape=record, label=\"{{ {} | {} }}\"];\n", state, escape_dot(name),
                   escape_dot(output));
  }
  text += start_lines(dfa.initial());
  for (State state = 0; state < dfa.states(); ++state)
    for (Letter letter = 0; letter < dfa.letters(); ++letter) {
      const std::string& name = dfa.alphabet().name(letter);
      if (!is_plain_label(name))
        throw InputError(
            fmt::format("a label of DOT cannot hold the letter {} alone; write dot instead", in_quotes(name)));
      fmt::format_to(std::back_inserter(text), "  {} -> {} [label=\"{}\"];\n", state, dfa.next(state, letter),
                     escape_dot(name));
    }
  return text + "}\n";
}

std::string write_dot(const Mealy& mealy) {
  std::string text = "digraph automaton {\n  rankdir=LR;\n  node [shape=circle];\n";
  for (State state = 0; state < mealy.states(); ++state)
    text += fmt::format("  {} [label=\"{}\"];\n", state,
                        escape_dot(mealy.state_names().empty() ? std::to_string(state) : mealy.state_names()[state]));
  text += start_lines(mealy.initial());
  for (State state = 0; state < mealy.states(); ++state)
    for (Letter input = 0; input < mealy.inputs().size(); ++input) {
      const std::string& name = mealy.inputs().name(input);
      const std::string& output = mealy.output_names()[mealy.output(state, input)];
      const std::string label = name + "/" + output;
      if (split_dot_label(label) != std::vector{label} || EpsilonNames::may_be_no_letter(name) ||
          split_input_output(label) != std::pair(name, output))
        throw InputError(
            fmt::format("a DOT label cannot hold the input {} with the output {}", in_quotes(name), in_quotes(output)));
      fmt::format_to(std::back_inserter(text), "  {} -> {} [label=\"{}\"];\n", state, mealy.next(state, input),
                     escape_dot(label));
    }
  return text + "}\n";
}

}  // namespace krohn
