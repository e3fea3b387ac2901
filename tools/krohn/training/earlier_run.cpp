#include "tools/krohn/training/earlier_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/atomic_file.h"
#include "krohn/groups/error.h"

namespace krohn {

void require_same_run(const TrainArguments& options, const std::string& task, const std::string& model,
                      std::span<const RateAndSeed> runs) {
  using nlohmann::json;
  namespace fs = std::filesystem;
  const fs::path folder(options.output), record = folder / "run.json";
  if (!fs::exists(folder / "parameters.safetensors")) return;
  const auto refuse = [&](const std::string& what) {
    throw InputError("-o",
                     fmt::format("{} {}; choose another folder, or delete this one", visible(options.output), what));
  };
  if (!fs::exists(record)) refuse("has a model, and no run.json that says of what");
  try {
    const json earlier = json::parse(read_file(record.string()));
    const auto earlier_task = earlier.at("task").get<std::string>(),
               earlier_model = earlier.at("model").get<std::string>();
    if (earlier_task != task || earlier_model != model)
      refuse(fmt::format("has a model of another command, {} on {}", visible(earlier_model), visible(earlier_task)));
    for (const json& run : earlier.at("runs")) {
      const RateAndSeed of{run.at("rate").get<double>(), run.at("seed").get<std::uint64_t>()};
      if (!std::ranges::count(runs, of))
        refuse(
            fmt::format("has a run of rate {} and seed {}, which this command is without: name it too, by --rates, "
                        "--seed and --seeds",
                        of.first, of.second));
      if (!options.certify && run.contains("certified") && run["certified"].at("proved").get<bool>())
        refuse("has a model that is proved, in place of which this command would leave one that is not: add --certify");
    }
  } catch (const json::exception&) {
    refuse("has a run.json that `krohn train` did not write");
  }
}

}  // namespace krohn
