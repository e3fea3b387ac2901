// tools/krohn/models/checkpoint_evaluator.h — a checkpoint of another library where a network is expected to run.
#pragma once

#include <memory>

#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/constructions/network/network.h"
#include "krohn/simulate/evaluate/evaluate.h"

namespace krohn {

/// Its answer is a token. Where that is the token of the state that the automaton is in, the answer is that state, so
/// that states may share tokens; else it is the first state that has the token, or none. Throws InputError when the
/// checkpoint has no automaton, and for another precision than fp32 and bf16.
std::unique_ptr<Evaluator> checkpoint_evaluator(Checkpoint checkpoint, Precision precision);

}  // namespace krohn
