// automata/monoid/stamp.h — the semigroup of an automaton, element by element; and its stamp: not only the monoid, but
// which elements the words of each length give (Chaubard, Pin & Straubing 2006; MATH.md §4).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/groups/transformations/transformation_monoid.h"

namespace krohn {

/// The monoid of an automaton with products, and one idempotent for each regular class of the semigroup η(Σ⁺): element
/// 0 is the identity, which is an element of the semigroup only where some word that is not empty moves no state.
class SyntacticSemigroup {
 public:
  using Element = TransformationMonoid::Element;

  /// Throws LimitError past `max_elements`. O(elements · (letters + word length)).
  SyntacticSemigroup(const Dfa& dfa, std::uint64_t max_elements);

  const TransformationMonoid& monoid() const { return monoid_; }
  Element size() const { return monoid_.size(); }
  Element product(Element e, Element f) const;
  /// e · letter.
  Element right(Element e, Letter letter) const { return monoid_.right(e, letter); }
  /// Distinct e·s·f over all s of the monoid, increasing. O(elements · word length).
  std::vector<Element> between(Element e, Element f) const;
  /// The idempotent among the powers of e.
  Element idempotent_power(Element e) const;
  /// The first element of the semigroup; the others follow up to size().
  Element first() const { return identity_.empty() ? 1 : 0; }
  bool is_idempotent(Element e) const { return monoid_.is_idempotent(e); }
  /// The first idempotent of every D-class of the semigroup that has one.
  const std::vector<Element>& idempotents() const { return idempotents_; }
  /// The elements of the words of exactly `length` letters, increasing.
  const std::vector<Element>& of_length(std::size_t length) const;
  /// e has a power other than itself and its idempotent that comes again: a group of several elements.
  bool is_aperiodic() const;

  /// A word for an element of the semigroup: never the empty one, but for the identity where it is not in there.
  Word word(Element e) const;
  std::string quoted(Element e) const;
  /// Images of all states under the words of the elements, one after the other: by running them, for checks.
  std::vector<State> run(std::initializer_list<Element> elements) const;
  const Dfa& dfa() const { return dfa_; }

 private:
  const std::vector<Element>& row(Element e) const;

  Dfa dfa_;
  TransformationMonoid monoid_;
  Word identity_;  ///< a shortest word, not empty, that moves no state
  std::vector<Element> idempotents_;
  mutable std::vector<std::vector<Element>> rows_;     ///< e ↦ e·s for every s, once asked for
  mutable std::vector<std::vector<Element>> lengths_;  ///< by length
};

/// The sets η(Σ), η(Σ²), … of a monoid enumerated with one generator per letter. They repeat sooner or later.
class Stamp {
 public:
  /// Needs `monoid.complete()`. O(powers until they repeat, at most 4096, · elements · letters).
  explicit Stamp(const TransformationMonoid& monoid);

  /// The least s with η(Σ^s) = η(Σ^2s); 0 when the powers did not repeat in time.
  std::uint64_t stability_index() const { return index_; }

  /// An element of η(Σ^s) that acts with a cycle, if there is one: the stamp is quasi-aperiodic iff there is none.
  /// Needs a stability index.
  std::optional<TransformationMonoid::Element> stable_cycle() const;

  /// The least t such that no word whose length is a multiple of t acts with a cycle: with positions counted modulo t
  /// the rest is aperiodic. 1 exactly for aperiodic monoids; 0 when there is none, or no stability index.
  std::uint64_t position_period() const;

 private:
  bool has_cycle_at_multiples(std::uint64_t t) const;

  std::vector<std::vector<bool>> powers_;  ///< η(Σ^(i+1)), each once
  std::size_t start_ = 0;                  ///< powers_[start_] follows powers_.back()
  std::uint64_t index_ = 0;
  std::vector<bool> cyclic_;  ///< whether an element acts with a cycle
};

/// True if some power of the map moves a point along a cycle of length at least 2. O(n log n).
bool acts_with_cycle(const Transformation& map);

}  // namespace krohn
