#include "tools/krohn/training/certified_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <vector>

#include "krohn/automata/formats/json.h"
#include "krohn/groups/atomic_file.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/arithmetic/parallel_for.h"
#include "krohn/simulate/closing/certified_cells.h"
#include "krohn/simulate/closing/proof_rounds.h"
#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/train/tables/table_cell.h"
#include "tools/krohn/models/saved_run.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/count.h"
#include "tools/krohn/report/json_output.h"
#include "tools/krohn/report/table.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kColumns = 110;

std::string trained_by(const CertifiedCell& cell) {
  Experiment experiment;
  experiment.task = cell.task;
  experiment.model = cell.model;
  experiment.training = cell.training;
  return fmt::format("{} rate={}", description(experiment), cell.training.optimiser.learning_rate);
}

Json run_json(std::uint64_t seed, const CertifiedRun& run) {
  Json json{{"seed", seed},
            {"proved", run.rounds.is_proved()},
            {"steps", run.record.steps},
            {"rounds", run.rounds.count()},
            {"validation_right", run.record.right},
            {"validation_answers", run.record.targets},
            {"seconds", run.record.seconds}};
  if (const auto& last = run.rounds.last()) {
    json["greatest_move"] = last->closing.moved;
    json["parts_kept"] = last->closing.kept;
    json["parts_silenced"] = last->closing.dropped;
    json["readout_steps"] = last->closing.readout_steps;
    json["pairs"] = last->certificate.pairs;
  }
  if (!run.rounds.is_proved()) json["why_not"] = run.rounds.why_not();
  return json;
}

/// Of a file that an earlier command wrote; empty where there is none.
Json kept_cell(const std::string& file, const std::string& trained) {
  if (!fs::exists(file)) return {};
  Json cell = Json::parse(read_file(file), nullptr, false);
  if (!cell.is_object() || cell.value("trained", "") != trained || !cell.contains("runs"))
    throw InputError(file, "not a cell of `krohn table certified`; delete it, and it is made again");
  return cell;
}

/// The runs of the seeds, those kept and those made now.
Json run_cell(const CertifiedCell& cell, const CertifiedTableOptions& options, const std::string& number) {
  const std::string trained = trained_by(cell),
                    file = (fs::path(options.folder) / fmt::format("certified-{}.json", fingerprint(trained))).string();
  Json kept = kept_cell(file, trained);
  std::map<std::uint64_t, Json> runs;
  if (kept.is_object())
    for (const Json& run : kept["runs"]) runs.emplace(run["seed"].get<std::uint64_t>(), run);
  std::vector<std::uint64_t> missing;
  for (std::uint64_t seed = options.first; seed < options.first + options.count; ++seed)
    if (!runs.contains(seed)) missing.push_back(seed);
  const auto task = make_task(cell.task);
  Progress progress(fmt::format("{}: {}, {}, steps", number, cell.family, cell.task));
  std::atomic<std::uint64_t> done = 0;
  std::vector<Json> made(missing.size());
  parallel_for(missing.size(), options.threads, [&](std::size_t i) {
    constexpr std::uint64_t kReportEvery = 64;
    TrainOptions training = cell.training;
    training.seed = missing[i];
    made[i] = run_json(missing[i], train_to_proof(*task, cell.model, training, [&] {
                         if (++done % kReportEvery == 0)
                           progress.update(done, missing.size() * training.optimiser.steps);
                       }));
  });
  for (std::size_t i = 0; i < missing.size(); ++i) runs.emplace(missing[i], std::move(made[i]));
  Json all{{"family", cell.family}, {"task", cell.task}, {"model", cell.model}, {"trained", trained}};
  for (const auto& [seed, run] : runs) all["runs"].push_back(run);
  if (!missing.empty()) write_file(file, json_text(all));
  Json asked = all;
  asked["runs"] = Json::array();
  for (std::uint64_t seed = options.first; seed < options.first + options.count; ++seed)
    asked["runs"].push_back(runs.at(seed));
  if (!cell.note.empty()) asked["note"] = cell.note;
  return asked;
}

double median(std::vector<double> figures) {
  if (figures.empty()) return 0;
  std::ranges::sort(figures);
  return figures[figures.size() / 2];
}

std::vector<std::string> row_of(const Json& cell) {
  std::uint64_t proved = 0;
  std::vector<double> steps, seconds;
  double moved = 0;
  for (const Json& run : cell["runs"]) {
    seconds.push_back(run["seconds"].get<double>());
    if (!run["proved"].get<bool>()) continue;
    ++proved;
    steps.push_back(run["steps"].get<double>());
    moved = std::max(moved, run["greatest_move"].get<double>());
  }
  const ProportionInterval interval = confidence(proved, cell["runs"].size());
  return {cell["family"].get<std::string>(),
          cell["task"].get<std::string>(),
          fmt::format("{}/{}", proved, cell["runs"].size()),
          fmt::format("{:.2f} … {:.2f}", interval.low, interval.high),
          proved > 0 ? with_thousands(static_cast<std::uint64_t>(median(steps))) : "",
          proved > 0 ? fmt::format("{:.2g}", moved) : "",
          fmt::format("{:.1f}", median(seconds))};
}

/// Why runs are not proved, each reason with the number of runs.
void report_reasons(const std::vector<Json>& cells) {
  for (const Json& cell : cells) {
    std::map<std::string, int> reasons;
    for (const Json& run : cell["runs"])
      if (run.contains("why_not")) ++reasons[run["why_not"].get<std::string>()];
    for (const auto& [reason, count] : reasons)
      fmt::print("  {}\n", wrapped(fmt::format("{}, {}: {} × {}", cell["family"].get<std::string>(),
                                               cell["task"].get<std::string>(), count, reason),
                                   kColumns, "    "));
    if (cell.contains("note") && !reasons.empty())
      fmt::print("    {}\n", wrapped(cell["note"].get<std::string>(), kColumns, "    "));
  }
}

}  // namespace

int make_certified_table(const CertifiedTableOptions& options) {
  std::vector<CertifiedCell> chosen;
  for (const CertifiedCell& cell : certified_cells())
    if (fmt::format("{}, {}", cell.family, cell.task).find(options.only) != std::string::npos) chosen.push_back(cell);
  if (chosen.empty())
    throw InputError("--only",
                     fmt::format("no cell of certified has \"{}\" in its name, such as \"{}, {}\"", options.only,
                                 certified_cells().front().family, certified_cells().front().task));
  make_folder(options.folder);
  std::vector<Json> cells;
  for (const CertifiedCell& cell : chosen)
    cells.push_back(run_cell(cell, options, fmt::format("{} of {}", cells.size() + 1, chosen.size())));
  if (options.json) {
    print_json({{"cells", cells}});
    return kDone;
  }
  fmt::print("Training that ends in a proof for words of every length, fp32, letter after letter; seeds {} to {}\n",
             options.first, options.first + options.count - 1);
  std::vector<std::vector<std::string>> rows = {
      {"model", "task", "proved", "95 % interval", "steps, median", "greatest move", "s, median"}};
  for (const Json& cell : cells) rows.push_back(row_of(cell));
  fmt::print("{}", format_table(rows));
  report_reasons(cells);
  return kDone;
}

}  // namespace krohn
