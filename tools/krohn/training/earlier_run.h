// tools/krohn/training/earlier_run.h — what an earlier `krohn train` left in a folder, and whether another may go on
// there.
#pragma once

#include <span>
#include <string>

#include "tools/krohn/training/training_job.h"

namespace krohn {

/// A folder keeps one model, which is chosen among all runs that it names: of one task and model, of no fewer rates and
/// seeds than before, and proved where it was proved. Throws InputError where this command would leave one that is not;
/// nothing where the folder has no model. `model`: its full name.
void require_same_run(const TrainArguments& options, const std::string& task, const std::string& model,
                      std::span<const RateAndSeed> runs);

}  // namespace krohn
