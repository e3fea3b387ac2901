// automata/dfa/decision_diagrams.h — functions of truth values, without listing them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "krohn/groups/record_set.h"

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

}  // namespace krohn
