// gpu/training/linear_model_words.h — simulate/train/evaluate_model.h's measurement of a trained model by length, on a
// CUDA device.
#pragma once

#include "krohn/gpu/device/place.h"
#include "krohn/simulate/train/evaluate_model.h"

namespace krohn {

/// The result of evaluate_model (simulate/train/evaluate_model.h), equal in every number: the samples are the same,
/// made where they are read; the numbers are those of model_readers. Words are read side by side,
/// only counts come back. `options.threads` is not used. Throws as evaluate_model; NotOnDevice for a linear model too
/// large for a block's memory, a task that no automaton answers, as operation_words, and where a number is not finite;
/// SystemError when there is no device, or it fails.
ModelAccuracy evaluate_words(Place place, const SequenceModel<float>& model, const Task& task, std::uint64_t length,
                             const EvaluateModelOptions& options);

}  // namespace krohn
