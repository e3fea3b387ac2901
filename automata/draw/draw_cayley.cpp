#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "krohn/automata/dfa/utf8.h"
#include "krohn/automata/draw/cayley_layout.h"
#include "krohn/automata/draw/draw_views.h"

namespace krohn {
namespace {

/// Okabe and Ito's colours, apart for all common kinds of colour blindness; a second round is dashed.
constexpr std::array<std::string_view, 7> kLineColours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                       "#E69F00", "#56B4E9", "#000000"};

std::string line_style(std::size_t index) { return index < kLineColours.size() ? "solid" : "dashed"; }

constexpr double kPointsAnInch = 72;

class CayleyView {
 public:
  CayleyView(const Drawing& drawing, const std::vector<GeneratorLines>& lines, const GraphLayout& layout)
      : drawing_(drawing), dfa_(drawing.dfa), lines_(lines), layout_(layout) {
    constexpr State kBoxes = 12, kNamed = 60;
    style_ = dfa_.states() <= kBoxes ? Style::kBoxes : dfa_.states() <= kNamed ? Style::kNamed : Style::kDots;
    const double wanted = style_ == Style::kBoxes ? 1.3 : style_ == Style::kNamed ? 0.6 : 0.25;  // inches apart
    scale_ = std::clamp(wanted / std::max(layout.least_distance, 1e-3), 2.0, 6.0);
  }

  std::string text() const {
    std::string text = "// Every node has its place: lay it out with \"neato -n\".\n" + dot_header(drawing_.options);
    text += "  graph [splines=line, outputorder=edgesfirst, labelloc=b];\n";
    text += legend();
    std::vector<State> order(dfa_.states());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](State a, State b) { return layout_.points[a].depth < layout_.points[b].depth; });
    for (const State state : order) text += node(state);
    for (std::size_t line = 0; line < lines_.size(); ++line)
      for (State state = 0; state < dfa_.states(); ++state) text += edge(line, state);
    return text + "}\n";
  }

 private:
  enum class Style { kBoxes, kNamed, kDots };

  /// Of something at that depth, fading away from the viewer: two hexadecimal digits of opacity.
  std::string opacity(double depth) const {
    return layout_.is_solid ? fmt::format("{:02X}", std::lround(255 * (0.35 + 0.65 * (depth + 1) / 2))) : "";
  }

  std::string place(double x, double y) const {
    return fmt::format("{:.1f},{:.1f}!", x * scale_ * kPointsAnInch, y * scale_ * kPointsAnInch);
  }

  std::string node(State state) const {
    const GraphLayout::Point& at = layout_.points[state];
    const std::string name = state_label(dfa_, state);
    const bool is_start = dfa_.has_start() && state == dfa_.initial(),
               accepts = dfa_.is_acceptor() && dfa_.accepts(state);
    const std::string fill = is_start ? "#222255" : accepts ? "#EEEEBB" : "#BBCCEE";
    constexpr std::size_t kInCircle = 3;
    if (style_ == Style::kBoxes)
      return fmt::format("  {} [pos=\"{}\", label={}, {}, fillcolor=\"{}\", color=\"#222255\", fontcolor=\"{}\"{}];\n",
                         state, place(at.x, at.y), dot_quoted(name),
                         decode_utf8(name).size() <= kInCircle
                             ? "shape=circle, width=0.45, fixedsize=true"
                             : "shape=box, style=\"rounded,filled\", height=0.35, width=0.5, margin=\"0.08,0.04\"",
                         fill, is_start ? "#FFFFFF" : "#000000", accepts ? ", peripheries=2" : "");
    const double size = (style_ == Style::kNamed ? 0.16 : 0.1) * (1 + 0.25 * at.depth) * (is_start ? 1.5 : 1);
    std::string text = fmt::format(
        "  {} [pos=\"{}\", label=\"\", tooltip={}, shape=circle, width={:.3f}, fixedsize=true, fillcolor=\"{}\", "
        "color=\"#222255\", penwidth=0.8{}];\n",
        state, place(at.x, at.y), dot_quoted(name), size, fill, accepts ? ", peripheries=2" : "");
    if (style_ == Style::kNamed) {
      const double radius = std::max(std::hypot(at.x, at.y), 1e-9), out = (is_start ? 0.24 : 0.17) / scale_;
      const double width = 0.045 * static_cast<double>(decode_utf8(name).size()) / scale_;
      text += fmt::format(
          "  name{} [pos=\"{}\", label={}, class=bare, shape=plaintext, style=\"\", margin=0, width=0, height=0, "
          "fontsize=9, "
          "fontcolor=\"#222222{}\"];\n",
          state, place(at.x + at.x / radius * (out + width), at.y + at.y / radius * out), dot_quoted(name),
          opacity(at.depth));
    }
    return text;
  }

  std::string edge(std::size_t line, State state) const {
    const GeneratorLines& generator = lines_[line];
    const State target = dfa_.next(state, generator.forward.front());
    if (target == state || (generator.is_involution && target < state)) return "";
    const double depth = (layout_.points[state].depth + layout_.points[target].depth) / 2;
    return fmt::format("  {} -> {} [color=\"{}{}\", style={}, penwidth={:.2f}{}];\n", state, target,
                       kLineColours[line % kLineColours.size()], opacity(depth), line_style(line),
                       layout_.is_solid ? 1.3 + 0.5 * depth : 1.3,
                       generator.is_involution ? ", dir=none" : ", arrowsize=0.6");
  }

  std::string names(const std::vector<Letter>& letters) const { return letters_label(dfa_.alphabet(), letters); }

  /// A line of its colour for every generator.
  std::string legend() const {
    std::string rows;
    double lowest = 0;
    for (const GraphLayout::Point& point : layout_.points) lowest = std::min(lowest, point.y);
    for (std::size_t line = 0; line < lines_.size(); ++line) {
      const GeneratorLines& generator = lines_[line];
      std::string name = names(generator.forward);
      if (!generator.backward.empty()) name += ", against the arrow " + names(generator.backward);
      const bool is_identity = generator.is_identity;
      const std::string_view mark = is_identity               ? "○"
                                    : generator.is_involution ? (line_style(line) == "solid" ? "━━" : "╌╌")
                                                              : (line_style(line) == "solid" ? "━▶" : "╌▶");
      rows += fmt::format("<TD><FONT COLOR=\"{}\">{}</FONT></TD><TD ALIGN=\"LEFT\">{}{}</TD>",
                          is_identity ? "#888888" : kLineColours[line % kLineColours.size()], mark, html(name),
                          is_identity ? " (moves nothing)" : "");
      if (line % 4 == 3 && line + 1 < lines_.size()) rows += "</TR><TR>";
    }
    return fmt::format(
        "  legend [class=bare, shape=plain, style=\"\", pos=\"{}\", fontsize=12, label=<<TABLE BORDER=\"0\" "
        "CELLSPACING=\"4\">"
        "<TR>{}</TR></TABLE>>];\n",
        place(0, lowest - 0.5 / scale_), rows);
  }

  const Drawing& drawing_;
  const Dfa& dfa_;
  const std::vector<GeneratorLines>& lines_;
  const GraphLayout& layout_;
  Style style_;
  double scale_;
};

}  // namespace

std::vector<GeneratorLines> generator_lines(const Dfa& dfa) {
  const auto is_inverse = [&](Letter a, Letter b) {
    for (State state = 0; state < dfa.states(); ++state)
      if (dfa.next(dfa.next(state, a), b) != state) return false;
    return true;
  };
  const auto is_same = [&](Letter a, Letter b) { return dfa.letter_map(a) == dfa.letter_map(b); };
  std::vector<GeneratorLines> lines;
  for (Letter letter = 0; letter < dfa.letters(); ++letter) {
    const auto home = std::find_if(lines.begin(), lines.end(), [&](const GeneratorLines& line) {
      return is_same(line.forward.front(), letter) || is_inverse(line.forward.front(), letter);
    });
    if (home == lines.end())
      lines.push_back({{letter}, {}, is_inverse(letter, letter), dfa.letter_map(letter).is_identity()});
    else if (is_same(home->forward.front(), letter))
      home->forward.push_back(letter);
    else
      home->backward.push_back(letter);
  }
  return lines;
}

std::string cayley_view(const Drawing& drawing, const GraphLayout& layout) {
  return CayleyView(drawing, generator_lines(drawing.dfa), layout).text();
}

}  // namespace krohn
