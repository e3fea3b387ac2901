// simulate/closing/refine_readout.h — training that goes on behind a recurrence that is held as it is.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/tasks/task.h"
#include "krohn/simulate/train/trainer.h"

namespace krohn {

/// Steps of Adam at the rate of `options`, on its batches, that move only parameters for which `is_free` holds (as long
/// as the parameters), until `is_done` says so: it is asked first, and after every hundred steps whose last batch was
/// answered correctly. Returns the number of steps; `most` where it never was done.
std::uint64_t refine_readout(SequenceModel<float>& model, const Task& task, const TrainOptions& options,
                             const std::vector<bool>& is_free, std::uint64_t most,
                             const std::function<bool()>& is_done);

}  // namespace krohn
