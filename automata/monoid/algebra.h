// automata/monoid/algebra.h — what the monoid of an automaton says about its language: verdicts, each with a witness.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/groups/transformations/green.h"

namespace krohn {

enum class Answer : std::uint8_t { kYes, kNo, kUnknown };
std::string to_string(Answer answer);

/// One property with its answer.
struct Verdict {
  std::string property;  ///< "aperiodic", "R-trivial", …
  std::string meaning;   ///< what it says about the language: "star-free, first-order definable"
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

/// The same, with what is known without the monoid (partial_verdicts.h) where `analyse` throws LimitError, or takes
/// more than half of the time that is left (groups/time_limit.h).
Algebra analyse_within_limits(const Dfa& dfa, const AlgebraOptions& options = {});

/// What every letter does to the states.
std::vector<Transformation> letter_maps(const Dfa& dfa);

}  // namespace krohn
