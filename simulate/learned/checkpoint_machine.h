// simulate/learned/checkpoint_machine.h — a checkpoint of another library as a machine like the trained models of
// simulate/learned/trained_reader.h: what `krohn extract`, `snap` and `compare` ask.
#pragma once

#include <memory>

#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/constructions/network/network.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

/// Words of the checkpoint's automaton, with the automaton's output due at every letter. Throws InputError when there
/// is none.
std::unique_ptr<Task> checkpoint_task(const Checkpoint& checkpoint);

/// It answers with the outputs of its automaton: that of the state whose token is the arg max of the logits, or none.
/// It has read the token that begins words. Arithmetic and order are those of simulate/checkpoints/checkpoint_model.h;
/// precision is fp32 or bf16. Its blocks are the heads of the first layer; `letter_maps` throws InputError where the
/// keys of that layer look at tokens before, so that a letter is no one matrix. Throws InputError when there is no
/// automaton.
std::unique_ptr<TrainedReader> checkpoint_machine(Checkpoint checkpoint, Precision precision);

/// As extract_trained. Where the memories that words lead to are finitely many, up to `max_network_states`, the machine
/// is tabulated first, and the automaton compared with it for words of every length.
Extraction extract_checkpoint(const TrainedReader& machine, const Task& task, const ExtractOptions& options);

}  // namespace krohn
