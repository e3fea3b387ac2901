#include <fmt/format.h>

#include <algorithm>

#include "krohn/automata/draw/draw_views.h"
#include "krohn/groups/counted.h"

namespace krohn {

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

}  // namespace krohn
