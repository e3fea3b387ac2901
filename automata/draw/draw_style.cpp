#include "krohn/automata/draw/draw_style.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "krohn/automata/dfa/utf8.h"

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
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
  const bool whole = error == std::errc() && end == name.data() + name.size();
  return whole && value < UINT64_MAX - 1 && std::to_string(value) == name ? std::optional(value) : std::nullopt;
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

std::string dot_quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '\n') {
      result += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

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

}  // namespace krohn
