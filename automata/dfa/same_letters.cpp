#include "krohn/automata/dfa/same_letters.h"

namespace krohn {

std::vector<std::optional<Letter>> same_letters(const Alphabet& a, const Alphabet& b) {
  std::vector<std::optional<Letter>> same;
  for (const Symbol& symbol : a.symbols()) {
    const std::optional<Letter> named = b.find(symbol.name);
    same.push_back(named && b[*named] == symbol ? named : std::nullopt);
  }
  return same;
}

}  // namespace krohn
