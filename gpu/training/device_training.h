// gpu/training/device_training.h — training runs side by side, and trained models measured by length, on a CUDA device.
#pragma once

#include <functional>
#include <span>

#include "krohn/gpu/device/place.h"
#include "krohn/simulate/train/evaluate_model.h"
#include "krohn/simulate/train/trainer.h"

namespace krohn {

/// Takes all runs that are still running to their ends, side by side: every step of every run in the same kernels, each
/// with its own batch, rate and seed; validations, stops and checkpoints stay the trainers' own. Sums have another
/// order than on the processor, so a run has other last bits than there, and the same ones every time it is made here.
/// When `progress` (steps of all runs) throws, every trainer is left at a whole step. Throws InputError when the
/// models' family is not trained on a device, or models, words or clips differ; SystemError when there is no device, or
/// it fails or has too little memory.
void train_side_by_side(Place place, std::span<Trainer* const> trainers,
                        const std::function<void(std::uint64_t)>& progress = {});

/// The result of evaluate_model (simulate/train/evaluate_model.h), equal in every number: the samples are the same,
/// made where they are read; the numbers are those of model_readers. Words are read side by side,
/// only counts come back. `options.threads` is not used. Throws as evaluate_model; NotOnDevice for a task that no
/// automaton answers, as operation_words, and where a number is not finite; SystemError when there is no device, or it
/// fails.
ModelAccuracy evaluate_words(Place place, const SequenceModel<float>& model, const Task& task, std::uint64_t length,
                             const EvaluateModelOptions& options);

}  // namespace krohn
