#include "krohn/automata/formats/format_tex.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "krohn/automata/dfa/visible_text.h"

namespace krohn {

std::string escape_tex(const std::string& text) {
  std::string escaped;
  for (const char c : visible(text)) {
    if (c == '\\')
      escaped += "\\textbackslash{}";
    else if (c == '~')
      escaped += "\\textasciitilde{}";
    else if (c == '^')
      escaped += "\\textasciicircum{}";
    else if (std::string_view("#$%&_{}").find(c) != std::string_view::npos)
      escaped += std::string("\\") + c;
    else
      escaped += c;
  }
  return escaped;
}

namespace {

std::string shown_state(const Dfa& dfa, State state) {
  const std::string name =
      dfa.state_names().empty() ? fmt::format("$q_{{{}}}$", state) : escape_tex(dfa.state_name(state));
  return dfa.is_acceptor() ? name : name + "/" + escape_tex(dfa.output_names()[dfa.output(state)]);
}

/// The letters from one state to another, together.
std::string label(const Dfa& dfa, State source, State target) {
  std::string text;
  for (Letter letter = 0; letter < dfa.letters(); ++letter)
    if (dfa.next(source, letter) == target)
      text += (text.empty() ? "" : ", ") + escape_tex(dfa.alphabet().name(letter));
  return text;
}

}  // namespace

std::string write_tikz(const Dfa& dfa) {
  const double radius = std::max(1.2, 0.32 * dfa.states());
  std::string text =
      "% \\usepackage{tikz} \\usetikzlibrary{automata, arrows.meta, positioning}\n\\begin{tikzpicture}[->, >=Stealth, "
      "auto, initial text=, every state/.style={minimum size=7mm}]\n";
  for (State state = 0; state < dfa.states(); ++state)
    text += fmt::format(
        "  \\node[state{}{}] (q{}) at ({:.4g}:{:.3g}cm) {{{}}};\n", state == dfa.initial() ? ", initial" : "",
        dfa.is_acceptor() && dfa.accepts(state) ? ", accepting" : "", state, 180.0 - 360.0 * state / dfa.states(),
        dfa.states() == 1 ? 0.0 : radius, shown_state(dfa, state));
  text += "  \\path\n";
  for (State source = 0; source < dfa.states(); ++source) {
    std::vector<State> targets(dfa.row(source).begin(), dfa.row(source).end());
    std::sort(targets.begin(), targets.end());
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
    for (const State target : targets) {
      const auto back = dfa.row(target);
      const bool both_ways = source != target && std::find(back.begin(), back.end(), source) != back.end();
      // A loop points away from the middle of the circle.
      const std::string how =
          source == target ? fmt::format("[out={0:.4g}, in={1:.4g}, loop]", 165.0 - 360.0 * source / dfa.states(),
                                         195.0 - 360.0 * source / dfa.states())
          : both_ways      ? "[bend left=12]"
                           : "";
      text += fmt::format("    (q{}) edge{} node {{{}}} (q{})\n", source, how, label(dfa, source, target), target);
    }
  }
  return text + "  ;\n\\end{tikzpicture}\n";
}

std::string write_latex_table(const Dfa& dfa) {
  std::string text =
      fmt::format("\\begin{{tabular}}{{rl|{}{}}}\n & ", std::string(dfa.letters(), 'l'), dfa.is_acceptor() ? "" : "|l");
  for (const Symbol& symbol : dfa.alphabet().symbols()) text += " & " + escape_tex(symbol.name);
  text += dfa.is_acceptor() ? " \\\\ \\hline\n" : " & output \\\\ \\hline\n";
  const auto name = [&](State state) {
    return dfa.state_names().empty() ? fmt::format("$q_{{{}}}$", state) : escape_tex(dfa.state_name(state));
  };
  for (State state = 0; state < dfa.states(); ++state) {
    text += fmt::format("{}& {}{}", state == dfa.initial() ? "$\\to$ " : "", name(state),
                        dfa.is_acceptor() && dfa.accepts(state) ? "$^*$" : "");
    for (const State target : dfa.row(state)) text += " & " + name(target);
    if (!dfa.is_acceptor()) text += " & " + escape_tex(dfa.output_names()[dfa.output(state)]);
    text += " \\\\\n";
  }
  return text + "\\end{tabular}\n";
}

}  // namespace krohn
