// constructions/smallest/smallest.h — proved lower bounds on networks for a language, beside what krohn builds
// (docs/build.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/build/builders.h"
#include "krohn/groups/transformations/green.h"

namespace krohn {

/// One network that was built.
struct PlanSize {
  std::string construction;
  std::uint32_t layers = 0;
  std::uint64_t numbers = 0;         ///< in all layers
  std::uint64_t widest_numbers = 0;  ///< of one layer
  std::uint64_t widest_labels = 0;   ///< of one layer
  std::int64_t reflections = -1;     ///< most per letter in a layer; −1: no such form
  /// In exact arithmetic the numbers take finitely many values: weights are as the theorem has them, not made for one
  /// format, and nothing snaps.
  bool has_finitely_many_values = false;
  bool is_diagonal = false;          ///< every A is diagonal over the complex numbers
  std::optional<WrappingIntegers> wraps_in;  ///< those of the row
  bool is_in_unit_interval = false;  ///< every A is diagonal with entries in [0, 1]
  bool adds_inputs = false;          ///< some B is not 0
  bool reads_linearly = false;       ///< the answer is a linear function of the numbers: found exactly
  bool reads_affinely = false;       ///< the same with a constant
};

/// Every possible row of the planner's table. `shown` is by state.
std::vector<PlanSize> plan_sizes(const Dfa& automaton, std::span<const std::uint32_t> shown);

// The rank of a language's Hankel matrix: what a linear state needs at least
// (Carlyle & Paz 1971; Fliess 1974; docs/build.md).

/// The required answer by state: its output, or the state itself.
using Shown = std::vector<std::uint32_t>;
Shown outputs_shown(const Dfa& automaton);
Shown states_shown(const Dfa& automaton);

/// Rows u and columns (v, s) of the matrix whose entry is 1 when s is shown after uv, and 0 otherwise, on which its
/// determinant is not 0 modulo the prime; so it is not 0 over the rationals.
struct HankelMinor {
  struct Column {
    std::vector<Letter> word;
    std::uint32_t shown = 0;
  };
  std::vector<std::vector<Letter>> rows;
  std::vector<Column> columns;
  std::uint64_t prime = 0;
};

struct HankelRank {
  std::uint64_t rank = 0;      ///< over the rationals: at least this, by the minor, and at most, where `is_exact`
  bool is_exact = false;       ///< no greater minor is anything but 0: so many primes divide it
  std::uint64_t modulo_2 = 0;  ///< over the field of two elements
  HankelMinor minor;
};

/// For the function that takes a word to what is shown after it; every state must be reachable. All that a column
/// depends on is the state that its row leads to, so rows are states and columns are sets of states, found from what is
/// shown by letters read backwards. That no (r+1)-minor is other than 0 follows when the rank is r modulo primes whose
/// product is greater than Hadamard's bound of such a determinant. O(letters · states · rank²) for each prime. Throws
/// LimitError past `max_states`.
HankelRank hankel_rank(const Dfa& automaton, std::span<const std::uint32_t> shown, std::uint32_t max_states = 600);

/// The rank over the field of that many elements, a prime below 2^31.
std::uint64_t hankel_rank_modulo(const Dfa& automaton, std::span<const std::uint32_t> shown, std::uint64_t prime);

/// Runs the words, and computes the determinant anew: not 0 modulo the prime, for a square of the size that is claimed.
bool holds(const Dfa& automaton, std::span<const std::uint32_t> shown, const HankelRank& claimed);

// Bounds on the numbers of one layer of any kind whose numbers take finitely many values, whatever reads them
// (docs/build.md, "Finitely many values").

/// A word, so many times.
struct PowerOfWord {
  std::vector<Letter> word;
  std::uint64_t exponent = 1;
};

/// Idempotents of the transition monoid, each below the one before, and what the group of the last one needs.
struct FiniteValuesBound {
  std::uint64_t numbers = 0;  ///< steps of the chain and the dimension of the group
  std::vector<PowerOfWord> chain;
  std::vector<std::vector<Letter>> group;  ///< words that permute the image of the last idempotent, and generate it
  std::string group_name;
  std::uint64_t group_dimension = 0;  ///< 0 … 4: see `least_orthogonal_dimension`
};

/// The least d ≤ 3 such that the group is a quotient of a finite group of real d×d matrices, or 4: below 4 the same as
/// the least dimension of a faithful real representation, for the finite subgroups of O(3) and their quotients are
/// cyclic, dihedral, A_4, S_4, A_5, and these times Z_2. Where the group is too large for its characters, something
/// that is certainly not greater.
std::uint64_t least_orthogonal_dimension(const PermutationGroup& group, const Integer& order);

/// The best that chains and groups say, by Green's relations. Every state must be reachable; letters are the
/// structure's generators. The chain is left out where the egg-boxes are too large. Throws LimitError.
FiniteValuesBound finite_values_bound(const Dfa& automaton, const GreenStructure& green);

// Checks the witness of a bound by running its words; shares no code
// with what found it.

/// The words are idempotents, each properly below the one before; the group words permute the image of the last and
/// generate a group that needs the dimension claimed, by counting its elements; and the steps add up. False also when
/// the bound has no chain, or a group of more than 20,000 elements whose claim its squares do not show.
bool holds(const Dfa& automaton, const FiniteValuesBound& bound);

/// The least d ≤ 3 such that the group, given by all its elements, is a quotient of a finite group of real d×d
/// matrices; 4 when there is none. By the classification of those groups, and by counting.
std::uint64_t orthogonal_dimension_by_counting(const std::vector<std::vector<std::uint32_t>>& elements);

// How many reflections some letter takes, and what layers must hold
// (docs/build.md).

/// A number that is proved, and what says so.
struct LeastNumber {
  std::uint64_t value = 0;
  std::string because;
};

/// The most reflections per letter that one layer cannot do without whose numbers take finitely many values, whatever
/// reads them: of every letter what its idempotent power and its order there say, and of group automata what letters
/// that generate the group must move together.
LeastNumber reflections_of_any_layer(const Dfa& automaton);

/// The consequences of the monoid's simple groups for a cascade's layers.
struct DivisorBounds {
  LeastNumber labels;   ///< of the widest layer of permutations and resets
  LeastNumber numbers;  ///< of the widest layer, if its numbers take finitely many values
  /// For layers with diagonal complex matrices: the greatest derived length; nothing when a group is not solvable.
  std::optional<LeastNumber> diagonal;
};

/// Throws LimitError where a composition series is out of reach.
DivisorBounds divisor_bounds(const Dfa& automaton, const GreenStructure& green);

/// For an aperiodic monoid, how many layers with diagonal matrices in [0, 1] there are at least: one is enough only if
/// xx = x and xyx = yx for all elements. Nothing where the monoid has more than `max_elements`.
std::optional<LeastNumber> layers_of_resets(const Dfa& automaton, std::uint64_t max_elements = 2000);

/// One bound: in networks of the model, no fewer of what is counted will do.
struct SizeBound {
  std::string counted;  ///< "numbers of state"
  std::string model;    ///< which networks the bound is about
  std::uint64_t at_least = 0;
  std::string because;
  /// The least that krohn builds in the same model, and how; nothing when it builds none.
  std::optional<std::uint64_t> built;
  std::string construction;
  bool is_impossible = false;  ///< no number is enough, and `because` says why

  /// Bound and plan meet.
  bool is_optimal() const { return !is_impossible && built == at_least; }
  /// "3", or "none".
  std::string least() const { return is_impossible ? "none" : std::to_string(at_least); }
};

struct Smallest {
  std::vector<SizeBound> bounds;
  std::vector<std::string> limits;  ///< the limits that kept a bound from being found
  std::optional<HankelRank> rank;
  std::optional<FiniteValuesBound> finite_values;
};

/// All bounds that apply to networks that show `shown` after every word. All
/// states must be reachable, and different ones distinguished by what is shown after some word. Bounds whose computing
/// meets a limit are left out, with the limit; every witness that is kept was checked. Throws Error should a network
/// that was built be smaller than a bound.
/// `found` hears of the bounds again and again, as far as they are known by then.
Smallest smallest(const Dfa& automaton, std::span<const std::uint32_t> shown,
                  const std::function<void(const Smallest&)>& found = {});

}  // namespace krohn
