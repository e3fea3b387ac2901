// automata/dfa/decision_diagrams.h — functions of truth values, without listing them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/groups/base/record_set.h"

namespace krohn {

/// Reduced ordered decision diagrams whose leaves are numbers (Bryant 1986), shared in one table: equal functions are
/// equal references. A Boolean function has the leaves 0 and 1. Recursions are as deep as there are variables. Polls
/// TimeLimit.
class DecisionDiagrams {
 public:
  /// A node, or a leaf with a number below 2^31.
  using Ref = std::uint32_t;

  /// `too_large` is thrown as a LimitError past `max_nodes` nodes.
  DecisionDiagrams(std::size_t max_nodes, std::string too_large);

  static constexpr Ref leaf(std::uint32_t number) { return number | kLeafBit; }
  static constexpr bool is_leaf(Ref ref) { return (ref & kLeafBit) != 0; }
  static constexpr std::uint32_t number_of(Ref ref) { return ref & ~kLeafBit; }
  static constexpr std::uint32_t kNoVariable = UINT32_MAX;

  /// Nodes are the references below this number.
  std::uint32_t nodes() const { return nodes_.size(); }
  std::uint32_t variable_of(Ref ref) const { return is_leaf(ref) ? kNoVariable : nodes_[ref][0]; }
  Ref low(Ref node) const { return nodes_[node][1]; }
  Ref high(Ref node) const { return nodes_[node][2]; }
  /// The diagrams where `variable`, none after that of the diagram, is false and true.
  Ref child(Ref ref, std::uint32_t variable, bool is_true) const {
    if (variable_of(ref) != variable) return ref;
    return is_true ? high(ref) : low(ref);
  }

  Ref make(std::uint32_t variable, Ref low, Ref high);
  Ref variable(std::uint32_t number) { return make(number, leaf(0), leaf(1)); }
  Ref choose(Ref condition, Ref then, Ref otherwise);
  Ref negation(Ref a) { return choose(a, leaf(0), leaf(1)); }
  Ref conjunction(Ref a, Ref b) { return choose(a, b, leaf(0)); }
  Ref disjunction(Ref a, Ref b) { return choose(a, leaf(1), b); }

  /// Results by their operands.
  class Memo {
   public:
    explicit Memo(std::size_t operands) : operands_(operands) {}
    /// `find` before `add` of the same operands.
    std::optional<Ref> find(std::span<const Ref> operands) const {
      const auto found = operands_.find(operands);
      return found ? std::optional(results_[*found]) : std::nullopt;
    }
    Ref add(std::span<const Ref> operands, Ref result) {
      operands_.insert(operands);
      results_.push_back(result);
      return result;
    }

   private:
    RecordSet operands_;
    std::vector<Ref> results_;
  };

  /// The diagram whose leaf is made of those of all operands. `decide(operands)` is the result where it is known before
  /// all of them are leaves, and has to be where they are; `done` remembers, for one `decide`.
  template <class Decide>
  Ref apply(const std::vector<Ref>& operands, Memo& done, Decide& decide) {
    if (const std::optional<Ref> known = decide(operands)) return *known;
    if (const std::optional<Ref> known = done.find(operands)) return *known;
    std::uint32_t first = kNoVariable;
    for (const Ref ref : operands) first = std::min(first, variable_of(ref));
    std::vector<Ref> parts(operands.size());
    const auto of = [&](bool is_true) {
      for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = child(operands[i], first, is_true);
      return apply(parts, done, decide);
    };
    const Ref where_false = of(false);
    return done.add(operands, make(first, where_false, of(true)));
  }

  /// The diagram with other leaves.
  template <class Number>
  Ref with_leaves(Ref ref, Memo& done, const Number& number) {
    if (is_leaf(ref)) return leaf(number(number_of(ref)));
    if (const std::optional<Ref> known = done.find({&ref, 1})) return *known;
    const Ref where_false = with_leaves(low(ref), done, number);
    return done.add({&ref, 1}, make(nodes_[ref][0], where_false, with_leaves(high(ref), done, number)));
  }

 private:
  static constexpr Ref kLeafBit = Ref{1} << 31;

  std::size_t max_nodes_;
  std::string too_large_;
  RecordSet nodes_{3};  ///< variable, low, high
  Memo chosen_{3};
};

// Letters that are classes of valuations of propositions, and their names.
//
// "a&!b|c": where the formula holds   "true": all   "{a,b}": the one valuation in which of all propositions these hold
// A proposition that is no plain name is in double quotes. Either every name of an alphabet is in braces, or none is.

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
