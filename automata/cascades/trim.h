// automata/cascades/trim.h — drops from a cascade what no word uses, and what is there twice.
#pragma once

#include "krohn/automata/cascades/cascade.h"

namespace krohn {

/// The same cascade without labels that no action reaches from the initial label, without contexts and readout nodes
/// that only such labels lead to, without repeated actions, and without layers that are left with one label (at least
/// one layer stays). Names the components. Reachability is judged layer by layer, so a label may stay that no word
/// reaches; of a cascade without a start all labels stay. Contexts and nodes that do the same are one, as in
/// `merge_contexts`. O(entries of all tables).
Cascade trim(const Cascade& cascade);

/// The same tuples of labels with fewer contexts and nodes of the readout: those that do the same from their layer on
/// become one. A trimmed table's holes count as an entry of their own. O(entries of the tables).
Cascade merge_contexts(Cascade cascade);

}  // namespace krohn
