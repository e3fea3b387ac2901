// tools/krohn/models/run_folder.h — what a verb is given of a trained model: the folder of a run, or a file in it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/language.h"
#include "krohn/simulate/imports/import_model.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/run/long_comparison.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

/// For a folder that `krohn train` wrote, the trained model, "RUN/parameters.safetensors", whatever its family; any
/// other name as it is. "RUN/network.safetensors", its recurrence with another decoder (network_of), is asked for by
/// name. Throws InputError for a folder whose model PyTorch trained, and for one whose training has not ended.
std::string file_of_run(const std::string& name);

/// The beginning of the names of files from which training goes on.
inline constexpr std::string_view kCheckpointOfRun = "checkpoint-rate=";

/// The files of an old folder that must not remain beside other parameters.
std::vector<std::string_view> files_beside_parameters();

/// True if a .safetensors file holds the parameters of a model, rather than a network.
bool is_trained_model(const std::string& name);

struct TrainedSubject {
  std::string name;  ///< as the user wrote it
  TrainedModel trained;
  std::unique_ptr<Task> task;
  /// The name to print for the task: its own, where the task was made by it or is still what it says.
  std::string task_name = {};
};

/// For an imported model: how far it was held against its own forward pass, in one line for people, and for programs.
std::string forward_line(const ComparedAnswers& compared, const std::string& file = {});
nlohmann::ordered_json forward_json(const ComparedAnswers& compared);

TrainedSubject load_trained_subject(const std::string& name, const LanguageOptions& options);

/// The settings that must agree when a test is resumed.
struct TestedWords {
  std::string model;  ///< the fingerprint of the model's file
  std::string arithmetic, form;
  std::uint64_t length = 0, words = 1, seed = 1;
};

/// Writes a JSON file, whole or not at all.
void save_run(const std::string& path, const TestedWords& tested, const LongComparisonState& state);

/// Reads it back. Throws InputError naming what differs from `tested`, or what the file lacks.
LongComparisonState load_run(const std::string& path, const TestedWords& tested);

// Models that PyTorch trains: krohn's own Python package does it, in a process of its own (docs/results/rivals.md).

/// "torch:lstm,hidden=64", "torch:lstm:hidden=64".
inline constexpr std::string_view kRivalPrefix = "torch:";

/// Runs `python3 -m krohn.rivals` with these arguments, KROHN_PYTHON in place of python3 where that is set, and returns
/// its exit status. Throws InputError with what to install when that Python has no krohn.rivals; `asked` is what asked
/// for it: "--model torch:…".
int run_rivals(const std::vector<std::string>& arguments, std::string_view asked);

}  // namespace krohn
