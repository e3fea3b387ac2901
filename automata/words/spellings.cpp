#include "krohn/automata/words/spellings.h"

#include <array>
#include <set>

namespace krohn {
namespace {

constexpr CodePointRange kPrintable{0x20, 0x7E};

/// Ranges of the class, the printable ones of ASCII first.
std::vector<CodePointRange> in_order(const CharacterSet& characters) {
  const std::array printable{kPrintable};
  std::vector<CodePointRange> ranges = intersection(characters, printable);
  const CharacterSet others = intersection(characters, complement(printable));
  ranges.insert(ranges.end(), others.begin(), others.end());
  return ranges;
}

char32_t character_at(const std::vector<CodePointRange>& ranges, std::uint64_t place) {
  for (const CodePointRange& range : ranges) {
    const std::uint64_t size = range.last - range.first + 1;
    if (place < size) return range.first + static_cast<char32_t>(place);
    place -= size;
  }
  return 0;
}

/// The text in which every class is the character at its place.
std::string spelled(const Alphabet& alphabet, const Word& word, const std::vector<std::uint64_t>& places) {
  std::vector<std::vector<CodePointRange>> ranges(alphabet.size());
  std::set<char32_t> single;
  std::vector<std::optional<char32_t>> chosen(word.size());
  for (std::size_t i = 0; i < word.size(); ++i) {
    const Symbol& symbol = alphabet[word[i]];
    if (spellings(symbol) == 1) continue;
    if (ranges[word[i]].empty()) ranges[word[i]] = in_order(symbol.characters);
    chosen[i] = character_at(ranges[word[i]], places[i]);
    single.insert(*chosen[i]);
  }
  if (single.empty()) return alphabet.format_word(word);
  std::vector<Symbol> own;
  for (const char32_t character : single) own.push_back(character_symbol(character));
  // Where the chosen characters are letters of their own, the word has but one text.
  const AlphabetRefinement split = refine(alphabet, Alphabet::from_symbols(std::move(own)));
  std::vector<Letter> same(alphabet.size());
  for (Letter letter = 0; letter < split.merged.size(); ++letter)
    if (split.in_a[letter]) same[*split.in_a[letter]] = letter;
  Word letters;
  for (std::size_t i = 0; i < word.size(); ++i)
    letters.push_back(chosen[i] ? *split.merged.find(*chosen[i]) : same[word[i]]);
  return split.merged.format_word(letters);
}

/// Uniform below `bound`, by rejection.
std::uint64_t uniform_below(std::uint64_t bound, std::mt19937_64& random) {
  const std::uint64_t rest = (UINT64_MAX % bound + 1) % bound;  // how many of the 2^64 values are too many
  while (true)
    if (const std::uint64_t value = random(); value <= UINT64_MAX - rest) return value % bound;
}

}  // namespace

std::uint64_t spellings(const Symbol& symbol) { return symbol.characters.empty() ? 1 : cardinality(symbol.characters); }

std::vector<std::uint64_t> spellings(const Alphabet& alphabet) {
  std::vector<std::uint64_t> counts;
  for (const Symbol& symbol : alphabet.symbols()) counts.push_back(spellings(symbol));
  return counts;
}

Spellings::Spellings(Alphabet alphabet, Word word)
    : alphabet_(std::move(alphabet)), word_(std::move(word)), place_(word_.size()) {}

std::optional<std::string> Spellings::next() {
  if (at_end_) return std::nullopt;
  std::string text = spelled(alphabet_, word_, place_);
  std::size_t i = word_.size();
  while (i > 0 && ++place_[i - 1] == spellings(alphabet_[word_[i - 1]])) place_[--i] = 0;
  at_end_ = i == 0;
  return text;
}

std::string random_spelling(const Alphabet& alphabet, const Word& word, std::mt19937_64& random) {
  std::vector<std::uint64_t> places;
  for (const Letter letter : word) {
    const std::uint64_t count = spellings(alphabet[letter]);
    places.push_back(count > 1 ? uniform_below(count, random) : 0);
  }
  return spelled(alphabet, word, places);
}

}  // namespace krohn
