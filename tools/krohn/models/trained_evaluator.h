// tools/krohn/models/trained_evaluator.h — a trained or imported model where a network is expected to run.
#pragma once

#include <memory>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "tools/krohn/models/run_folder.h"

namespace krohn {

/// Over the letters of the task's automaton. The model answers with an output, not with a state: where that is the
/// output of the state that the automaton is in, or the task does not ask there, the answer is that state; else it is
/// the first state with that output, or none. Reading throws InputError at a letter that no word of the task has there.
std::unique_ptr<Evaluator> trained_evaluator(TrainedSubject subject, Precision precision);

}  // namespace krohn
