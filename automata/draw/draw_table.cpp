#include <fmt/format.h>

#include "krohn/automata/draw/draw_views.h"

namespace krohn {

namespace {

std::string cell(std::string_view text, std::string_view fill) {
  return fmt::format("<TD BGCOLOR=\"{}\">{}</TD>", fill, html(text));
}

/// Letters that take every state to the same place share a column.
std::vector<std::vector<Letter>> columns_of(const Dfa& dfa) {
  std::map<std::vector<State>, std::size_t> seen;
  std::vector<std::vector<Letter>> columns;
  for (Letter letter = 0; letter < dfa.letters(); ++letter) {
    std::vector<State> targets(dfa.states());
    for (State state = 0; state < dfa.states(); ++state) targets[state] = dfa.next(state, letter);
    const auto [found, added] = seen.emplace(std::move(targets), columns.size());
    if (added) columns.emplace_back();
    columns[found->second].push_back(letter);
  }
  return columns;
}

/// "→" before the initial state, "◎" behind those that accept.
std::string row_name(const Dfa& dfa, State state) {
  std::string name = state_label(dfa, state);
  if (dfa.has_start() && state == dfa.initial()) name = "→ " + name;
  if (dfa.is_acceptor() && dfa.accepts(state)) name += " ◎";
  return name;
}

/// Whether some row names an output below its state.
bool has_outputs(const Dfa& dfa) {
  for (State state = 0; state < dfa.states(); ++state)
    if (state_label(dfa, state) != dfa.state_name(state)) return true;
  return false;
}

}  // namespace

std::string table_view(const Drawing& drawing) {
  const Dfa& dfa = drawing.dfa;
  const std::vector<DrawColours> colours = component_colours_of(drawing);
  const auto columns = columns_of(dfa);
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

}  // namespace krohn
