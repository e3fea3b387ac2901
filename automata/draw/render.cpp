#include <fmt/format.h>
#include <graphviz/gvc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "krohn/automata/draw/draw.h"
#include "krohn/automata/formats/formats.h"
#include "krohn/groups/base/error.h"

namespace krohn {

// Pictures on the web need more than their lines: words for who cannot see them, and
// colours for dark pages.

namespace {

/// Nodes keep their pale fills and black text; lines (`component_colours`), labels beside them and the paper change.
/// `bare` are labels without a fill, `paper` are squares of the paper's colour.
constexpr std::string_view kDarkPages = R"(<style>
@media (prefers-color-scheme: dark) {
  .graph > polygon, .paper polygon { fill: #16181d; }
  .graph > text, .bare text, .edge text { fill: #e4e4e4; }
  .edge [stroke="#444444"], .edge [stroke="black"] { stroke: #b8b8b8; }
  .edge [fill="#444444"], .edge [fill="black"] { fill: #b8b8b8; }
  .cell [fill="#222222"] { fill: #f0f0f0; }
  .node [stroke="#222255"] { stroke: #8f9be0; }
  .node [stroke="#666633"] { stroke: #c8c878; }
  .node [stroke="#225522"] { stroke: #7cc47c; }
  .node [stroke="#663333"] { stroke: #e08f8f; }
  .node [stroke="#225555"] { stroke: #7cc4c4; }
  .node [stroke="#555555"] { stroke: #b8b8b8; }
}
</style>
)";

}  // namespace

/// An SVG of Graphviz's with a title and a description that screen readers read out, and with light lines on dark where
/// the reader's system asks for that. Text that is no such SVG is returned as it is.
std::string with_svg_style(std::string svg, const std::string& title, const std::string& description) {
  const std::size_t opening = svg.find("<svg ");
  const std::size_t end = opening == std::string::npos ? opening : svg.find('>', opening);
  if (end == std::string::npos) return svg;
  std::string words = "\n<title>" + html(title) + "</title>\n";
  if (!description.empty()) words += "<desc>" + html(description) + "</desc>\n";
  svg.insert(end + 1, words + std::string(kDarkPages));
  svg.insert(opening + 5, "role=\"img\" ");
  return svg;
}

// Graphviz keeps its errors, its parser and its plugins in global state: one lock round everything, and its messages
// are collected instead of printed.

namespace {

std::string graphviz_messages;  ///< guarded by graphviz_mutex()

int collect_message(char* message) {
  graphviz_messages += message;
  return 0;
}

/// Collects what Graphviz says for as long as it lives.
class MessageCollector {
 public:
  MessageCollector() : previous_(agseterrf(collect_message)) { graphviz_messages.clear(); }
  ~MessageCollector() { agseterrf(previous_); }
  MessageCollector(const MessageCollector&) = delete;
  MessageCollector& operator=(const MessageCollector&) = delete;

  /// Graphviz's messages, on one line.
  std::string text() const {
    std::string line = graphviz_messages;
    std::replace(line.begin(), line.end(), '\n', ' ');
    while (!line.empty() && line.back() == ' ') line.pop_back();
    return line.empty() ? "no reason given" : line;
  }

 private:
  agusererrf previous_;
};

#ifdef KROHN_LINKED_PLUGINS
extern "C" gvplugin_library_t gvplugin_core_LTX_library, gvplugin_dot_layout_LTX_library;

/// Without the plugins that the machine may have: they are of its own Graphviz, whose version may be another.
GVC_t* new_context() {
  static const lt_symlist_t linked[] = {{"gvplugin_core_LTX_library", &gvplugin_core_LTX_library},
                                        {"gvplugin_dot_layout_LTX_library", &gvplugin_dot_layout_LTX_library},
                                        {nullptr, nullptr}};
  return gvContextPlugins(linked, /*demand_loading=*/0);
}
#else
GVC_t* new_context() { return gvContext(); }
#endif

/// One for the life of the process and never freed: the Pango plugin remembers the last font by a pointer into the
/// context, which a second context would leave dangling (Graphviz 2.42).
GVC_t* graphviz_context() {
  static GVC_t* const context = new_context();
  return context;
}

struct CloseGraph {
  void operator()(Agraph_t* graph) const { agclose(graph); }
};
struct FreeRendering {
  void operator()(char* data) const { gvFreeRenderData(data); }
};

/// The names that the installation offers: kind "device" lists formats, "layout" engines.
std::set<std::string> plugins(const char* kind) {
  static const std::set<std::string> windows{"gtk", "x11", "xlib"};  // open a window and wait
  int count = 0;
  char** names = gvPluginList(graphviz_context(), kind, &count, nullptr);
  std::set<std::string> result;
  for (int i = 0; i < count; ++i) {
    if (windows.count(names[i]) == 0) result.insert(names[i]);
    std::free(names[i]);
  }
  std::free(names);
  return result;
}

void require_plugin(const std::set<std::string>& offered, const char* what, const std::string& name) {
  if (offered.count(name) == 0)
    throw InputError(
        fmt::format("\"{}\" is not a {} that Graphviz has here; it has {}", name, what, fmt::join(offered, ", ")));
}

/// Undoes the layout before the graph is closed.
class Layout {
 public:
  Layout(GVC_t* context, Agraph_t* graph, const std::string& engine) : context_(context), graph_(graph) {
    failed_ = gvLayout(context, graph, engine.c_str()) != 0;
  }
  ~Layout() { gvFreeLayout(context_, graph_); }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  bool failed() const { return failed_; }

 private:
  GVC_t* context_;
  Agraph_t* graph_;
  bool failed_ = false;
};

/// Dots per inch for pictures made of dots: sharp, but not more than 8,000 dots along the longer side.
double sharp_resolution(Agraph_t* graph) {
  const boxf box = GD_bb(graph);
  const double points = std::max({box.UR.x - box.LL.x, box.UR.y - box.LL.y, 1.0});
  return std::min(144.0, 8'000.0 * 72.0 / points);
}

}  // namespace

bool has_layout_engine(const std::string& engine) {
  const std::lock_guard<std::mutex> guard(graphviz_mutex());
  static const std::set<std::string> engines = plugins("layout");
  return engines.count(engine) > 0;
}

std::string render_dot(const std::string& dot, const std::string& format, const std::string& engine) {
  const std::lock_guard<std::mutex> guard(graphviz_mutex());
  const MessageCollector messages;
  GVC_t* const context = graphviz_context();
  static const std::set<std::string> formats = plugins("device"), engines = plugins("layout");
  require_plugin(formats, "format", format);
  require_plugin(engines, "layout engine", engine);
  const std::unique_ptr<Agraph_t, CloseGraph> graph(agmemread(dot.c_str()));
  if (graph == nullptr) throw InputError("the text is not DOT", messages.text());
  if (format == "dot") return dot;
  const Layout layout(context, graph.get(), engine);
  if (layout.failed()) throw InputError(fmt::format("Graphviz cannot lay this out by {}", engine), messages.text());
  if (format == "png") GD_drawing(graph.get())->dpi = sharp_resolution(graph.get());
  char* data = nullptr;
  unsigned length = 0;
  if (gvRenderData(context, graph.get(), format.c_str(), &data, &length) != 0)
    throw InputError(fmt::format("Graphviz cannot render this as {}", format), messages.text());
  const std::unique_ptr<char, FreeRendering> rendering(data);
  std::string picture(data, length);
  if (format != "svg") return picture;
  const auto attribute = [&](const char* name) {
    const char* const value = agget(graph.get(), const_cast<char*>(name));
    return std::string(value == nullptr ? "" : value);
  };
  const std::string title = attribute("label").empty() ? agnameof(graph.get()) : attribute("label");
  return with_svg_style(std::move(picture), title, attribute("comment"));
}

}  // namespace krohn
