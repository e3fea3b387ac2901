#include "krohn/automata/formats/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

/// The step in which the proposition holds alone; with `letter` past the last, the one in which none does.
std::string step(Letter letter, Letter letters) {
  std::string text;
  for (Letter other = 0; other < letters; ++other)
    text += fmt::format("{}{}{}", other == 0 ? "" : "&", other == letter ? "" : "!", other);
  return letters == 0 ? "t" : text;
}

}  // namespace

std::string write_hoa(const Dfa& dfa) {
  require_acceptor(dfa, "HOA");
  const State ended = dfa.states();
  std::string text = fmt::format(
      "HOA: v1\nname: \"finite words, each followed by steps without a letter\"\nStates: {}\nStart: {}\nAP: {}",
      std::uint64_t{ended} + 1, dfa.initial(), dfa.letters());
  for (const Symbol& symbol : dfa.alphabet().symbols()) {
    if (std::any_of(symbol.name.begin(), symbol.name.end(),
                    [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; }))
      throw InputError(fmt::format("HOA cannot hold the letter {}; write DOT or JSON instead", in_quotes(symbol.name)));
    text += " \"" + symbol.name + "\"";
  }
  text +=
      "\nacc-name: Buchi\nAcceptance: 1 Inf(0)\nproperties: trans-labels explicit-labels state-acc "
      "deterministic\n--BODY--\n";
  for (State state = 0; state < dfa.states(); ++state) {
    fmt::format_to(std::back_inserter(text), "State: {}\n", state);
    for (Letter letter = 0; letter < dfa.letters(); ++letter)
      fmt::format_to(std::back_inserter(text), "[{}] {}\n", step(letter, dfa.letters()), dfa.next(state, letter));
    if (dfa.accepts(state))
      fmt::format_to(std::back_inserter(text), "[{}] {}\n", step(dfa.letters(), dfa.letters()), ended);
  }
  fmt::format_to(std::back_inserter(text), "State: {} {{0}}\n[{}] {}\n--END--\n", ended,
                 step(dfa.letters(), dfa.letters()), ended);
  return text;
}

// The layout is that of fst/fst.cc, fst/vector-fst.h and fst/symbol-table.cc of OpenFst 1.7 and later.

namespace {

static_assert(std::endian::native == std::endian::little, "the bytes of numbers are written as they lie in memory");

class Bytes {
 public:
  template <class Number>
  void number(Number value) {
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    text_.append(raw, sizeof value);
  }
  void string(const std::string& text) {
    number(static_cast<std::int32_t>(text.size()));
    text_ += text;
  }
  std::string take() && { return std::move(text_); }

 private:
  std::string text_;
};

void add_symbols(Bytes& bytes, const Alphabet& alphabet) {
  constexpr std::int32_t kSymbolTableMagic = 2125658996;
  const std::int64_t size = std::int64_t{alphabet.size()} + 1;
  bytes.number(kSymbolTableMagic);
  bytes.string("letters");
  bytes.number(size);  // the next free number
  bytes.number(size);
  bytes.string("<eps>");
  bytes.number(std::int64_t{0});
  for (Letter letter = 0; letter < alphabet.size(); ++letter) {
    bytes.string(alphabet.name(letter));
    bytes.number(std::int64_t{letter} + 1);
  }
}

}  // namespace

std::string write_openfst(const Dfa& dfa) {
  constexpr std::int32_t kFstMagic = 2125659606, kVersion = 2, kHasInputSymbols = 1, kHasOutputSymbols = 2;
  constexpr std::uint64_t kExpanded = 1, kMutable = 2, kAcceptor = 0x10000;
  require_acceptor(dfa, "OpenFst");
  const std::vector<bool> useful = coaccessible_states(dfa);
  std::vector<std::int32_t> number(dfa.states(), -1);
  std::int32_t states = 0;
  for (State state = 0; state < dfa.states(); ++state)
    if (useful[state]) number[state] = states++;
  std::vector<std::vector<Letter>> arcs(dfa.states());
  std::int64_t arc_count = 0;
  for (State state = 0; state < dfa.states(); ++state)
    for (Letter letter = 0; useful[state] && letter < dfa.letters(); ++letter)
      if (useful[dfa.next(state, letter)]) arcs[state].push_back(letter), ++arc_count;
  Bytes bytes;
  bytes.number(kFstMagic);
  bytes.string("vector");
  bytes.string("standard");
  bytes.number(kVersion);
  bytes.number(std::int32_t{kHasInputSymbols | kHasOutputSymbols});
  bytes.number(std::uint64_t{kExpanded | kMutable | kAcceptor});
  bytes.number(std::int64_t{number[dfa.initial()]});
  bytes.number(std::int64_t{states});
  bytes.number(arc_count);
  add_symbols(bytes, dfa.alphabet());
  add_symbols(bytes, dfa.alphabet());
  for (State state = 0; state < dfa.states(); ++state) {
    if (!useful[state]) continue;
    bytes.number(dfa.accepts(state) ? 0.0F : std::numeric_limits<float>::infinity());
    bytes.number(static_cast<std::int64_t>(arcs[state].size()));
    for (const Letter letter : arcs[state]) {
      bytes.number(static_cast<std::int32_t>(letter + 1));
      bytes.number(static_cast<std::int32_t>(letter + 1));
      bytes.number(0.0F);
      bytes.number(number[dfa.next(state, letter)]);
    }
  }
  return std::move(bytes).take();
}

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
