// automata/syntax/regex_syntax.h — the syntax tree of a regular expression, in one array without pointers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/dfa/alphabet.h"

namespace krohn {

using RegexNodeId = std::uint32_t;

enum class RegexKind : std::uint8_t {
  kEmptyWord,
  kCharacters,  ///< one character of sets[left]; the empty set is the empty language
  kToken,       ///< the symbol tokens[left]
  kAny,         ///< one letter
  kAssertion,   ///< nothing, where `left`, a RegexContexts, has the place
  kConcatenation,
  kUnion,
  kIntersection,
  kComplement,  ///< of left
  kRepeat,      ///< left, from `least` to `most` times
};

inline constexpr std::uint32_t kUnbounded = UINT32_MAX;

/// A neighbour of a place in a word, as far as anchors tell neighbours apart.
enum class RegexNeighbour : std::uint8_t {
  kEnd,        ///< none: the place is at the start or at the end of the word
  kLineBreak,  ///< the character \n
  kWord,       ///< a character of \w
  kOther,
};
inline constexpr std::uint32_t kNeighbours = 4;

/// A set of places by their two neighbours: bit 4 · before + behind.
using RegexContexts = std::uint16_t;
inline constexpr RegexContexts kEverywhere = 0xFFFF;

constexpr RegexContexts context(RegexNeighbour before, RegexNeighbour behind) {
  return static_cast<RegexContexts>(
      1U << (kNeighbours * static_cast<unsigned>(before) + static_cast<unsigned>(behind)));
}

RegexNeighbour neighbour(const Symbol& symbol);

struct RegexNode {
  RegexKind kind = RegexKind::kEmptyWord;
  RegexNodeId left = 0, right = 0;
  std::uint32_t least = 0, most = 0;
  std::uint64_t unfolded = 1;  ///< nodes once every {m,n} is written out
};

/// A parsed expression. Children stand before their parents, so every pass is a loop: no depth is too deep.
struct RegexTree {
  std::vector<RegexNode> nodes;
  RegexNodeId root = 0;
  std::vector<CharacterSet> sets;    ///< distinct
  std::vector<std::string> tokens;   ///< distinct
  std::vector<bool> is_named;        ///< by set: false where it is there for an anchor only, not for letters
  bool negates_class = false;        ///< [^…], \D, \W, \S or \P occurs
  bool ranges_over_letters = false;  ///< `.` or ~ occurs
};

/// Parses an expression (docs/languages.md). With an alphabet, characters and tokens that are written one by one must be
/// in it. Throws InputError "regex:COLUMN: …", also as soon as a tree or its unfolding passes `max_size`.
/// With `search` the tree is of the words in which the expression matches somewhere.
/// O(n log n), no recursion.
RegexTree parse_regex_syntax(std::string_view expression, const std::optional<Alphabet>& alphabet,
                             std::uint64_t max_size, bool search = false);

/// The letters of an expression, and what its sets mean in them.
struct RegexLetters {
  Alphabet alphabet;
  std::vector<std::vector<Letter>> of_set;  ///< per set of the tree, sorted
  std::vector<Letter> of_token;             ///< per token of the tree
};

/// The coarsest classes of characters that no set of the tree tells apart, within the given alphabet or else within the
/// characters that occur (all of Unicode when a class is negated, or when nothing but `.` and ~ occurs), in the order
/// of their first characters; then tokens by name. Letters of a given alphabet keep their order and are only split. O(Σ
/// ranges · log).
RegexLetters letters_of(const RegexTree& tree, const std::optional<Alphabet>& alphabet);

}  // namespace krohn
