// simulate/closing/pull_letters.h — training pulled toward a finite monoid.
//
// The mean states c_q of a recurrence move about as the automaton does: A_σ c_q ≈ c_{qσ}. Where that holds exactly, its
// letters generate, on the span of the c_q, a quotient of the automaton's own monoid, which is finite: of a letter of
// order k there, ‖A_σ^k − 1‖ is 0. So the nearest such letters are the proximal point of all these conditions at once.
#pragma once

#include <vector>

#include "krohn/simulate/closing/learned_states.h"
#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

/// The parameters, after a step of `share` of the way from A_σ to C_σ C⁺ for the letters of the task: C are the mean
/// states that σ moves, C_σ those that it moves them to, both without what training left over, and C⁺ is the
/// pseudo-inverse, in directions that σ moves that way to within half of their length; it keeps what it does to the
/// others. C falls into the copies of a group's representations (simulate/closing/group_copies.h), otherwise
/// into singular directions; what the letters move off by more than half its own length was left over. Where the
/// letters already move the means as the automaton does, nothing changes but what they do beside them. Blocks stay in
/// which nothing was learned; h_0, the read-out and the letters' embeddings stay. Empty for models other than bilinear
/// ones whose matrices are linear in the embedding, and where a number is not finite. `seen` is what the model learned
/// of the task.
std::vector<float> pulled_letters(const SequenceModel<float>& model, const Task& task, const LearnedStates& seen,
                                  double share);

}  // namespace krohn
