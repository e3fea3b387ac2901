// constructions/build/based_action.h — permutation representations of a transition group, with base points whose
// images tell the states apart (Sims 1970: the images of a base determine an element).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "krohn/automata/cascades/cascade.h"
#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/network/network.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/groups/permutations/permutation.h"
#include "krohn/groups/transformations/transformation.h"

namespace krohn {

// The start of every construction: the states that words reach, and the
// distinct maps that letters make of them.

/// The reachable part of an automaton. Label i stands for `states[i]`, in breadth-first order, so label 0 is the
/// initial state. Letters that do the same share an action.
struct TrackedStates {
  std::vector<State> states;
  std::vector<Transformation> maps;  ///< one per action, distinct
  std::vector<Action> action_of;     ///< letter ↦ action
  std::vector<Letter> letter_of;     ///< action ↦ its first letter, for messages
  Label count() const { return static_cast<Label>(states.size()); }
};

/// O(k n).
TrackedStates tracked_states(const Dfa& automaton);

/// True if every letter permutes the states.
bool is_group(const TrackedStates& tracked);

/// The actions as permutations. Throws InputError naming the first letter that is not a bijection and two states that
/// it merges.
std::vector<Permutation> permutations_of(const Dfa& automaton, const TrackedStates& tracked);

/// Finishes a network of one layer: sets the wiring (a letter's context is the letter, its action `tracked.action_of`)
/// and the readout (label i is `tracked.states[i]`), and validates.
Network single_layer_network(const Dfa& automaton, const TrackedStates& tracked, Layer layer, Provenance provenance);

// Congruences of an automaton: partitions of its states that every letter
// respects. Those of a transitive permutation automaton are its block systems (Atkinson, Math. Comp. 29, 1975).

/// The class of each point; classes are numbered in the order of their first points, so equal partitions are `==`.
using Congruence = std::vector<Point>;

Point class_count(const Congruence& partition);

/// The finest congruence with p and q in one class. O(n · maps) merges of a union-find.
Congruence congruence_generated_by(std::span<const Transformation> maps, Point p, Point q);

/// For permutations that lead from 0 everywhere: where 0 goes by the inverse of a word that takes 0 to the point. That
/// inverse takes the pair (0, q) to (mirrored q, 0), so that both generate the same congruence; and every pair of
/// points is taken to one with 0.
class MirroredPoints {
 public:
  /// O(n · maps).
  explicit MirroredPoints(std::span<const Transformation> maps);
  /// O(letters of the word): at most n.
  Point operator[](Point point) const;

 private:
  std::vector<std::vector<Point>> inverses_;
  std::vector<std::uint32_t> letter_to_;  ///< the last letter of the point's word
};

/// The finest partition coarser than both (again a congruence when both are), and the coarsest finer than both. O(n)
/// expected.
Congruence join(const Congruence& a, const Congruence& b);
Congruence meet(const Congruence& a, const Congruence& b);

/// The map's action on the classes of a congruence. O(n).
Transformation quotient(const Transformation& map, const Congruence& congruence);

/// The letters' action on the blocks of a block system; block 0 holds state 0.
struct QuotientAction {
  Congruence blocks;
  std::vector<Transformation> maps;
  Point degree = 0;
};

/// A count of elementary steps that searches share. The time is looked at too (groups/base/time_limit.h).
struct StepBudget {
  std::uint64_t left = 0;
  bool spend(std::uint64_t steps) {
    TimeLimit::check();
    if (steps > left) return false;
    left -= steps;
    return true;
  }
};

/// The quotients of degree 2 … n−1, one of each isomorphism class of letter actions, in increasing order of degree.
/// `maps` are transitive permutations. Small degrees are explored first; the search ends early when the budget does,
/// which leaves `budget.left` too small for the next step and `complete` false.
struct QuotientActions {
  std::vector<QuotientAction> actions;
  bool complete = true;
};
QuotientActions quotient_actions(std::span<const Transformation> maps, StepBudget& budget);

/// The point of `to` that each point of `from` goes to, when 0 goes to `image` and letters are respected; nothing when
/// no such map exists. `from` is reachable from 0. O(n · maps).
std::optional<std::vector<Point>> homomorphism(std::span<const Transformation> from, std::span<const Transformation> to,
                                               Point image);

/// The letters as permutations of the points of one or more transitive components, and base points followed along. The
/// state matrix has a row per point and `columns` columns; base point i puts a 1 into its column, at `images[label][i]`
/// in state `label` and so at `images[0][i]` initially. A column has at most one base point per component.
struct BasedAction {
  std::vector<Point> degrees;        ///< of the components; their points are numbered one after the other
  std::vector<Permutation> letters;  ///< one per action
  std::uint32_t columns = 1;
  std::vector<std::uint32_t> column_of;    ///< base point ↦ column
  std::vector<std::vector<Point>> images;  ///< distinct for distinct labels
  bool exhaustive = true;                  ///< false: the search met its limit, a smaller action may exist
  Point degree() const;
};

/// The action on the states themselves, with the initial state as its only base point.
BasedAction natural_action(const Dfa& automaton, const TrackedStates& tracked);

/// The action with the least degree found, then the fewest columns, then the fewest reflections, among sums of
/// quotients of the state set by block systems (for a word problem, these are all actions of the group), that takes no
/// more numbers than there are states: S_5 on 5 points with 4 columns instead of 120 points. Degree comes first because
/// it bounds the reflections. Quotients are taken up to isomorphism; sums are searched over single quotients, pairs,
/// and a greedy cover. The natural action when none is smaller. Throws InputError when a letter is no bijection. At
/// most about `max_steps` elementary steps, after which the best found so far counts.
BasedAction best_based_action(const Dfa& automaton, const TrackedStates& tracked,
                              std::uint64_t max_steps = 200'000'000);

// An abelian transition group as a direct sum of cyclic groups, with the
// coordinates of every state and letter (fundamental theorem of finitely generated abelian groups; Smith normal form).

/// Z_{orders[0]} ⊕ Z_{orders[1]} ⊕ …  A transitive abelian group is regular, so states and group elements correspond:
/// state i is q0 moved by `of_state[i]`, and an action adds `of_action[a]` to it. The trivial group is Z_1.
struct AbelianStructure {
  using Element = std::vector<std::uint64_t>;  ///< one coordinate per factor, 0 ≤ coordinate < order
  std::vector<std::uint64_t> orders;
  std::vector<Element> of_state;
  std::vector<Element> of_action;
};

/// Invariant factors: each order divides the next, as few factors as possible. Throws InputError naming a letter that
/// is no bijection, or two letters that do not commute. O(k n log n).
AbelianStructure abelian_structure(const Dfa& automaton, const TrackedStates& tracked);

/// The same group as a sum of cyclic groups of prime-power order, by the Chinese remainder theorem, factor by factor.
AbelianStructure primary_structure(const AbelianStructure& structure);

/// "Z_2 x Z_4".
std::string to_string(const AbelianStructure& structure);

/// A layer for every base point, each on all points, and each moved by the letter alone; where they stand tells the
/// state. O(letters · points · base points + states · points).
Cascade column_cascade(const Dfa& automaton, const TrackedStates& tracked, const BasedAction& action);

}  // namespace krohn
