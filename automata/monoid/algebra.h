// automata/monoid/algebra.h — what the monoid of an automaton says about its language: verdicts, each with a witness.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/groups/transformations/green.h"

namespace krohn {

/// A word over the loops whose action has an order that is no power of two: the group is no 2-group. Searched among
/// the first few thousand products, and among random ones; nothing when there is none there.
std::optional<Word> odd_word(std::span<const GreenStructure::Loop> loops);

/// Words u and v over the loops such that u, v and uv have orders above 1 that are coprime in pairs: their group is not
/// solvable, and every group that is not has such elements (Thompson 1968). Searched as above.
std::optional<std::pair<Word, Word>> coprime_words(std::span<const GreenStructure::Loop> loops);

enum class Answer : std::uint8_t { kYes, kNo, kUnknown };
std::string to_string(Answer answer);

/// One property with its answer.
struct Verdict {
  std::string property;  ///< "aperiodic", "R-trivial", …
  std::string meaning;   ///< its meaning for the language: "star-free, first-order definable"
  Answer answer = Answer::kUnknown;
  /// With kYes: empty but for "synchronising", whose word it tells. With kNo: words that violate it, which were checked
  /// by running them (witness_check.h), or the property that it follows from. With kUnknown: the limit that was met.
  std::string witness;
};

/// A non-trivial maximal subgroup of the monoid.
struct MaximalSubgroup {
  std::string name;  ///< "Z_5", "S_3", "order 96"
  Integer order = 1;
  bool solvable = false;
  std::uint32_t d_class = 0;
  std::vector<State> states;       ///< the states that it permutes
  std::vector<Word> generators;    ///< words that generate it
  std::vector<std::string> words;  ///< the same, as the user would type them
};

struct AlgebraOptions {
  GreenOptions green;
  /// Properties that need the elements one by one are unknown beyond.
  std::uint64_t max_elements = 20'000;
};

/// The monoid of an automaton: its transition monoid, which is the syntactic monoid when the automaton is minimal.
struct Algebra {
  Integer size = 1;
  Integer idempotents = 1;
  std::optional<GreenStructure> green;  ///< nothing when a limit was met; then only `verdicts` and `limit` count
  std::string limit;                    ///< the limit that was met; empty when there is a structure
  std::vector<MaximalSubgroup> groups;
  std::vector<Verdict> verdicts;
  /// The least s with η(Σ^s) = η(Σ^2s); 0 when unknown. Groups inside η(Σ^s) decide quasi-aperiodicity.
  std::uint64_t stability_index = 0;

  /// The verdict of that name; it must exist.
  const Verdict& verdict(std::string_view property) const;
};

/// Analyses the transition monoid of `dfa`, all of its states (drop unreachable ones first, and minimise first for
/// acceptance); for acceptors also whether the language is finite. Sizes, groups and the verdicts on them come from
/// Green's structure, without enumeration; local properties need at most `max_elements` elements. Throws LimitError as
/// GreenStructure does.
Algebra analyse(const Dfa& dfa, const AlgebraOptions& options = {});

/// The same, with what is known without the monoid (properties.h) where `analyse` throws LimitError, or takes
/// more than half of the time that is left (groups/base/time_limit.h).
Algebra analyse_within_limits(const Dfa& dfa, const AlgebraOptions& options = {});

/// The map of the states for every letter.
std::vector<Transformation> letter_maps(const Dfa& dfa);

// Bounds of the Krohn–Rhodes complexity of a monoid: the least number of group layers in
// any cascade of groups and aperiodic parts.

struct ComplexityBounds {
  std::uint64_t lower = 0, upper = 0;
  std::string lower_by, upper_by;  ///< their sources
};

/// By Tilson's depth decomposition theorem (1971) the complexity is at most the most D-classes with a non-trivial
/// maximal subgroup on one chain of the J-order. It is 0 exactly for aperiodic monoids, and n−1 for all maps of n
/// points (Rhodes). `degree` is the number of points. O(D-classes + covers).
ComplexityBounds complexity_bounds(const GreenStructure& green, Point degree);

}  // namespace krohn
