// constructions/actions/quotient_actions.h — the transitive quotients of a permutation automaton, up to isomorphism.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "krohn/constructions/actions/congruence.h"
#include "krohn/groups/time_limit.h"

namespace krohn {

/// What the letters do to the blocks of a block system; block 0 holds state 0.
struct QuotientAction {
  Congruence blocks;
  std::vector<Transformation> maps;
  Point degree = 0;
};

/// A count of elementary steps that searches share. The time is looked at too (groups/time_limit.h).
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

}  // namespace krohn
