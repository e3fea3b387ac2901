// simulate/models/linear_model_reader.h — reads words through a LinearModel, in float, one word after the other. The
// operations and their order are those of simulate/models/linear_model_step.h.
#pragma once

#include <functional>
#include <memory>

#include "krohn/simulate/models/sequence_model.h"

namespace krohn {

/// As SequenceModel::readers. With `normalise`, from the ninth letter on every state is scaled to the Euclidean norm
/// that it had after the eighth (Ebrahimi §2.2 normalises at inference): only without additions, where a scale stays a
/// scale. Otherwise long words overflow.
std::function<std::unique_ptr<ModelReader>(std::uint32_t words)> linear_readers(LinearModel view, bool normalise);

}  // namespace krohn
