#include "krohn/automata/dfa/character_set.h"

#include <algorithm>

#include "krohn/automata/dfa/utf8.h"

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

}  // namespace krohn
