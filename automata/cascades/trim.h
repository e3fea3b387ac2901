// automata/cascades/trim.h — drops what no word uses from a cascade.
#pragma once

#include "krohn/automata/cascades/cascade.h"

namespace krohn {

/// The same cascade without labels that no action reaches from the initial label, without contexts and readout nodes
/// that only such labels lead to, without repeated actions, and without layers that are left with one label (at least
/// one layer stays). Names the components. Reachability is judged layer by layer, so a label may stay that no word
/// reaches. O(entries of all tables).
Cascade trim(const Cascade& cascade);

/// The same tuples of labels with fewer contexts and nodes of the readout: those that do the same from their layer on
/// become one. O(entries of the tables).
Cascade merge_contexts(Cascade cascade);

}  // namespace krohn
