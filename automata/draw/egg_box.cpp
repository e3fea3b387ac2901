#include "krohn/automata/draw/draw.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/names/named_group.h"

namespace krohn {
namespace {

/// A word of the class, short enough for a label.
std::string word_of(const Dfa& dfa, const DClass& box) {
  constexpr std::size_t kMax = 16;
  if (box.word.empty()) return "1";
  if (box.word.size() <= kMax) return visible(dfa.alphabet().format_word(box.word));
  return visible(dfa.alphabet().format_word(std::span(box.word).first(kMax))) + "…";
}

std::string group_name(const DClass& box) { return box.group_order == 1 ? "trivial" : recognised_name(box.group); }

std::string heading(const Dfa& dfa, std::uint32_t d, const DClass& box) {
  std::string text = fmt::format("D{}: {}, rank {}, {} × {}", d, counted(box.size.str(), "element"), box.rank,
                                 counted(box.r_classes, "row"), counted(box.l_classes, "column"));
  if (box.group_order > 1) text += fmt::format(", group {}", group_name(box));
  return text + (box.regular ? "" : ", not regular") + fmt::format(", holds {}", word_of(dfa, box));
}

std::string covered(const DClass& box) {
  std::string text;
  for (const std::uint32_t below : box.below) text += fmt::format("{}D{}", text.empty() ? "" : " ", below);
  return text;
}

bool fits(const DClass& box, const EggBoxOptions& options) {
  return box.r_classes <= options.max_side && box.l_classes <= options.max_side;
}

/// "regular, |H| = 6": every H-class of a D-class has as many elements.
std::string kind_of(const DClass& box) {
  return fmt::format("{}, |H| = {}", box.regular ? "regular" : "not regular", box.group_order.str());
}

/// An HTML-like label: a caption, then the cells.
std::string table(const Dfa& dfa, const GreenStructure& green, std::uint32_t d, const EggBoxOptions& options) {
  const DClass& box = green.d_classes()[d];
  const std::string caption =
      fmt::format("<FONT POINT-SIZE=\"10\" COLOR=\"#555555\">{}<BR/>{}</FONT>", html(word_of(dfa, box)), kind_of(box));
  if (!fits(box, options))
    return fmt::format(
        "<TABLE BORDER=\"0\" CELLBORDER=\"1\" CELLSPACING=\"0\" CELLPADDING=\"6\"><TR><TD BORDER=\"0\">{}"
        "</TD></TR><TR><TD>{} × {}{}</TD></TR></TABLE>",
        caption, box.r_classes, box.l_classes, box.group_order > 1 ? " of " + group_html(group_name(box)) : "");
  const GreenStructure::EggBox cells = green.egg_box(d);
  const std::string mark = box.group_order > 1 ? group_html(group_name(box)) : "∗";
  std::string text = fmt::format(
      "<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"0\"><TR><TD>{}</TD></TR><TR><TD>"
      "<TABLE BORDER=\"0\" CELLBORDER=\"1\" CELLSPACING=\"0\" CELLPADDING=\"4\">",
      caption);
  for (const std::vector<bool>& row : cells.cells) {
    text += "<TR>";
    for (const bool group : row)
      text += group ? fmt::format("<TD BGCOLOR=\"#9ecae1\">{}</TD>", mark) : std::string("<TD>&nbsp;&nbsp;</TD>");
    text += "</TR>";
  }
  return text + "</TABLE></TD></TR></TABLE>";
}

}  // namespace

std::string egg_box_text(const Dfa& dfa, const Algebra& algebra, const EggBoxOptions& options) {
  const std::span<const DClass> classes = algebra.green.value().d_classes();
  const std::size_t shown = std::min<std::size_t>(classes.size(), options.max_classes);
  std::string text;
  for (std::uint32_t d = 0; d < shown; ++d) {
    const DClass& box = classes[d];
    text += heading(dfa, d, box);
    if (!box.below.empty()) text += "; above " + covered(box);
    text += '\n';
    if (!fits(box, options)) {
      text += "  (too large to draw)\n";
      continue;
    }
    for (const std::vector<bool>& row : algebra.green.value().egg_box(d).cells) {
      text += "  ";
      for (const bool group : row) text += group ? '*' : '.';
      text += '\n';
    }
  }
  if (shown < classes.size()) text += fmt::format("… and {} more D-classes\n", classes.size() - shown);
  return text;
}

std::string egg_box_dot(const Dfa& dfa, const Algebra& algebra, const EggBoxOptions& options) {
  const std::span<const DClass> classes = algebra.green.value().d_classes();
  const auto shown = static_cast<std::uint32_t>(std::min<std::size_t>(classes.size(), options.max_classes));
  std::string dot =
      "digraph egg_box {\n  graph [ranksep=0.35, nodesep=0.3, fontname=\"Helvetica\"];\n"
      "  node [shape=plain, fontname=\"Helvetica\", fontsize=12];\n  edge [color=\"#888888\", arrowhead=none];\n";
  for (std::uint32_t d = 0; d < shown; ++d)
    dot += fmt::format("  d{} [label=<{}>];\n", d, table(dfa, algebra.green.value(), d, options));
  for (std::uint32_t d = 0; d < shown; ++d)
    for (const std::uint32_t below : classes[d].below)
      if (below < shown) dot += fmt::format("  d{} -> d{};\n", d, below);
  if (shown < classes.size())
    dot += fmt::format("  more [label=\"… and {} more D-classes\"];\n", classes.size() - shown);
  return dot + "}\n";
}

}  // namespace krohn
