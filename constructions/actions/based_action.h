// constructions/actions/based_action.h — permutation representations of a transition group, with base points whose
// images tell the states apart (Sims 1970: the images of a base determine an element).
#pragma once

#include <cstdint>
#include <vector>

#include "krohn/constructions/actions/tracked_states.h"
#include "krohn/groups/permutations/permutation.h"

namespace krohn {

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

}  // namespace krohn
