// automata/dfa/valuations.h — letters that are classes of valuations of propositions, and their names.
//
// "a&!b|c": where the formula holds   "true": all   "{a,b}": the one valuation in which of all propositions these hold
// A proposition that is no plain name is in double quotes. Either every name of an alphabet is in braces, or none is.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/automata/dfa/decision_diagrams.h"

namespace krohn {

/// The name, in quotes where it is no plain one.
std::string written_proposition(const std::string& proposition);

/// A diagram of valuations of named variables. Its leaf at a valuation is the number of a class.
struct ValuationClasses {
  std::shared_ptr<DecisionDiagrams> diagrams;
  DecisionDiagrams::Ref classes = 0;
  std::vector<std::string> propositions;  ///< by variable; but for `over`, in falling order

  /// With a limit of 2^26 nodes.
  static std::shared_ptr<DecisionDiagrams> empty_diagrams();

  /// The classes that an alphabet's letters are; nothing unless every valuation is in exactly one letter. With `among`,
  /// letters in braces are valuations of its propositions, and those that no letter names are of class
  /// `alphabet.size()`.
  static std::optional<ValuationClasses> of(const Alphabet& alphabet, const ValuationClasses* among = nullptr);

  /// The same classes by other variables, in another order, in these diagrams.
  ValuationClasses over(std::shared_ptr<DecisionDiagrams> other, std::vector<std::string> variables) const;

  /// The class of "{a,b}", if these are among the propositions.
  std::optional<Letter> find(std::string_view valuation) const;

  /// The classes in the order of their least valuations, of which the first variable is the highest bit.
  std::vector<Letter> in_order() const;

  /// Names of the classes 0, …, `count` - 1: in braces where each is one valuation of the propositions that matter,
  /// and otherwise an irredundant sum of products (Minato 1992). Throws LimitError past 2^16 products.
  std::vector<std::string> names(std::size_t count) const;
};

/// The classes that two partitions cut; a proposition that one does not name is free in it. Letters with a class past
/// `letters_of_a` or `letters_of_b` are none of that side.
AlphabetRefinement refine(const ValuationClasses& a, Letter letters_of_a, const ValuationClasses& b,
                          Letter letters_of_b);

}  // namespace krohn
