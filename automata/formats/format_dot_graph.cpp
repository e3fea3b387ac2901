#include "krohn/automata/formats/format_dot_graph.h"

#include <fmt/format.h>
#include <graphviz/cgraph.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "krohn/automata/formats/format_dot.h"
#include "krohn/automata/formats/format_dot_text.h"
#include "krohn/groups/atomic_file.h"
#include "krohn/groups/error.h"

namespace krohn {

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
  const std::size_t line = parse_number(message.substr(digits, end - digits)).value_or(1);
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
  const auto peripheries = parse_number(attribute(node, "peripheries"));
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
    if (spent_ > kMostTextBytes)
      throw LimitError(
          fmt::format("{}: the labels of all nodes and arcs have more than {} bytes; the limit protects "
                      "the memory",
                      where_, kMostTextBytes));
  }

 private:
  std::string_view where_;
  std::size_t spent_ = 0;
};

}  // namespace

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
      // What stands on the arc from a start mark says nothing where it is for the eye alone.
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

}  // namespace krohn
