#include "krohn/automata/draw/draw_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "krohn/automata/classes/classes.h"
#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/names/named_group.h"

namespace krohn {

// A cascade as a chain of boxes: what each layer is, and how much it hands on.

namespace {

/// "3 permutations, 2 resets"; a layer of width 1 has neither.
std::string actions_text(const CascadeLayer& layer) {
  const auto permutations = static_cast<std::size_t>(std::count_if(
      layer.actions.begin(), layer.actions.end(), [](const Transformation& t) { return t.is_permutation(); }));
  const std::size_t resets = layer.actions.size() - permutations;
  if (resets == 0) return counted(permutations, "permutation");
  if (permutations == 0) return counted(resets, "reset");
  return counted(permutations, "permutation") + ", " + counted(resets, "reset");
}

std::string layer_node(std::size_t index, const CascadeLayer& layer, const DrawOptions& options) {
  const bool is_group = !layer.component.empty() && layer.component != "trivial";
  const DrawColours colours = options.colour_components ? component_colours(is_group ? 0 : 1) : kPlainColours;
  const std::string label = fmt::format("layer {}<BR/>{}<BR/>{}<BR/>{}", index + 1, counted(layer.width, "label"),
                                        is_group ? group_html(layer.component) : "resets only", actions_text(layer));
  return fmt::format("  layer{} [label=<{}>, fillcolor=\"{}\", color=\"{}\"];\n", index + 1, label, colours.fill,
                     colours.line);
}

}  // namespace

std::string to_drawn_dot(const Cascade& cascade, const DrawOptions& options) {
  std::string text = dot_header(options);
  text += "  compound=true;\n  node [shape=box, style=\"rounded,filled\", margin=\"0.18,0.1\"];\n";
  text += fmt::format("  letter [shape=plaintext, style=\"\", label={}];\n",
                      dot_quoted("letter\nof " + std::to_string(cascade.alphabet.size())));
  text += "  state [shape=plaintext, style=\"\", label=\"state\"];\n";
  text += fmt::format("  subgraph cluster_layers {{\n  style=rounded; color=\"{}\"; margin=16;\n", kNoteColours.line);
  for (std::size_t i = 0; i < cascade.layers.size(); ++i) text += layer_node(i, cascade.layers[i], options);
  text += "  }\n";
  for (std::size_t i = 1; i < cascade.layers.size(); ++i)
    text += fmt::format("  layer{} -> layer{} [label={}];\n", i, i + 1,
                        dot_quoted(" " + counted(cascade.layers[i].wiring.action_of.size(), "context") + " "));
  if (cascade.layers.empty()) return text + "  letter -> state;\n}\n";
  text += "  letter -> layer1;\n";
  text += fmt::format("  layer{} -> state [ltail=cluster_layers, label=\" all labels \"];\n", cascade.layers.size());
  return text + "}\n";
}

namespace {

/// The components that are drawn: all, or the `most` that come first in a breadth-first search from the initial state.
std::vector<bool> shown_components(const Drawing& drawing, std::size_t most) {
  const auto next = condensation(drawing.dfa, drawing.components);
  if (next.size() <= most) return std::vector<bool>(next.size(), true);
  std::vector<bool> shown(next.size(), false);
  std::vector<Component> queue{drawing.components.of[drawing.dfa.initial()]};
  shown[queue.front()] = true;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (const Component target : next[queue[i]])
      if (!shown[target] && queue.size() < most) {
        shown[target] = true;
        queue.push_back(target);
      }
  return shown;
}

class CondensedView {
 public:
  CondensedView(const Drawing& drawing, std::size_t most)
      : drawing_(drawing), members_(drawing.components.members()), shown_(shown_components(drawing, most)) {
    for (const auto& [ends, letters] : drawing.arrows) {
      auto& merged = arrows_[{drawing.components.of[ends.first], drawing.components.of[ends.second]}];
      merged.insert(merged.end(), letters.begin(), letters.end());
      std::sort(merged.begin(), merged.end());
      merged.erase(std::unique(merged.begin(), merged.end()), merged.end());
    }
  }

  std::string text() const {
    std::string text = dot_header(drawing_.options);
    text += "  node [shape=box, style=\"rounded,filled\", height=0.4, margin=\"0.15,0.08\"];\n";
    const std::vector<DrawColours> colours = component_colours_of(drawing_);
    for (Component component = 0; component < members_.size(); ++component)
      if (is_drawn(component)) text += node(component, colours[component]);
    text += note_for_the_rest();
    if (drawing_.dfa.has_start()) text += start_arrow(std::to_string(drawing_.components.of[drawing_.dfa.initial()]));
    for (const auto& [ends, letters] : arrows_)
      if (is_drawn(ends.first) && is_drawn(ends.second) && (ends.first != ends.second || is_single(ends.first)))
        text += fmt::format("  {} -> {} [label={}];\n", ends.first, ends.second,
                            dot_quoted(" " + letters_label(drawing_.dfa.alphabet(), letters) + " "));
    return text + arrows_to_the_rest() + "}\n";
  }

 private:
  bool is_single(Component component) const { return members_[component].size() == 1; }
  bool is_hidden(Component component) const { return drawing_.hidden[members_[component].front()]; }
  bool is_drawn(Component component) const { return shown_[component] && !is_hidden(component); }

  std::size_t accepting_states(Component component) const {
    const Dfa& dfa = drawing_.dfa;
    if (!dfa.is_acceptor()) return 0;
    return static_cast<std::size_t>(std::count_if(members_[component].begin(), members_[component].end(),
                                                  [&](State state) { return dfa.accepts(state); }));
  }

  /// "12 states\n3 accepting\nconnected by a–f"; a single state is drawn as itself.
  std::string label(Component component) const {
    const std::vector<State>& members = members_[component];
    if (is_single(component)) return state_label(drawing_.dfa, members.front());
    std::string label = counted(members.size(), "state");
    if (const std::size_t accepting = accepting_states(component); accepting > 0)
      label += fmt::format("\n{} accepting", accepting);
    return label + "\nconnected by " + letters_label(drawing_.dfa.alphabet(), arrows_.at({component, component}));
  }

  std::string node(Component component, const DrawColours& colours) const {
    return fmt::format("  {} [label={}, fillcolor=\"{}\", color=\"{}\"{}];\n", component, dot_quoted(label(component)),
                       colours.fill, colours.line, accepting_states(component) > 0 ? ", peripheries=2" : "");
  }

  std::string note_for_the_rest() const {
    std::size_t components = 0, states = 0;
    for (Component component = 0; component < members_.size(); ++component)
      if (!shown_[component] && !is_hidden(component)) {
        ++components;
        states += members_[component].size();
      }
    if (components == 0) return "";
    const std::string label =
        fmt::format("{} more components\nwith {}\nare not drawn", components, counted(states, "state"));
    return fmt::format("  rest [shape=note, style=filled, fillcolor=\"{}\", color=\"{}\", label={}];\n",
                       kNoteColours.fill, kNoteColours.line, dot_quoted(label));
  }

  /// One dashed arrow from every component that leads to some that are not drawn.
  std::string arrows_to_the_rest() const {
    std::string text;
    Component last = UINT32_MAX;
    for (const auto& [ends, letters] : arrows_) {
      if (!is_drawn(ends.first) || shown_[ends.second] || ends.first == last) continue;
      text += fmt::format("  {} -> rest [style=dashed, color=\"{}\"];\n", ends.first, kNoteColours.line);
      last = ends.first;
    }
    return text;
  }

  const Drawing& drawing_;
  std::vector<std::vector<State>> members_;
  std::vector<bool> shown_;
  std::map<std::pair<Component, Component>, std::vector<Letter>> arrows_;
};

}  // namespace

std::string condensed_view(const Drawing& drawing, std::size_t most) { return CondensedView(drawing, most).text(); }

namespace {

constexpr double kPointsAnInch = 72;
/// Paul Tol's bright colours, one a letter; where letters share an arrow, or there are more of them, black.
constexpr std::array<std::string_view, 6> kCellColours{"#4477AA", "#EE6677", "#228833",
                                                       "#CCBB44", "#66CCEE", "#AA3377"};
constexpr std::string_view kManyLetters = "#222222";

/// States so that arrows stay near the diagonal: components in topological order, and each of them by Cuthill and
/// McKee's search from a state of few arrows.
std::vector<State> near_diagonal(const Drawing& drawing) {
  const Dfa& dfa = drawing.dfa;
  std::vector<std::vector<State>> neighbours(dfa.states());
  for (const auto& [ends, letters] : drawing.arrows)
    if (ends.first != ends.second && drawing.components.of[ends.first] == drawing.components.of[ends.second]) {
      neighbours[ends.first].push_back(ends.second);
      neighbours[ends.second].push_back(ends.first);
    }
  for (std::vector<State>& of_state : neighbours) {
    std::sort(of_state.begin(), of_state.end());
    of_state.erase(std::unique(of_state.begin(), of_state.end()), of_state.end());
  }
  const auto fewer = [&](State a, State b) { return neighbours[a].size() < neighbours[b].size(); };
  std::vector<State> order;
  std::vector<bool> placed(dfa.states(), false);
  const auto search_from = [&](State start, std::vector<State>& found) {
    std::vector<bool> seen(dfa.states(), false);
    found.assign(1, start);
    seen[start] = true;
    for (std::size_t i = 0; i < found.size(); ++i) {
      std::vector<State> next;
      for (const State neighbour : neighbours[found[i]])
        if (!seen[neighbour]) {
          seen[neighbour] = true;
          next.push_back(neighbour);
        }
      std::stable_sort(next.begin(), next.end(), fewer);
      found.insert(found.end(), next.begin(), next.end());
    }
  };
  for (const std::vector<State>& members : drawing.components.members()) {
    std::vector<State> found;
    search_from(*std::min_element(members.begin(), members.end(), fewer), found);
    search_from(found.back(), found);  // from the far end: fewer states at each distance
    for (const State state : found)
      if (!placed[state] && !drawing.hidden[state]) {
        placed[state] = true;
        order.push_back(state);
      }
  }
  return order;
}

class MatrixView {
 public:
  explicit MatrixView(const Drawing& drawing)
      : drawing_(drawing), dfa_(drawing.dfa), order_(near_diagonal(drawing)), position_(dfa_.states(), 0) {
    for (std::size_t i = 0; i < order_.size(); ++i) position_[order_[i]] = i;
    cell_ = std::clamp(9.0 / static_cast<double>(order_.size()), 0.02, 0.2);
  }

  std::string text() const {
    std::string text = "// Every node has its place: lay it out with \"neato -n\".\n" + dot_header(drawing_.options);
    text += "  graph [labelloc=t];\n  node [shape=box, style=filled, fixedsize=true, label=\"\", penwidth=0];\n";
    text += blocks();
    for (std::size_t i = 0; i < order_.size(); ++i) text += row_mark(i);
    for (const auto& [ends, letters] : drawing_.arrows) text += cell(ends.first, ends.second, letters);
    return text + axes() + legend() + "}\n";
  }

 private:
  std::string place(double column, double row) const {
    return fmt::format("{:.2f},{:.2f}!", column * cell_ * kPointsAnInch, -row * cell_ * kPointsAnInch);
  }

  std::string_view colour(const std::vector<Letter>& letters) const {
    return letters.size() == 1 && dfa_.letters() <= kCellColours.size() ? kCellColours[letters.front()] : kManyLetters;
  }

  std::string cell(State from, State to, const std::vector<Letter>& letters) const {
    const std::string said =
        fmt::format("{} → {}: {}", dfa_.state_name(from), dfa_.state_name(to), letters_label(dfa_.alphabet(), letters));
    return fmt::format(
        "  c{}_{} [class=cell, pos=\"{}\", width={:.4f}, height={:.4f}, fillcolor=\"{}\", tooltip={}];\n", from, to,
        place(static_cast<double>(position_[to]), static_cast<double>(position_[from])), cell_, cell_, colour(letters),
        dot_quoted(said));
  }

  /// The name of the state where there is room for it, and what it is.
  std::string row_mark(std::size_t row) const {
    constexpr std::size_t kNamed = 80;
    const State state = order_[row];
    const bool is_start = dfa_.has_start() && state == dfa_.initial(),
               accepts = dfa_.is_acceptor() && dfa_.accepts(state);
    if (order_.size() > kNamed && !is_start && !accepts) return "";
    std::string name = order_.size() <= kNamed ? dfa_.state_name(state) : "";
    if (accepts) name += " ◎";
    if (is_start) name = "→ " + name;
    constexpr double kPointsPerCharacter = 0.6;
    const double size = std::min(11.0, cell_ * kPointsAnInch);
    const double width = static_cast<double>(name.size()) * kPointsPerCharacter * size / kPointsAnInch;
    return fmt::format(
        "  row{} [class=bare, pos=\"{}\", shape=plaintext, style=\"\", fixedsize=false, margin=0, width=0, height=0, "
        "label={}, "
        "fontsize={:.1f}];\n",
        state, place(-1 - width / 2 / cell_, static_cast<double>(row)), dot_quoted(name), size);
  }

  /// A pale square behind every component of several states.
  std::string blocks() const {
    const std::vector<DrawColours> colours = component_colours_of(drawing_);
    const double side = static_cast<double>(order_.size()), middle = (side - 1) / 2;
    std::string text = fmt::format(
        "  frame [class=paper, pos=\"{}\", width={:.3f}, height={:.3f}, fillcolor=\"#FFFFFF\", color=\"#999999\", "
        "penwidth=0.8];\n",
        place(middle, middle), side * cell_, side * cell_);
    for (std::size_t first = 0; first < order_.size();) {
      const Component component = drawing_.components.of[order_[first]];
      std::size_t end = first + 1;
      while (end < order_.size() && drawing_.components.of[order_[end]] == component) ++end;
      if (end - first > 1) {
        const double size = static_cast<double>(end - first), at = static_cast<double>(first) + (size - 1) / 2;
        text += fmt::format(
            "  block{} [pos=\"{}\", width={:.3f}, height={:.3f}, fillcolor=\"{}80\", tooltip=\"a component of {}\"];\n",
            component, place(at, at), size * cell_, size * cell_, colours[component].fill,
            counted(end - first, "state"));
      }
      first = end;
    }
    return text;
  }

  std::string axes() const {
    const double side = static_cast<double>(order_.size()), above = -1 - 0.12 / cell_;
    return fmt::format(
        "  axes [class=bare, pos=\"{}\", shape=plaintext, style=\"\", fixedsize=false, fontsize=12, label=\"a row for "
        "each of {}: a square where a letter leads to the column's state\"];\n",
        place(side / 2, above), counted(order_.size(), "state"));
  }

  std::string legend() const {
    std::string items;
    if (dfa_.letters() <= kCellColours.size())
      for (Letter letter = 0; letter < dfa_.letters(); ++letter)
        items += fmt::format("<TD BGCOLOR=\"{}\" WIDTH=\"14\"></TD><TD>{}</TD>", kCellColours[letter],
                             html(letters_label(dfa_.alphabet(), std::vector<Letter>{letter})));
    items += fmt::format("<TD BGCOLOR=\"{}\" WIDTH=\"14\"></TD><TD>{}</TD>", kManyLetters,
                         dfa_.letters() <= kCellColours.size() ? "several letters" : "one letter or more");
    return fmt::format(
        "  legend [class=bare, pos=\"{}\", shape=plain, style=\"\", fixedsize=false, fontsize=12, label=<<TABLE "
        "BORDER=\"0\" "
        "CELLSPACING=\"4\"><TR>{}</TR></TABLE>>];\n",
        place(static_cast<double>(order_.size()) / 2, static_cast<double>(order_.size()) + 0.25 / cell_), items);
  }

  const Drawing& drawing_;
  const Dfa& dfa_;
  std::vector<State> order_;
  std::vector<std::size_t> position_;
  double cell_ = 0;
};

}  // namespace

std::string matrix_view(const Drawing& drawing) { return MatrixView(drawing).text(); }

namespace {

std::string cell(std::string_view text, std::string_view fill) {
  return fmt::format("<TD BGCOLOR=\"{}\">{}</TD>", fill, html(text));
}

/// "→" before the initial state, "◎" behind those that accept.
std::string row_name(const Dfa& dfa, State state) {
  std::string name = state_label(dfa, state);
  if (dfa.has_start() && state == dfa.initial()) name = "→ " + name;
  if (dfa.is_acceptor() && dfa.accepts(state)) name += " ◎";
  return name;
}

/// True where some row names an output below its state.
bool has_outputs(const Dfa& dfa) {
  for (State state = 0; state < dfa.states(); ++state)
    if (state_label(dfa, state) != dfa.state_name(state)) return true;
  return false;
}

}  // namespace

std::string table_view(const Drawing& drawing) {
  const Dfa& dfa = drawing.dfa;
  const std::vector<DrawColours> colours = component_colours_of(drawing);
  const auto columns = reduce(dfa).alike;  // letters that take every state to the same place share a column
  std::string text = dot_header(drawing.options);
  text +=
      "  table [shape=plain, style=\"\", label=<<TABLE BORDER=\"0\" CELLBORDER=\"1\" CELLSPACING=\"0\" "
      "CELLPADDING=\"5\" COLOR=\"#999999\">\n    <TR>";
  text += cell(has_outputs(dfa) ? "state\noutput" : "state", kNoteColours.fill);
  for (const auto& letters : columns) text += cell(letters_label(dfa.alphabet(), letters), kNoteColours.fill);
  text += "</TR>\n";
  for (State state = 0; state < dfa.states(); ++state) {
    if (drawing.hidden[state]) continue;
    text += "    <TR>" + cell(row_name(dfa, state), colours[drawing.components.of[state]].fill);
    for (const auto& letters : columns) {
      const State target = dfa.next(state, letters.front());
      text += drawing.hidden[target] ? cell("–", "#FFFFFF")
                                     : cell(dfa.state_name(target), colours[drawing.components.of[target]].fill);
    }
    text += "</TR>\n";
  }
  return text + "  </TABLE>>];\n}\n";
}

namespace {

/// A word of the class, short enough for a label.
std::string word_of(const Dfa& dfa, const DClass& box) {
  constexpr std::size_t kMax = 16;
  if (box.word.empty()) return "ε";
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
