#include "krohn/automata/monoid/stamp.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/monoid/algebra.h"
#include "krohn/automata/monoid/witness_check.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"

namespace krohn {
namespace {

constexpr std::size_t kMaxPowers = 4096;
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

/// η(Σ^(i+1)) from η(Σ^i).
std::vector<bool> longer(const TransformationMonoid& monoid, const std::vector<bool>& power) {
  std::vector<bool> next(monoid.size(), false);
  for (TransformationMonoid::Element e = 0; e < monoid.size(); ++e)
    if (power[e])
      for (std::uint32_t g = 0; g < monoid.generators(); ++g) next[monoid.right(e, g)] = true;
  return next;
}

}  // namespace

SyntacticSemigroup::SyntacticSemigroup(const Dfa& dfa, std::uint64_t max_elements)
    : dfa_(dfa), monoid_(enumerated(dfa, max_elements)), rows_(size()) {
  const Letter letters = dfa.letters();
  for (Element e = 0; e < size() && identity_.empty(); ++e)
    for (Letter letter = 0; letter < letters && identity_.empty(); ++letter)
      if (right(e, letter) == 0) {
        identity_ = monoid_.word(e);
        identity_.push_back(letter);
      }
  std::vector<Element> graph(std::size_t{size()} * 2 * letters);
  for (Letter letter = 0; letter < letters; ++letter) {
    TimeLimit::check();
    std::vector<Element> left(size());
    left[0] = right(0, letter);
    for (Element e = 1; e < size(); ++e) left[e] = right(left[monoid_.prefix(e)], monoid_.last(e));
    for (Element e = 0; e < size(); ++e) {
      graph[(std::size_t{e} * 2) * letters + letter] = right(e, letter);
      graph[(std::size_t{e} * 2 + 1) * letters + letter] = left[e];
    }
  }
  const auto component = strong_components(size(), 2 * letters, graph);
  std::vector<bool> seen(size(), false);
  for (Element e = first(); e < size(); ++e) {
    if (seen[component[e]] || !is_idempotent(e)) continue;
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
  for (Element s = 1; s < size(); ++s) row[s] = right(row[monoid_.prefix(s)], monoid_.last(s));
  return row;
}

SyntacticSemigroup::Element SyntacticSemigroup::product(Element e, Element f) const {
  return size() <= kMaxTabled ? row(e)[f] : monoid_.product(e, f);
}

std::vector<SyntacticSemigroup::Element> SyntacticSemigroup::between(Element e, Element f) const {
  std::vector<Element> from_e(size());
  from_e[0] = e;
  for (Element s = 1; s < size(); ++s) from_e[s] = right(from_e[monoid_.prefix(s)], monoid_.last(s));
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

std::vector<State> SyntacticSemigroup::run(std::initializer_list<Element> elements) const {
  Word all;
  for (const Element e : elements) {
    const Word next = word(e);
    all.insert(all.end(), next.begin(), next.end());
  }
  return images_of_word(dfa_, all);
}

bool acts_with_cycle(const Transformation& map) {
  Transformation power = map;  // map^(2^k); past n letters only cycles are left
  for (Point length = 1; length < map.degree(); length *= 2) power = power * power;
  return power * map != power;
}

Stamp::Stamp(const TransformationMonoid& monoid) {
  for (TransformationMonoid::Element e = 0; e < monoid.size(); ++e)
    cyclic_.push_back(acts_with_cycle(monoid.element(e)));
  std::vector<bool> current(monoid.size(), false);
  current[0] = true;  // η(Σ⁰)
  std::map<std::vector<bool>, std::size_t> seen;
  while (powers_.size() < kMaxPowers) {
    current = longer(monoid, current);
    const auto [entry, fresh] = seen.try_emplace(current, powers_.size());
    if (fresh) {
      powers_.push_back(current);
      continue;
    }
    // Powers 1 + start, 1 + start + period, … are equal: s is the least multiple of the period that is not before them.
    start_ = entry->second;
    const std::size_t period = powers_.size() - start_;
    for (index_ = period; index_ < start_ + 1;) index_ += period;
    return;
  }
}

std::optional<TransformationMonoid::Element> Stamp::stable_cycle() const {
  const std::size_t period = powers_.size() - start_;
  const std::vector<bool>& stable = powers_[start_ + (index_ - 1 - start_) % period];
  for (std::size_t e = 0; e < stable.size(); ++e)
    if (stable[e] && cyclic_[e]) return static_cast<TransformationMonoid::Element>(e);
  return std::nullopt;
}

/// An element x of η(Σ^kt) with a cycle has powers with that cycle in η(Σ^mt) for arbitrarily large m, so that only the
/// powers that recur matter, and of those only the residues modulo t, which divides their period.
bool Stamp::has_cycle_at_multiples(std::uint64_t t) const {
  for (std::size_t i = start_; i < powers_.size(); ++i) {
    if ((i + 1) % t != 0) continue;
    for (std::size_t e = 0; e < cyclic_.size(); ++e)
      if (powers_[i][e] && cyclic_[e]) return true;
  }
  return false;
}

std::uint64_t Stamp::position_period() const {
  if (index_ == 0) return 0;
  const std::uint64_t period = powers_.size() - start_;
  for (std::uint64_t t = 1; t <= period; ++t)
    if (period % t == 0 && !has_cycle_at_multiples(t)) return t;
  return 0;
}

}  // namespace krohn
