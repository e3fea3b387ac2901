#include "krohn/automata/draw/svg_style.h"

#include <string_view>

#include "krohn/automata/draw/draw_style.h"

namespace krohn {
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

}  // namespace krohn
