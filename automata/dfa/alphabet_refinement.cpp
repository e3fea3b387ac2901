// The common refinement of two alphabets: one sweep over the ends of all their ranges.
#include <algorithm>
#include <map>
#include <utility>

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/automata/dfa/valuations.h"

namespace krohn {

namespace {

constexpr Letter kAbsent = UINT32_MAX;

/// A merged letter by its parents, `kAbsent` where one has none. Sorting these pairs gives the order of the result.
using Parents = std::pair<Letter, Letter>;

struct Event {
  char32_t at;
  bool of_a;
  Letter letter;  ///< what begins here; kAbsent: a gap begins
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

}  // namespace krohn
