#include "tools/krohn/training/certified_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "krohn/automata/formats/json.h"
#include "krohn/groups/atomic_file.h"
#include "krohn/groups/error.h"
#include "krohn/groups/interruption.h"
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
#include "tools/krohn/shards/array_script.h"
#include "tools/krohn/shards/list_work.h"
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

/// The run of one seed: its file where an earlier command or another shard wrote it, otherwise trained now.
Json make_run(const CertifiedCell& cell, const CertifiedTableOptions& options, std::uint64_t seed,
              const std::function<void()>& on_step) {
  const std::string
      trained = trained_by(cell),
      file = (fs::path(options.folder) / fmt::format("certified-{}-seed={}.json", fingerprint(trained), seed)).string();
  if (fs::exists(file)) {
    Json kept = Json::parse(read_file(file), nullptr, false);
    if (!kept.is_object() || kept.value("trained", "") != trained || !kept.contains("run"))
      throw InputError(file, "not a run of `krohn table certified`; delete it, and it is made again");
    return kept["run"];
  }
  TrainOptions training = cell.training;
  training.seed = seed;
  Json run = run_json(seed, train_to_proof(*make_task(cell.task), cell.model, training, on_step));
  write_file(
      file,
      json_text(
          {{"family", cell.family}, {"task", cell.task}, {"model", cell.model}, {"trained", trained}, {"run", run}}));
  return run;
}

Json make_cell(const CertifiedCell& cell, const CertifiedTableOptions& options, const std::string& number) {
  Progress progress(fmt::format("{}: {}, {}, steps", number, cell.family, cell.task));
  std::atomic<std::uint64_t> done = 0;
  std::vector<Json> runs(options.count);
  parallel_for(runs.size(), options.threads, [&](std::size_t i) {
    constexpr std::uint64_t kReportEvery = 64;
    runs[i] = make_run(cell, options, options.first + i, [&] {
      if (++done % kReportEvery == 0) progress.update(done, runs.size() * cell.training.optimiser.steps);
    });
  });
  Json made{{"family", cell.family},
            {"task", cell.task},
            {"model", cell.model},
            {"trained", trained_by(cell)},
            {"runs", std::move(runs)}};
  if (!cell.note.empty()) made["note"] = cell.note;
  return made;
}

/// The runs of this shard, each a file in the folder.
int make_shard(const CertifiedTableOptions& options, const ShardOptions& shards,
               const std::vector<CertifiedCell>& chosen) {
  WorkList list{"table", "krohn " KROHN_VERSION, "certified", {}, {}};
  std::vector<std::pair<const CertifiedCell*, std::uint64_t>> runs;
  for (const CertifiedCell& cell : chosen)
    for (std::uint64_t seed = options.first; seed < options.first + options.count; ++seed) {
      runs.emplace_back(&cell, seed);
      list.items.push_back(fmt::format("{}, {} seed={}", cell.family, trained_by(cell), seed));
      const TrainOptions& training = cell.training;  // letters read
      list.costs.push_back(training.optimiser.steps * training.words *
                           (training.lengths.least + training.lengths.greatest));
    }
  if (shards.slurm) return print_array_script({"table", "training run", runs.size(), options.folder, true}, shards);
  make_folder(options.folder);
  return work_on_shard(list, *shards.shard, part_in(options.folder, *shards.shard), options.threads, "training runs",
                       "run", [&](std::uint64_t item) {
                         const auto& [cell, seed] = runs[item];
                         Json line{{"family", cell->family}, {"task", cell->task}, {"model", cell->model}};
                         line.update(make_run(*cell, options, seed, [] { Interruption::check(); }));
                         return line.dump();
                       });
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

int make_certified_table(const CertifiedTableOptions& options, const ShardOptions& shards) {
  std::vector<CertifiedCell> chosen;
  for (const CertifiedCell& cell : certified_cells())
    if (fmt::format("{}, {}", cell.family, cell.task).find(options.only) != std::string::npos) chosen.push_back(cell);
  if (chosen.empty())
    throw InputError("--only",
                     fmt::format("no cell of certified has \"{}\" in its name, such as \"{}, {}\"", options.only,
                                 certified_cells().front().family, certified_cells().front().task));
  if (shards.any()) return make_shard(options, shards, chosen);
  make_folder(options.folder);
  std::vector<Json> cells;
  for (const CertifiedCell& cell : chosen)
    cells.push_back(make_cell(cell, options, fmt::format("{} of {}", cells.size() + 1, chosen.size())));
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
