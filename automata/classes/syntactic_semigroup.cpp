#include "krohn/automata/classes/syntactic_semigroup.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/automata/classes/state_pairs.h"
#include "krohn/automata/dfa/shown_word.h"
#include "krohn/automata/monoid/algebra.h"
#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"
#include "krohn/groups/time_limit.h"
#include "krohn/groups/transformations/components.h"

namespace krohn {
namespace {

/// All rows of products are kept up to here: 64 MB.
constexpr std::uint64_t kMaxTabled = 4000;

TransformationMonoid enumerated(const Dfa& dfa, std::uint64_t max_elements) {
  TransformationMonoid::Options options;
  options.max_elements = max_elements;
  options.progress = [](std::uint64_t) { TimeLimit::check(); };
  TransformationMonoid monoid = TransformationMonoid::enumerate(letter_maps(dfa), dfa.states(), options);
  if (!monoid.complete())
    throw LimitError(
        fmt::format("the syntactic monoid has more than {} (--max-elements)", counted(max_elements, "element")));
  return monoid;
}

}  // namespace

SyntacticSemigroup::SyntacticSemigroup(const Dfa& dfa, std::uint64_t max_elements)
    : dfa_(dfa), monoid_(enumerated(dfa, max_elements)), prefix_(size(), 0), last_(size(), 0), rows_(size()) {
  const Letter letters = dfa.letters();
  std::vector<bool> reached(size(), false);
  reached[0] = true;
  // Elements come in the order of their words, so a prefix comes before what it is a prefix of.
  for (Element e = 0; e < size(); ++e)
    for (Letter letter = 0; letter < letters; ++letter) {
      const Element to = right(e, letter);
      if (to == 0 && identity_.empty()) {
        identity_ = monoid_.word(e);
        identity_.push_back(letter);
      }
      if (reached[to]) continue;
      reached[to] = true;
      prefix_[to] = e;
      last_[to] = letter;
    }
  std::vector<Element> graph(std::size_t{size()} * 2 * letters);
  for (Letter letter = 0; letter < letters; ++letter) {
    TimeLimit::check();
    std::vector<Element> left(size());
    left[0] = right(0, letter);
    for (Element e = 1; e < size(); ++e) left[e] = right(left[prefix_[e]], last_[e]);
    for (Element e = 0; e < size(); ++e) {
      graph[(std::size_t{e} * 2) * letters + letter] = right(e, letter);
      graph[(std::size_t{e} * 2 + 1) * letters + letter] = left[e];
    }
  }
  const auto component = strong_components(size(), 2 * letters, graph);
  std::vector<bool> seen(size(), false);
  for (Element e = identity_.empty() ? 1 : 0; e < size(); ++e) {
    if (seen[component[e]] || product(e, e) != e) continue;
    seen[component[e]] = true;
    idempotents_.push_back(e);
  }
}

const std::vector<SyntacticSemigroup::Element>& SyntacticSemigroup::row(Element e) const {
  std::vector<Element>& row = rows_[e];
  if (!row.empty()) return row;
  TimeLimit::check();
  row.resize(size());
  row[0] = e;
  for (Element s = 1; s < size(); ++s) row[s] = right(row[prefix_[s]], last_[s]);
  return row;
}

SyntacticSemigroup::Element SyntacticSemigroup::product(Element e, Element f) const {
  return size() <= kMaxTabled ? row(e)[f] : monoid_.product(e, f);
}

std::vector<SyntacticSemigroup::Element> SyntacticSemigroup::between(Element e, Element f) const {
  std::vector<Element> from_e(size());
  from_e[0] = e;
  for (Element s = 1; s < size(); ++s) from_e[s] = right(from_e[prefix_[s]], last_[s]);
  const auto distinct = [](std::vector<Element>& elements) {
    std::sort(elements.begin(), elements.end());
    elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
  };
  distinct(from_e);
  const Word word = monoid_.word(f);
  for (Element& element : from_e)
    for (const Letter letter : word) element = right(element, letter);
  distinct(from_e);
  return from_e;
}

SyntacticSemigroup::Element SyntacticSemigroup::idempotent_power(Element e) const {
  Element power = e;
  while (product(power, power) != power) power = product(power, e);
  return power;
}

bool SyntacticSemigroup::is_aperiodic() const {
  for (Element e = 0; e < size(); ++e) {
    TimeLimit::check();
    const Element idempotent = idempotent_power(e);
    if (product(idempotent, e) != idempotent) return false;
  }
  return true;
}

const std::vector<SyntacticSemigroup::Element>& SyntacticSemigroup::of_length(std::size_t length) const {
  if (lengths_.empty()) lengths_.push_back({0});
  while (lengths_.size() <= length) {
    TimeLimit::check();
    std::vector<Element> next;
    for (const Element e : lengths_.back())
      for (Letter letter = 0; letter < dfa_.letters(); ++letter) next.push_back(right(e, letter));
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    lengths_.push_back(std::move(next));
  }
  return lengths_[length];
}

Word SyntacticSemigroup::word(Element e) const { return e == 0 ? identity_ : monoid_.word(e); }

std::string SyntacticSemigroup::quoted(Element e) const { return quoted_letters(dfa_.alphabet(), word(e)); }

}  // namespace krohn
