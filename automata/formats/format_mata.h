// automata/formats/format_mata.h — the text format of the library mata (VeriFIT/mata, AUTOMATAFORMAT.md).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/automata/formats/format_draft.h"

namespace krohn {

// The Boolean formulas of .mata files, and the classes of valuations they
// distinguish.

/// One word, string or operator of a line, and where it was.
struct MataToken {
  enum Kind { kName, kAnd, kOr, kNot, kOpen, kClose };
  Kind kind = kName;
  bool is_quoted = false;
  std::string name;
  std::size_t offset = 0;  ///< of its first byte in the file
};

/// A formula in postfix order, so that neither reading nor evaluating it recurses, however deep its brackets.
struct MataFormula {
  enum Kind { kName, kTrue, kFalse, kAnd, kOr, kNot };
  struct Step {
    Kind kind = kName;
    std::uint32_t name = 0;
  };
  std::vector<Step> steps;
};

/// Reads `! & |` and brackets, binding in that order; `\true` and `\false`. Names become numbers by `number_of`. With
/// `is_list`, names side by side are joined by "or", as in `%Initial q0 q1`.
/// Throws InputError through `fail(offset, message)`, which must not return. O(n).
MataFormula parse_mata_formula(std::span<const MataToken> tokens, bool is_list,
                               const std::function<std::uint32_t(const MataToken&)>& number_of,
                               const std::function<void(std::size_t offset, const std::string& message)>& fail);

/// A set of numbers, or everything but a set of numbers.
struct MataSet {
  std::unordered_set<std::uint32_t> members;
  bool is_complement = false;
  bool contains(std::uint32_t number) const { return members.contains(number) != is_complement; }
};

/// The numbers x at which the formula is true when exactly the name x is true: what a formula over states or symbols
/// says of one state or symbol. `!q0 & !q2` is everything but q0 and q2. O(n log n) for n steps.
MataSet numbers_satisfying(const MataFormula& formula);

/// The coarsest classes of valuations that a list of formulas over bits distinguishes.
struct MataClasses {
  /// One per class: its least valuation over `variables`, `-` where a bit does not matter, and `|…` when the class is
  /// more than that.
  std::vector<std::string> names;
  /// Per formula the classes on which it is true, ascending. Valuations that no formula allows are in no class.
  std::vector<std::vector<Letter>> classes_of;
};

/// Never lists valuations: the formulas become decision diagrams, and their product, taken in pairs of pairs, has one
/// leaf per class. Variable i is bit i from the left in the names. Throws LimitError past 512 variables or 2^22 nodes.
MataClasses distinguish(std::span<const MataFormula> formulas, std::uint32_t variables, std::string_view where);

/// Reads one section, `@NFA-explicit` or `@NFA-bits`, with the keys %Initial, %Final, %Alphabet-…, %States-…,
/// %Epsilon, whose names are the empty word; without it `EpsilonNames` has them. A formula over states says of a state
/// q what it says when only q is true, so that `!q0 & !q2` is every other state; a formula over explicit symbols
/// likewise. In bits, the letters are the coarsest classes of valuations that the transitions distinguish, named by a
/// valuation (most significant bit first, `-` where it does not matter); valuations that no transition reads are not
/// letters, as in mata. Throws InputError with line and column; alternating automata, intervals, transducers and second
/// sections are refused. Throws LimitError past 2^22 nodes of decision diagrams. O(n log n) when explicit.
Draft read_mata(std::string_view text, std::string_view where, const LanguageOptions& options = {});

/// Writes an acceptor as @NFA-explicit, letters and states declared in their order. A class of characters is written by
/// its name and comes back as a token. Throws InputError for outputs.
std::string write_mata(const Dfa& dfa);

}  // namespace krohn
