#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "krohn/automata/draw/draw_views.h"
#include "krohn/groups/counted.h"

namespace krohn {
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

}  // namespace krohn
