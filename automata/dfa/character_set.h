// automata/dfa/character_set.h — sets of Unicode scalar values as sorted ranges.
#pragma once

#include <compare>
#include <span>
#include <vector>

namespace krohn {

/// An inclusive range of Unicode code points.
struct CodePointRange {
  char32_t first = 0;
  char32_t last = 0;
  friend auto operator<=>(const CodePointRange&, const CodePointRange&) = default;
};

/// Sorted, disjoint, non-adjacent ranges without surrogates: equal sets are equal vectors.
using CharacterSet = std::vector<CodePointRange>;

/// Every Unicode scalar value: U+0000–U+D7FF and U+E000–U+10FFFF.
CharacterSet all_characters();

/// The normal form of any ranges: sorted, merged, surrogates and what lies past U+10FFFF dropped. O(n log n).
CharacterSet normalised(std::vector<CodePointRange> ranges);

/// Set operations on normal forms, all linear in the number of ranges.
CharacterSet complement(std::span<const CodePointRange> set);
CharacterSet intersection(std::span<const CodePointRange> a, std::span<const CodePointRange> b);

/// The ranges as people count them: U+D7FF and U+E000 are neighbours, for there are no characters between. For
/// printing.
std::vector<CodePointRange> joined_across_surrogates(std::span<const CodePointRange> set);

/// Membership. O(log ranges).
bool contains(std::span<const CodePointRange> set, char32_t character);

/// The number of characters.
std::size_t cardinality(std::span<const CodePointRange> set);

}  // namespace krohn
