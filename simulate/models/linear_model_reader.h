// simulate/models/linear_model_reader.h — reads words through a LinearModel, in float, one word after the other. The
// operations and their order are those of simulate/models/linear_model_step.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "krohn/simulate/models/sequence_model.h"

namespace krohn {

/// What becomes of a model's answers when every state is multiplied with a positive number of its own.
enum class Rescaling : std::uint8_t {
  kNone,     ///< additions: a scale of the state does not stay one, and no reader rescales
  kNeutral,  ///< no additions, and one bias for all labels: s A h = A (s h), and arg max s W h + c = arg max W h
  kAnotherFunction,  ///< no additions, but a bias: it counts for less the larger the state, so answers may differ
};
Rescaling rescaling_of(const LinearModel& view);

/// As SequenceModel::readers. `rescaled`: from the ninth letter on every state is scaled to the Euclidean norm that it
/// had after the eighth (Ebrahimi §2.2 normalises at inference), unless the model has additions. Neutral or not, what
/// overflows as trained then goes on: a verdict on the model says nothing about the rescaled one.
std::function<std::unique_ptr<ModelReader>(std::uint32_t words)> linear_readers(LinearModel view, bool rescaled);

}  // namespace krohn
