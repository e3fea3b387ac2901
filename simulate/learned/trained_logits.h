// simulate/learned/trained_logits.h — what a trained model says after every letter, as numbers.
#pragma once

#include <functional>
#include <span>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/network/precision.h"
#include "krohn/simulate/models/sequence_model.h"

namespace krohn {

/// The logits after every letter of a word, a row of one number for each label: by the model's own letters, special
/// tokens of its task included, in the arithmetic of `trained_machine` (simulate/learned/trained_reader.h).
using TrainedLogits = std::function<void(std::span<const Letter> word, std::span<double> logits)>;
TrainedLogits trained_logits(const SequenceModel<float>& model, Precision precision);

}  // namespace krohn
