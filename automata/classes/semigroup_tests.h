// automata/classes/semigroup_tests.h — what no algorithm on the automaton is known or fast for: thresholds, dot-depth
// one, and the order of local testability.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/groups/transformations/transformation_monoid.h"

namespace krohn {

// The maps of the words that are not empty, element by element, with products
// and one idempotent for each regular class.

/// The monoid of the minimal automaton with what asks for identities: element 0 is the identity, which is an element of
/// the semigroup only where some word that is not empty moves no state.
class SyntacticSemigroup {
 public:
  using Element = TransformationMonoid::Element;

  /// Throws LimitError past `max_elements`. O(elements · (letters + word length)).
  SyntacticSemigroup(const Dfa& dfa, std::uint64_t max_elements);

  Element size() const { return monoid_.size(); }
  Element product(Element e, Element f) const;
  /// e · letter.
  Element right(Element e, Letter letter) const { return monoid_.right(e, letter); }
  /// Distinct e·s·f over all s of the monoid, increasing. O(elements · word length).
  std::vector<Element> between(Element e, Element f) const;
  /// The idempotent among the powers of e.
  Element idempotent_power(Element e) const;
  /// One idempotent of every D-class of the semigroup that has one.
  const std::vector<Element>& idempotents() const { return idempotents_; }
  /// The elements of the words of exactly `length` letters, increasing.
  const std::vector<Element>& of_length(std::size_t length) const;
  /// e has a power other than itself and its idempotent that comes again: a group of several elements.
  bool is_aperiodic() const;

  /// A word for an element of the semigroup: never the empty one, but for the identity where it is not in there.
  Word word(Element e) const;
  std::string quoted(Element e) const;
  const Dfa& dfa() const { return dfa_; }

 private:
  const std::vector<Element>& row(Element e) const;

  Dfa dfa_;
  TransformationMonoid monoid_;
  Word identity_;                ///< a word, not empty, that moves no state
  std::vector<Element> prefix_;  ///< by element: a shorter word, of which …
  std::vector<Letter> last_;     ///< … this letter makes it
  std::vector<Element> idempotents_;
  mutable std::vector<std::vector<Element>> rows_;     ///< e ↦ e·s for every s, once asked for
  mutable std::vector<std::vector<Element>> lengths_;  ///< by length
};

/// Why an aperiodic language is not locally threshold testable: idempotents e and f and a, b, c with
/// e·a·f·b·e·c·f ≠ e·c·f·b·e·a·f (Thérien & Weiss 1985; Beauquier & Pin 1989), checked by running the words; nothing
/// when it is.
std::optional<std::string> threshold_violation(const SyntacticSemigroup& semigroup);

/// Why the language is not of dot-depth one: idempotents e and f and a, b, c, d against Knast's identity (1983)
/// (eafbe)^ω eafde (ecfde)^ω = (eafbe)^ω (ecfde)^ω, checked by running the words; nothing when it is.
std::optional<std::string> dot_depth_one_violation(const SyntacticSemigroup& semigroup);

/// Why the local monoids are no semilattices, so that the language is not locally testable (Brzozowski & Simon 1973;
/// McNaughton 1974); nothing when they are. The second way to `local_violation`.
std::optional<std::string> local_semilattice_violation(const SyntacticSemigroup& semigroup);

/// True if the ends of k−1 letters and the set of the factors of k letters decide. By Simon's lemma on graphs whose
/// vertices are the words x of k−1 letters, exactly when loops at every x are idempotent and commute; loops of fewer
/// letters than x, which only periodic x have, are read off their period (docs/MATH.md).
bool is_locally_testable_of_order(const SyntacticSemigroup& semigroup, std::uint64_t k);

/// True if the ends of k−1 letters and the sequences of factors of k letters decide: by Knast's theorem on graphs whose
/// vertices are the words of k−1 letters (docs/MATH.md). Throws LimitError past some millions of products.
bool is_dot_depth_one_of_width(const SyntacticSemigroup& semigroup, std::uint64_t k);

}  // namespace krohn
