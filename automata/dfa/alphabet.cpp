#include "krohn/automata/dfa/alphabet.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "krohn/automata/dfa/decision_diagrams.h"
#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/base/error.h"

namespace krohn {

CharacterSet all_characters() { return {{0, kFirstSurrogate - 1}, {kLastSurrogate + 1, kLastCodePoint}}; }

CharacterSet normalised(std::vector<CodePointRange> ranges) {
  std::erase_if(ranges, [](const CodePointRange& range) { return range.first > range.last; });
  std::sort(ranges.begin(), ranges.end());
  CharacterSet merged;
  for (const CodePointRange& range : ranges) {
    if (!merged.empty() && range.first <= merged.back().last + 1)
      merged.back().last = std::max(merged.back().last, range.last);
    else
      merged.push_back(range);
  }
  return intersection(merged, all_characters());
}

CharacterSet complement(std::span<const CodePointRange> set) {
  CharacterSet gaps;
  char32_t next = 0;
  for (const CodePointRange& range : set) {
    if (range.first > next) gaps.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kLastCodePoint) gaps.push_back({next, kLastCodePoint});
  return intersection(gaps, all_characters());
}

CharacterSet intersection(std::span<const CodePointRange> a, std::span<const CodePointRange> b) {
  CharacterSet common;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const char32_t first = std::max(a[i].first, b[j].first), last = std::min(a[i].last, b[j].last);
    if (first <= last) common.push_back({first, last});
    if (a[i].last < b[j].last)
      ++i;
    else
      ++j;
  }
  return common;
}

std::vector<CodePointRange> joined_across_surrogates(std::span<const CodePointRange> set) {
  std::vector<CodePointRange> joined;
  for (const CodePointRange& range : set)
    if (range.first == kLastSurrogate + 1 && !joined.empty() && joined.back().last == kFirstSurrogate - 1)
      joined.back().last = range.last;
    else
      joined.push_back(range);
  return joined;
}

bool contains(std::span<const CodePointRange> set, char32_t character) {
  const auto after = std::upper_bound(set.begin(), set.end(), character,
                                      [](char32_t c, const CodePointRange& range) { return c < range.first; });
  return after != set.begin() && character <= std::prev(after)->last;
}

std::size_t cardinality(std::span<const CodePointRange> set) {
  std::size_t count = 0;
  for (const CodePointRange& range : set) count += std::size_t{range.last} - range.first + 1;
  return count;
}

namespace {

constexpr Letter kNoLetter = UINT32_MAX;

struct OwnedRange {
  CodePointRange range;
  Letter letter;
};

}  // namespace

struct Alphabet::Table {
  std::vector<Symbol> symbols;
  std::unordered_map<std::string_view, Letter> by_name;  ///< views into `symbols`
  std::vector<OwnedRange> by_character;                  ///< sorted by first code point
  std::array<Letter, 128> ascii{};                       ///< the same for ASCII, without a search
  bool characterwise = true;
  bool brackets_protect = true;  ///< no name has an unbalanced bracket

  Table() { ascii.fill(kNoLetter); }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  void index_names();
  void index_characters();
  void refuse_ambiguous_names() const;
  std::optional<Letter> find(char32_t character) const;
  std::optional<Letter> find_valuation(const Alphabet& alphabet, std::string_view valuation) const;
  /// True once the table was asked for a valuation.
  bool has_valuations() const { return valuations_.has_value(); }

 private:
  mutable std::once_flag has_valuations_;
  mutable std::optional<ValuationClasses> valuations_;  ///< made when a valuation is first asked for
};

namespace {

char32_t representative(const CharacterSet& characters) {
  for (const CodePointRange& range : characters)
    for (char32_t c = range.first; c <= range.last; ++c)
      if (is_printable(c)) return c;
  return characters.front().first;
}

}  // namespace

void Alphabet::Table::index_names() {
  by_name.reserve(symbols.size());
  for (Letter letter = 0; letter < symbols.size(); ++letter) {
    const std::string& name = symbols[letter].name;
    if (name.empty()) throw InputError(fmt::format("letter {} of the alphabet has an empty name", letter));
    decode_utf8(name);
    if (const auto [known, is_new] = by_name.emplace(name, letter); !is_new)
      throw InputError(symbols[known->second].characters == symbols[letter].characters
                           ? fmt::format("the alphabet has the letter {} twice; remove one", in_quotes(name))
                           : fmt::format("the name {} stands for two letters, of other characters each; rename one",
                                         in_quotes(name)));
    brackets_protect = brackets_protect && has_balanced_brackets(name);
    characterwise = characterwise && !symbols[letter].characters.empty();
  }
}

void Alphabet::Table::index_characters() {
  for (Letter letter = 0; letter < symbols.size(); ++letter)
    for (const CodePointRange& range : symbols[letter].characters) by_character.push_back({range, letter});
  std::sort(by_character.begin(), by_character.end(),
            [](const OwnedRange& a, const OwnedRange& b) { return a.range < b.range; });
  for (std::size_t i = 1; i < by_character.size(); ++i)
    if (by_character[i].range.first <= by_character[i - 1].range.last)
      throw InputError(fmt::format("the letters {} and {} of the alphabet share the character {}",
                                   in_quotes(symbols[by_character[i - 1].letter].name),
                                   in_quotes(symbols[by_character[i].letter].name),
                                   character_symbol(by_character[i].range.first).name));
  for (const OwnedRange& owned : by_character)
    for (char32_t c = owned.range.first; c <= owned.range.last && c < ascii.size(); ++c) ascii[c] = owned.letter;
}

/// Otherwise "a" in a word could mean the token a or a member of the class [a-z].
void Alphabet::Table::refuse_ambiguous_names() const {
  for (Letter letter = 0; letter < symbols.size(); ++letter) {
    const auto character = single_code_point(symbols[letter].name);
    if (!character) continue;
    const auto owner = find(*character);
    if (owner && *owner != letter)
      throw InputError(fmt::format("the letter {} is named like a character of the letter {}; rename one",
                                   in_quotes(symbols[letter].name), in_quotes(symbols[*owner].name)));
  }
}

std::optional<Letter> Alphabet::Table::find(char32_t character) const {
  if (character < ascii.size()) return ascii[character] == kNoLetter ? std::nullopt : std::optional(ascii[character]);
  const auto after = std::upper_bound(by_character.begin(), by_character.end(), character,
                                      [](char32_t c, const OwnedRange& owned) { return c < owned.range.first; });
  if (after == by_character.begin() || character > std::prev(after)->range.last) return std::nullopt;
  return std::prev(after)->letter;
}

std::optional<Letter> Alphabet::Table::find_valuation(const Alphabet& alphabet, std::string_view valuation) const {
  std::call_once(has_valuations_, [&] { valuations_ = ValuationClasses::of(alphabet); });
  return valuations_ ? valuations_->find(valuation) : std::nullopt;
}

Alphabet::Alphabet() {
  static const auto empty = std::make_shared<const Table>();
  table_ = empty;
}

Alphabet Alphabet::from_symbols(std::vector<Symbol> symbols) {
  if (symbols.size() >= kNoLetter) throw LimitError("an alphabet has at most 2^32 − 2 letters");
  auto table = std::make_shared<Table>();
  table->symbols = std::move(symbols);
  for (Symbol& symbol : table->symbols) {
    for (const CodePointRange& range : symbol.characters)
      if (range.first > range.last || range.last > kLastCodePoint)
        throw InputError(fmt::format(
            "the letter {} has the range U+{:04X}–U+{:04X}, which is reversed or ends past "
            "U+10FFFF",
            in_quotes(symbol.name), static_cast<std::uint32_t>(range.first), static_cast<std::uint32_t>(range.last)));
    const bool had_characters = !symbol.characters.empty();
    symbol.characters = normalised(std::move(symbol.characters));
    if (had_characters && symbol.characters.empty())
      throw InputError(
          fmt::format("the letter {} has only surrogates, which are not characters", in_quotes(symbol.name)));
  }
  table->index_names();
  table->index_characters();
  table->refuse_ambiguous_names();
  return Alphabet(std::move(table));
}

Alphabet Alphabet::from_names(std::span<const std::string> names) {
  std::vector<Symbol> symbols;
  symbols.reserve(names.size());
  for (const std::string& name : names) {
    const auto character = named_character(name);
    symbols.push_back(character ? character_symbol(*character) : Symbol{name, {}});
  }
  return from_symbols(std::move(symbols));
}

Alphabet Alphabet::of_characters(std::string_view text) {
  std::vector<Symbol> symbols;
  std::vector<bool> seen(kLastCodePoint + 1, false);
  for (const char32_t character : decode_utf8(text)) {
    if (!seen[character]) symbols.push_back(character_symbol(character));
    seen[character] = true;
  }
  return from_symbols(std::move(symbols));
}

Letter Alphabet::size() const { return static_cast<Letter>(table_->symbols.size()); }

std::span<const Symbol> Alphabet::symbols() const { return table_->symbols; }

std::vector<std::string> Alphabet::names() const {
  std::vector<std::string> names;
  for (const Symbol& symbol : symbols()) names.push_back(symbol.name);
  return names;
}

std::optional<Letter> Alphabet::find(std::string_view name) const {
  if (const auto found = table_->by_name.find(name); found != table_->by_name.end()) return found->second;
  const auto character = single_code_point(name);
  if (character) return find(*character);
  return name.starts_with('{') ? table_->find_valuation(*this, name) : std::nullopt;
}

std::optional<Letter> Alphabet::find(char32_t character) const { return table_->find(character); }

bool Alphabet::is_characterwise() const { return table_->characterwise; }

Word Alphabet::parse_word(std::string_view text) const {
  Word word;
  if (is_characterwise()) {
    const std::u32string characters = decode_utf8(text);
    word.reserve(characters.size());
    for (std::size_t i = 0; i < characters.size(); ++i) {
      const auto letter = find(characters[i]);
      if (!letter)
        throw InputError(fmt::format("character {} of the word, {}, is not in the alphabet {}{}", i + 1,
                                     in_quotes(character_symbol(characters[i]).name), to_string(*this),
                                     is_white_space(characters[i]) ? "; white space is not skipped" : ""));
      word.push_back(*letter);
    }
    return word;
  }
  for (const ListedName& item : split_names(text, table_->brackets_protect)) {
    const auto letter = find(item.name);
    if (!letter)
      throw InputError(fmt::format("symbol {} of the word, {} at byte {}, is not in the alphabet {}{}", word.size() + 1,
                                   in_quotes(item.name), item.offset, to_string(*this),
                                   item.name.starts_with('{') && table_->has_valuations()
                                       ? "; leave out the propositions on which no answer depends"
                                       : "; blanks stand between letters of such names"));
    word.push_back(*letter);
  }
  return word;
}

std::string Alphabet::format_word(std::span<const Letter> word) const {
  std::string text;
  for (const Letter letter : word) {
    if (letter >= size()) throw InputError(fmt::format("letter {} of an alphabet of {}", letter, size()));
    const Symbol& symbol = (*this)[letter];
    if (is_characterwise()) {
      append_utf8(text, representative(symbol.characters));
      continue;
    }
    if (!text.empty()) text += ' ';
    text += protected_name(symbol.characters.empty() ? symbol.name : to_utf8(representative(symbol.characters)),
                           table_->brackets_protect);
  }
  return text;
}

bool operator==(const Alphabet& a, const Alphabet& b) {
  return a.table_ == b.table_ || a.table_->symbols == b.table_->symbols;
}

std::string to_string(const Alphabet& alphabet) {
  constexpr std::size_t kShown = 60;
  std::string text = "{";
  for (Letter letter = 0; letter < alphabet.size(); ++letter) {
    if (letter > 0) text += ", ";
    if (text.size() > kShown) return text + fmt::format("…}} ({})", counted(alphabet.size(), "letter"));
    text += visible(cut_short(alphabet.name(letter), kShown));
  }
  return text + "}";
}
namespace {

/// Reads the characters of an option such as "a-z0-9", one or a range at a time.
class CharacterListReader {
 public:
  explicit CharacterListReader(std::string_view text) : text_(decode_utf8(text)) {}

  std::vector<Symbol> read() {
    std::vector<Symbol> symbols;
    while (next_ < text_.size()) {
      const std::size_t start = next_;
      const char32_t first = read_character();
      char32_t last = first;
      if (next_ + 1 < text_.size() && text_[next_] == U'-') {
        ++next_;
        last = read_character();
      }
      if (last < first)
        throw InputError(fmt::format("the range at character {} of the alphabet is reversed", start + 1));
      for (char32_t c = first; c <= last; ++c)
        if (c < kFirstSurrogate || c > kLastSurrogate) symbols.push_back(character_symbol(c));
    }
    return symbols;
  }

 private:
  char32_t read_character() {
    const char32_t character = text_[next_++];
    if (character != U'\\') return character;
    if (next_ == text_.size()) throw InputError("the alphabet ends in a backslash; write \\\\ for the character");
    const char32_t kind = text_[next_++];
    if (kind == U'n') return U'\n';
    if (kind == U't') return U'\t';
    if (kind == U'r') return U'\r';
    return kind == U'x' ? read_hexadecimal() : kind;
  }

  char32_t read_hexadecimal() {
    const std::size_t start = next_ - 2;
    const bool braces = next_ < text_.size() && text_[next_] == U'{';
    if (braces) ++next_;
    const std::size_t digits = next_, longest = braces ? 6 : 2;
    char32_t value = 0;
    while (next_ < text_.size() && next_ - digits < longest && text_[next_] < 0x80 &&
           std::isxdigit(static_cast<int>(text_[next_])) != 0)
      value = value * 16 + hexadecimal_value(text_[next_++]);
    const bool closed = !braces || (next_ < text_.size() && text_[next_] == U'}');
    const bool complete = braces ? next_ > digits : next_ == digits + 2;
    if (!complete || !closed || !contains(all_characters(), value))
      throw InputError(
          fmt::format("the escape at character {} of the alphabet is not \\xHH or \\x{{H…}} of a "
                      "character",
                      start + 1));
    if (braces) ++next_;
    return value;
  }

  static char32_t hexadecimal_value(char32_t digit) {
    return digit <= U'9' ? digit - U'0' : (digit | 0x20) - U'a' + 10;
  }

  std::u32string text_;
  std::size_t next_ = 0;
};

Alphabet alphabet_of_bytes() {
  std::vector<Symbol> symbols;
  for (char32_t byte = 0; byte < 256; ++byte) symbols.push_back(character_symbol(byte));
  return Alphabet::from_symbols(std::move(symbols));
}

Alphabet alphabet_of_names(std::string_view text) {
  std::vector<std::string> names;
  for (ListedName& listed : split_names(text, has_balanced_brackets(text))) names.push_back(std::move(listed.name));
  return Alphabet::from_names(names);
}

}  // namespace

Alphabet parse_alphabet(std::string_view text) {
  if (text == "bytes") return alphabet_of_bytes();
  if (text == "unicode") return Alphabet::from_symbols({{class_name(all_characters()), all_characters()}});
  const bool has_white_space =
      std::any_of(text.begin(), text.end(), [](char c) { return is_white_space(static_cast<unsigned char>(c)); });
  const Alphabet alphabet =
      has_white_space ? alphabet_of_names(text) : Alphabet::from_symbols(CharacterListReader(text).read());
  if (alphabet.size() == 0)
    throw InputError("the alphabet is empty; give its letters, as \"ab\", \"a-z0-9\", \"bytes\" or \"SYN ACK\"");
  return alphabet;
}

// The common refinement of two alphabets: one sweep over the ends of all their ranges.

namespace {

constexpr Letter kAbsent = UINT32_MAX;

/// A merged letter by its parents, `kAbsent` where one has none. Sorting these pairs gives the order of the result.
using Parents = std::pair<Letter, Letter>;

struct Event {
  char32_t at;
  bool of_a;
  Letter letter;  ///< the letter whose range begins here; kAbsent: a gap begins
};

void add_events(std::vector<Event>& events, const Alphabet& alphabet, bool of_a) {
  std::vector<std::pair<CodePointRange, Letter>> ranges;
  for (Letter letter = 0; letter < alphabet.size(); ++letter)
    for (const CodePointRange& range : alphabet[letter].characters) ranges.emplace_back(range, letter);
  std::sort(ranges.begin(), ranges.end());
  char32_t next = 0;
  for (const auto& [range, letter] : ranges) {
    if (range.first > next) events.push_back({next, of_a, kAbsent});
    events.push_back({range.first, of_a, letter});
    next = range.last + 1;
  }
  events.push_back({next, of_a, kAbsent});
}

/// The pieces into which the classes cut one another.
std::map<Parents, CharacterSet> pieces(const Alphabet& a, const Alphabet& b) {
  std::vector<Event> events;
  add_events(events, a, true);
  add_events(events, b, false);
  std::stable_sort(events.begin(), events.end(), [](const Event& x, const Event& y) { return x.at < y.at; });
  std::map<Parents, CharacterSet> pieces;
  Parents current{kAbsent, kAbsent};
  for (std::size_t i = 0; i < events.size(); ++i) {
    (events[i].of_a ? current.first : current.second) = events[i].letter;
    const bool more_here = i + 1 < events.size() && events[i + 1].at == events[i].at;
    if (more_here || i + 1 == events.size() || current == Parents{kAbsent, kAbsent}) continue;
    pieces[current].push_back({events[i].at, events[i + 1].at - 1});
  }
  return pieces;
}

void add_tokens(std::map<Parents, CharacterSet>& pieces, const Alphabet& a, const Alphabet& b) {
  const auto partner = [](const Alphabet& other, const std::string& name) {
    const auto found = other.find(name);
    return found && other[*found].name == name && other[*found].characters.empty() ? *found : kAbsent;
  };
  for (Letter letter = 0; letter < a.size(); ++letter)
    if (a[letter].characters.empty()) pieces[{letter, partner(b, a.name(letter))}];
  for (Letter letter = 0; letter < b.size(); ++letter)
    if (b[letter].characters.empty() && partner(a, b.name(letter)) == kAbsent) pieces[{kAbsent, letter}];
}

/// A letter that was not split keeps its name, that of `a` first.
std::string merged_name(const Alphabet& a, const Alphabet& b, Parents parents, const CharacterSet& characters) {
  const auto [in_a, in_b] = parents;
  if (in_a != kAbsent && a[in_a].characters == characters) return a.name(in_a);
  if (in_b != kAbsent && b[in_b].characters == characters) return b.name(in_b);
  return class_name(characters);
}

std::optional<Letter> present(Letter letter) { return letter == kAbsent ? std::nullopt : std::optional(letter); }

}  // namespace

AlphabetRefinement refine(const Alphabet& a, const Alphabet& b) {
  if (!(a == b)) {
    auto first = ValuationClasses::of(a), second = ValuationClasses::of(b);
    if (first && !second) second = ValuationClasses::of(b, &*first);
    if (second && !first) first = ValuationClasses::of(a, &*second);
    if (first && second) return refine(*first, a.size(), *second, b.size());
  }
  std::map<Parents, CharacterSet> merged = pieces(a, b);
  add_tokens(merged, a, b);
  AlphabetRefinement result;
  std::vector<Symbol> symbols;
  for (auto& [parents, ranges] : merged) {
    const CharacterSet characters = normalised(ranges);
    symbols.push_back({merged_name(a, b, parents, characters), characters});
    result.in_a.push_back(present(parents.first));
    result.in_b.push_back(present(parents.second));
  }
  result.merged = a == b ? a : Alphabet::from_symbols(std::move(symbols));
  return result;
}

std::vector<std::optional<Letter>> same_letters(const Alphabet& a, const Alphabet& b) {
  std::vector<std::optional<Letter>> same;
  for (const Symbol& symbol : a.symbols()) {
    const std::optional<Letter> named = b.find(symbol.name);
    same.push_back(named && b[*named] == symbol ? named : std::nullopt);
  }
  return same;
}

}  // namespace krohn
