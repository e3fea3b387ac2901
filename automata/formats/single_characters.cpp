#include "krohn/automata/formats/single_characters.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"

namespace krohn {
namespace {

constexpr std::uint64_t kMostLetters = 4096, kMostEntries = std::uint64_t{1} << 28;

}  // namespace

Dfa with_single_characters(const Dfa& dfa) {
  const auto symbols = dfa.alphabet().symbols();
  std::uint64_t letters = 0;
  for (const Symbol& symbol : symbols) letters += std::max<std::uint64_t>(1, cardinality(symbol.characters));
  if (letters == symbols.size()) return dfa;
  if (letters > kMostLetters || letters * dfa.states() > kMostEntries)
    throw InputError(
        fmt::format("this format has no classes of characters, and the letters {} stand for {}; --alphabet "
                    "says which of them are meant, or JSON and DOT hold classes",
                    to_string(dfa.alphabet()), counted(letters, "character")));
  std::vector<Symbol> single;
  std::vector<Letter> of;  // per new letter, the old one
  for (Letter letter = 0; letter < symbols.size(); ++letter) {
    if (symbols[letter].characters.empty()) {
      single.push_back(symbols[letter]);
      of.push_back(letter);
    }
    for (const CodePointRange& range : symbols[letter].characters)
      for (char32_t c = range.first; c <= range.last; ++c) {
        single.push_back(character_symbol(c));
        of.push_back(letter);
      }
  }
  std::vector<State> table;
  table.reserve(of.size() * dfa.states());
  for (State state = 0; state < dfa.states(); ++state)
    for (const Letter letter : of) table.push_back(dfa.next(state, letter));
  Alphabet alphabet = Alphabet::from_symbols(std::move(single));
  return Dfa::acceptor(std::move(alphabet), std::move(table), dfa.initial(),
                       std::vector<bool>(dfa.outputs().begin(), dfa.outputs().end()));
}

}  // namespace krohn
