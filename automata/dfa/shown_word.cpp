#include "krohn/automata/dfa/shown_word.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

constexpr std::size_t kPlainLetters = 8, kLongestBase = 24, kLeastTimes = 3, kLeastLetters = 4, kShownBytes = 240;
constexpr std::size_t kAnyBytes = std::numeric_limits<std::size_t>::max();

/// A part of a word and how often it stands there in a row.
struct Power {
  std::span<const Letter> base;
  std::size_t times = 1;
};

/// The power that the word begins with that has the most letters, the shortest base first.
Power first_power(std::span<const Letter> word) {
  Power best{word.first(1), 1};
  for (std::size_t period = 1; period <= std::min(kLongestBase, word.size() / kLeastTimes); ++period) {
    if (best.times > 1 && period % best.base.size() == 0) continue;  // the same letters again
    std::size_t same = period;
    while (same < word.size() && word[same] == word[same - period]) ++same;
    const std::size_t times = same / period;
    if (times >= kLeastTimes && times * period >= kLeastLetters && times * period > best.times * best.base.size())
      best = {word.first(period), times};
  }
  return best;
}

/// Returns true if nothing in the text could be read as a sign of powers.
bool is_plain(const std::string& text) { return text.find_first_of(" ^()\"\\") == std::string::npos; }

std::string in_plain_or_quotes(const std::string& text) { return is_plain(text) ? text : in_escaped_quotes(text); }

/// Letters beside a power, or under its exponent.
std::string part_text(const Alphabet& alphabet, std::span<const Letter> letters, bool has_exponent) {
  std::string text;
  if (alphabet.is_characterwise()) {
    text = in_plain_or_quotes(alphabet.format_word(letters));
    if (text.front() == '"') return text;
  } else {
    for (const Letter letter : letters) {
      const std::string name = alphabet.format_word({&letter, 1});
      text += (text.empty() ? "" : " ") + (name.front() == '"' ? name : in_plain_or_quotes(name));
    }
  }
  return has_exponent && letters.size() > 1 ? fmt::format("({})", text) : text;
}

struct ShownWord {
  std::string text;
  bool has_powers = false, is_cut = false;
};

ShownWord shown(const Alphabet& alphabet, std::span<const Letter> word, std::size_t most_bytes) {
  ShownWord result;
  std::string text;
  std::size_t at = 0, plain = 0;  // letters before `at` are in the text but for the last `plain` of them
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : " ") + part; };
  const auto add_plain = [&] {
    if (plain > 0) add(part_text(alphabet, word.subspan(at - plain, plain), false));
    plain = 0;
  };
  while (at < word.size() && word.size() > kPlainLetters && text.size() + plain < most_bytes) {
    const Power power = first_power(word.subspan(at));
    if (power.times == 1) {
      ++plain;
    } else {
      add_plain();
      add(fmt::format("{}^{}", part_text(alphabet, power.base, true), power.times));
      result.has_powers = true;
    }
    at += power.times * power.base.size();
  }
  add_plain();
  result.has_powers = result.has_powers && 4 * text.size() <= 3 * alphabet.format_word(word.first(at)).size();
  if (result.has_powers) {
    result.is_cut = at < word.size();
    result.text = visible(text) + (result.is_cut ? " …" : "");
    return result;
  }
  const std::span<const Letter> first = word.first(std::min(word.size(), most_bytes));
  result.text = visible(cut_short(alphabet.format_word(first), most_bytes));
  result.is_cut = first.size() < word.size();
  if (result.is_cut && !result.text.ends_with("…")) result.text += "…";
  return result;
}

std::string in_sentence(const ShownWord& word) {
  return word.has_powers ? word.text : fmt::format("\"{}\"", word.text);
}

}  // namespace

std::string in_powers(const Alphabet& alphabet, std::span<const Letter> word) {
  return shown(alphabet, word, kAnyBytes).text;
}

std::string quoted_letters(const Alphabet& alphabet, std::span<const Letter> word) {
  return word.empty() ? "ε" : in_sentence(shown(alphabet, word, kAnyBytes));
}

std::string quoted_word(const Alphabet& alphabet, std::span<const Letter> word) {
  if (word.empty()) return "the empty word";
  return fmt::format("{} ({})", in_sentence(shown(alphabet, word, kShownBytes)), counted(word.size(), "letter"));
}

std::string product_of_words(const Alphabet& alphabet, std::initializer_list<WordFactor> factors) {
  std::string text;
  for (const auto& [word, is_repeated] : factors) {
    if (word.empty()) continue;
    const ShownWord factor = shown(alphabet, word, kAnyBytes);
    const std::string base = in_sentence(factor);
    text += text.empty() ? "" : " ";
    text += !is_repeated ? base : factor.has_powers ? fmt::format("({})ⁿ", base) : base + "ⁿ";
  }
  return text.empty() ? "ε" : text;
}

}  // namespace krohn
