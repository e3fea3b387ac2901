// gpu/training/train_side_by_side.h — several training runs of one shape as one batch of models, on a CUDA device.
#pragma once

#include <functional>
#include <span>

#include "krohn/gpu/device/place.h"
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

}  // namespace krohn
