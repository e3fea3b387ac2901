#include "krohn/automata/draw/draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/draw/draw_views.h"
#include "krohn/automata/formats/formats.h"
#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

/// A character as a reader of the picture can make it out.
std::string character_text(char32_t character) {
  if (character == U' ') return "␣";
  if (character == U',') return "‘,’";
  return character_symbol(character).name;
}

/// "x", "x, y" or "x–z", one item per text that stands between commas.
template <class Number, class Show>
void add_range(std::vector<std::string>& items, Number first, Number last, Show show) {
  items.push_back(show(first));
  if (last == first + 1) items.push_back(show(last));
  if (last > first + 1) items.back() += "–" + show(last);
}

/// The number that a token is, if it is one without leading zeros.
std::optional<std::uint64_t> number_of(const std::string& name) {
  const auto value = number_in<std::uint64_t>(name);
  return value && *value < UINT64_MAX - 1 && std::to_string(*value) == name ? value : std::nullopt;
}

/// Letters by what they are. Digits count as numbers where some token is a longer number.
struct SortedLetters {
  std::vector<std::uint64_t> numbers;
  CharacterSet characters;
  std::vector<std::string> tokens;
};

SortedLetters sorted(const Alphabet& alphabet, std::span<const Letter> letters) {
  SortedLetters result;
  std::vector<CodePointRange> ranges;
  for (const Letter letter : letters) {
    const Symbol& symbol = alphabet[letter];
    const auto number = alphabet.is_characterwise() ? std::nullopt : number_of(symbol.name);
    if (number)
      result.numbers.push_back(*number);
    else if (symbol.characters.empty())
      result.tokens.push_back(symbol.name);
    else
      ranges.insert(ranges.end(), symbol.characters.begin(), symbol.characters.end());
  }
  std::sort(result.numbers.begin(), result.numbers.end());
  result.characters = normalised(std::move(ranges));
  return result;
}

std::vector<std::string> items_of(const SortedLetters& letters) {
  std::vector<std::string> items;
  for (std::size_t i = 0; i < letters.numbers.size();) {
    std::size_t j = i;
    while (j + 1 < letters.numbers.size() && letters.numbers[j + 1] == letters.numbers[j] + 1) ++j;
    add_range(items, letters.numbers[i], letters.numbers[j], [](std::uint64_t n) { return std::to_string(n); });
    i = j + 1;
  }
  for (const CodePointRange& range : joined_across_surrogates(letters.characters))
    add_range(items, range.first, range.last, character_text);
  items.insert(items.end(), letters.tokens.begin(), letters.tokens.end());
  return items;
}

/// As many items as fit into a label.
std::string joined(const std::vector<std::string>& items) {
  constexpr std::size_t kLongest = 40;
  std::string text;
  std::size_t length = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::size_t more = decode_utf8(items[i]).size() + 2;
    if (i > 0 && length + more > kLongest) return text + fmt::format(", … (+{})", items.size() - i);
    if (i > 0) text += ", ";
    text += items[i];
    length += more;
  }
  return text;
}

}  // namespace

DrawColours component_colours(std::size_t index) {
  static constexpr std::array<DrawColours, 5> kColours{{{"#BBCCEE", "#222255"},
                                                        {"#EEEEBB", "#666633"},
                                                        {"#CCDDAA", "#225522"},
                                                        {"#FFCCCC", "#663333"},
                                                        {"#CCEEFF", "#225555"}}};
  return kColours[index % kColours.size()];
}

std::string dot_quoted(std::string_view text) { return '"' + escape_dot(text) + '"'; }

std::string dot_header(const DrawOptions& options) {
  std::string text = "digraph automaton {\n";
  if (!options.description.empty()) text += fmt::format("  comment={};\n", dot_quoted(options.description));
  text += fmt::format(
      "  graph [rankdir={}, bgcolor=white, pad=0.2, nodesep=0.35, ranksep=0.5, charset=\"UTF-8\", "
      "fontname=\"Helvetica,Arial,sans-serif\", fontsize=16",
      options.left_to_right ? "LR" : "TB");
  if (options.engine != "dot") text += ", overlap=prism, splines=true, esep=\"+4\"";
  if (!options.title.empty()) text += fmt::format(", labelloc=t, label={}", dot_quoted(options.title));
  text += "];\n";
  text += "  node [fontname=\"Helvetica,Arial,sans-serif\", fontsize=14, penwidth=1.3, style=filled];\n";
  text +=
      "  edge [fontname=\"Helvetica,Arial,sans-serif\", fontsize=12, color=\"#444444\", fontcolor=\"#222222\", "
      "arrowsize=0.7];\n";
  return text;
}

std::string letters_label(const Alphabet& alphabet, std::span<const Letter> letters) {
  constexpr std::size_t kShort = 12;
  const std::string label = joined(items_of(sorted(alphabet, letters)));
  const std::size_t length = decode_utf8(label).size();
  if (letters.size() == alphabet.size()) return alphabet.size() > 3 || length > kShort ? "any" : label;
  if (alphabet.size() > letters.size() + 3 || length <= kShort) return label;
  std::vector<Letter> others;
  for (Letter letter = 0; letter < alphabet.size(); ++letter)
    if (std::find(letters.begin(), letters.end(), letter) == letters.end()) others.push_back(letter);
  const std::string negated = "not " + joined(items_of(sorted(alphabet, others)));
  return decode_utf8(negated).size() < length ? negated : label;
}

std::string html(std::string_view text) {
  std::string result;
  for (const char c : text) switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\n':
        result += "<BR/>";
        break;
      default:
        result += c;
    }
  return result;
}

std::string group_html(const std::string& name) {
  std::string text;
  for (std::size_t i = 0; i < name.size();) {
    std::size_t end = i + 1;
    if (name[i] == '_' || name[i] == '^')
      while (end < name.size() && std::isdigit(static_cast<unsigned char>(name[end])) != 0) ++end;
    const char* const tag = name[i] == '_' ? "SUB" : "SUP";
    text += end > i + 1 ? fmt::format("<{0}>{1}</{0}>", tag, name.substr(i + 1, end - i - 1)) : html(name.substr(i, 1));
    i = end;
  }
  return text;
}

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
  for (State state = 0; state < dfa.states(); ++state)
    if (const std::string label = state_label(dfa, state);
        decode_utf8(label).size() > 4 || label.find('\n') != std::string::npos)
      return false;
  return true;
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
  if (dfa.has_start()) text += start_arrow(std::to_string(dfa.initial()));
  for (const auto& [ends, letters] : drawing.arrows)
    text += fmt::format("  {} -> {} [label={}];\n", ends.first, ends.second,
                        dot_quoted(" " + letters_label(dfa.alphabet(), letters) + " "));
  return text + "}\n";
}

namespace {

constexpr State kFewestInGroup = 3;
constexpr std::size_t kMaxGenerators = 5;

/// Nothing unless it is one that is better seen as the graph of its group.
std::optional<GraphLayout> group_layout(const Drawing& drawing) {
  const Dfa& dfa = drawing.dfa;
  const bool is_asked = drawing.options.view == DrawnView::kCayley;
  if (!is_asked && (drawing.options.engine != "dot" || !has_layout_engine(engine_for(DrawnView::kCayley, "dot"))))
    return std::nullopt;
  if (!is_transitive_permutation_automaton(dfa)) return std::nullopt;
  if (!is_asked &&
      (dfa.states() < kFewestInGroup || generator_lines(dfa).size() > kMaxGenerators || !translations(dfa)))
    return std::nullopt;
  return cayley_layout(dfa);
}

DrawnView suitable_view(const Drawing& drawing, const std::optional<GraphLayout>& layout) {
  constexpr std::size_t kDenseStates = 8, kDenseArrows = 6, kTableSize = 64, kMatrixStates = 1'000,
                        kMatrixArrows = 6'000;
  const Dfa& dfa = drawing.dfa;
  const DrawOptions& options = drawing.options;
  if (options.view) return *options.view;
  if (layout) return DrawnView::kCayley;
  const std::size_t arrows = drawing.arrows.size();
  const auto states = static_cast<std::size_t>(std::count(drawing.hidden.begin(), drawing.hidden.end(), false));
  const bool is_dense = states >= kDenseStates && arrows > kDenseArrows * states;
  if (is_dense && states <= kTableSize && dfa.letters() <= kTableSize) return DrawnView::kTable;
  if (states <= options.max_states && arrows <= 3 * options.max_states) return DrawnView::kStates;
  const bool can_be_placed = has_layout_engine(engine_for(DrawnView::kMatrix, options.engine));
  return states <= kMatrixStates && arrows <= kMatrixArrows && can_be_placed ? DrawnView::kMatrix
                                                                             : DrawnView::kComponents;
}

/// For who cannot see the picture.
std::string described(const Dfa& dfa, DrawnView view) {
  const char* kind = "State diagram";
  if (view == DrawnView::kTable) kind = "Transition table";
  if (view == DrawnView::kComponents) kind = "Strongly connected components";
  // The graph of the group itself, or of its action on cosets.
  if (view == DrawnView::kCayley) kind = translations(dfa) ? "Cayley graph" : "Schreier graph";
  if (view == DrawnView::kMatrix) kind = "Transition matrix";
  State accepting = 0;
  for (State state = 0; dfa.is_acceptor() && state < dfa.states(); ++state) accepting += dfa.accepts(state) ? 1 : 0;
  return fmt::format("{}: {} {}{}, {} {}; it begins in {}.", kind, dfa.states(), dfa.states() == 1 ? "state" : "states",
                     dfa.is_acceptor() ? fmt::format(", {} accepting", accepting) : "", dfa.letters(),
                     dfa.letters() == 1 ? "letter" : "letters", dfa.state_name(dfa.initial()));
}

}  // namespace

std::string engine_for(DrawnView view, const std::string& asked) {
  return view == DrawnView::kCayley || view == DrawnView::kMatrix ? "nop" : asked;
}

std::string to_drawn_dot(const Dfa& dfa, const DrawOptions& asked, DrawnView* view) {
  DrawOptions options = asked;
  const Drawing drawing = prepare(dfa, options);
  const std::optional<GraphLayout> layout = group_layout(drawing);
  const DrawnView suitable = suitable_view(drawing, layout);
  if (view != nullptr) *view = suitable;
  options.description = described(dfa, suitable);
  switch (suitable) {
    case DrawnView::kTable:
      return table_view(drawing);
    case DrawnView::kComponents:
      return condensed_view(drawing, std::max<std::size_t>(1, options.max_states / 4));
    case DrawnView::kMatrix:
      return matrix_view(drawing);
    case DrawnView::kCayley:
      if (!layout)
        throw InputError(
            fmt::format("this is not the graph of a group of 3 to 400 elements: every letter has to permute the {}, "
                        "and the initial "
                        "one to lead to all of them",
                        counted(dfa.states(), "state")));
      return cayley_view(drawing, *layout);
    default:
      return states_view(drawing);
  }
}

}  // namespace krohn
