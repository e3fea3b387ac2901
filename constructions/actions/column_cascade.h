// constructions/actions/column_cascade.h — a group's smaller action as a cascade.
#pragma once

#include "krohn/automata/cascades/cascade.h"
#include "krohn/constructions/actions/based_action.h"

namespace krohn {

/// A layer for every base point, each on all points, and each moved by the letter alone; where they stand tells the
/// state. O(letters · points · base points + states · points).
Cascade column_cascade(const Dfa& automaton, const TrackedStates& tracked, const BasedAction& action);

}  // namespace krohn
