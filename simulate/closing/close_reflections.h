// simulate/closing/close_reflections.h — trained DeltaNet and DeltaProduct layers, rounded.
#pragma once

#include <string>
#include <vector>

#include "krohn/simulate/closing/closing.h"
#include "krohn/simulate/run/letter_reader.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

/// Why no one layer h ← A(x) h + b(x) with |A(x)| ≤ 1 in the Euclidean norm gives the answers that are asked for, with
/// finitely many values in exact arithmetic: words that act as idempotents and cross
/// (automata/monoid/crossing_idempotents.h). "" where none were found. Floats may do it all the same: values that fade
/// to zero, or stick to one another by rounding, are finitely many.
std::string why_no_layer_of_contractions(const TrackedAutomaton& tracked);

/// Why no deltaproduct model of this shape is rounded; "" where its parameters decide.
std::string why_no_reflections_round(const SequenceModel<float>& model, const Task& task);

/// Rounds the recurrence of a model of one layer of reflections. Of every head the keys that take part (β near 1 or 2)
/// are turned, together with the queries, to roots that have the same angles (simulate/closing/dyadic_roots.h), two
/// reflections of one letter first in their plane, which leaves their product alone; β becomes 0, 1 or 2 by saturation
/// of its gate, 0 where a reflection moves none of the states that random words lead to; values become those of
/// reflections that share a fixed state, on a dyadic grid, and so does the state after a token before the word. Heads
/// that no roots fit are silenced, and where the others tell the answers apart those that hold no function of the
/// automaton's state. Where they do not, or with `only_simplices`, the fewest heads that do are put on simplices of the
/// classes of states that they hold (simulate/closing/simplex_heads.h), and the others silenced. Every letter gets a
/// coordinate of the embedding of its own, of which the first norm makes exactly 1 in fp32: from it the letter's
/// numbers are read. The rest of the model is the trained one, and `is_free` says which of its parameters may be
/// trained further without a change to the recurrence's states. A closing without a model where no head rounds, or for
/// other models.
Closing close_reflections(const SequenceModel<float>& model, const Task& task, bool only_simplices,
                          std::vector<bool>& is_free);

}  // namespace krohn
