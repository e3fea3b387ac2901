#include "krohn/automata/draw/draw.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/automata/dfa/utf8.h"
#include "krohn/automata/draw/draw_views.h"

namespace krohn {

namespace {

bool is_rejecting_sink(const Dfa& dfa, State state) {
  const auto row = dfa.row(state);
  return dfa.is_acceptor() && !dfa.accepts(state) && state != dfa.initial() &&
         std::all_of(row.begin(), row.end(), [&](State target) { return target == state; });
}

Drawing prepare(const Dfa& dfa, const DrawOptions& options) {
  Drawing drawing{dfa, options, strongly_connected_components(dfa), std::vector<bool>(dfa.states(), false), {}};
  for (State state = 0; state < dfa.states(); ++state)
    drawing.hidden[state] = !options.show_sink && is_rejecting_sink(dfa, state);
  for (State state = 0; state < dfa.states(); ++state)
    for (Letter letter = 0; letter < dfa.letters() && !drawing.hidden[state]; ++letter)
      if (const State target = dfa.next(state, letter); !drawing.hidden[target])
        drawing.arrows[{state, target}].push_back(letter);
  return drawing;
}

/// Short labels stand in circles, long ones in rounded boxes: circles round long text crowd everything else out.
bool labels_are_short(const Dfa& dfa) {
  if (!dfa.is_acceptor()) return false;
  const auto names = dfa.state_names();
  return std::all_of(names.begin(), names.end(), [](const std::string& name) {
    return decode_utf8(name).size() <= 4 && name.find('\n') == std::string::npos;
  });
}

}  // namespace

std::vector<DrawColours> component_colours_of(const Drawing& drawing) {
  std::vector<bool> cyclic(drawing.components.count, false);
  for (const auto& [ends, letters] : drawing.arrows)
    if (drawing.components.of[ends.first] == drawing.components.of[ends.second])
      cyclic[drawing.components.of[ends.first]] = true;
  std::vector<DrawColours> colours(drawing.components.count, kPlainColours);
  if (!drawing.options.colour_components) return colours;
  for (std::size_t i = 0, next = 0; i < colours.size(); ++i)
    if (cyclic[i]) colours[i] = component_colours(next++);
  return colours;
}

std::string state_label(const Dfa& dfa, State state) {
  const std::string name = dfa.state_name(state);
  if (dfa.is_acceptor() || dfa.output_names()[dfa.output(state)] == name) return name;
  return name + "\n" + dfa.output_names()[dfa.output(state)];
}

std::string start_arrow(const std::string& target) {
  return "  start [shape=point, width=0.05, color=\"#444444\", fillcolor=\"#444444\"];\n  start -> " + target + ";\n";
}

std::string states_view(const Drawing& drawing) {
  const Dfa& dfa = drawing.dfa;
  std::string text = dot_header(drawing.options);
  text += labels_are_short(dfa) ? "  node [shape=circle, width=0.5, margin=\"0.05,0.05\"];\n"
                                : "  node [shape=box, style=\"rounded,filled\", height=0.4, margin=\"0.12,0.06\"];\n";
  const std::vector<DrawColours> colours = component_colours_of(drawing);
  for (State state = 0; state < dfa.states(); ++state) {
    if (drawing.hidden[state]) continue;
    const DrawColours& colour = colours[drawing.components.of[state]];
    text +=
        fmt::format("  {} [label={}, fillcolor=\"{}\", color=\"{}\"{}];\n", state, dot_quoted(state_label(dfa, state)),
                    colour.fill, colour.line, dfa.is_acceptor() && dfa.accepts(state) ? ", peripheries=2" : "");
  }
  text += start_arrow(std::to_string(dfa.initial()));
  for (const auto& [ends, letters] : drawing.arrows)
    text += fmt::format("  {} -> {} [label={}];\n", ends.first, ends.second,
                        dot_quoted(" " + letters_label(dfa.alphabet(), letters) + " "));
  return text + "}\n";
}

std::string to_drawn_dot(const Dfa& dfa, const DrawOptions& options, DrawnView* view) {
  constexpr std::size_t kDenseStates = 8, kDenseArrows = 6, kTableSize = 64;
  const Drawing drawing = prepare(dfa, options);
  const std::size_t arrows = drawing.arrows.size();
  const auto states = static_cast<std::size_t>(std::count(drawing.hidden.begin(), drawing.hidden.end(), false));
  const bool dense = states > kDenseStates && arrows > kDenseArrows * states;
  const bool large = states > options.max_states || arrows > 3 * options.max_states;
  const auto drawn = [view](DrawnView as) {
    if (view != nullptr) *view = as;
  };
  if (dense && states <= kTableSize && dfa.letters() <= kTableSize) {
    drawn(DrawnView::kTable);
    return table_view(drawing);
  }
  if (large) {
    drawn(DrawnView::kComponents);
    return condensed_view(drawing, std::max<std::size_t>(1, options.max_states / 4));
  }
  drawn(DrawnView::kStates);
  return states_view(drawing);
}

}  // namespace krohn
