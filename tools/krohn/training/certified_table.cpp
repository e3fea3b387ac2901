#include "tools/krohn/training/table_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <vector>

#include "krohn/automata/formats/json.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/record_set.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/closing/proof_rounds.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/prove/verify.h"
#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/train/tables/table_cell.h"
#include "krohn/simulate/train/trained_run.h"
#include "tools/krohn/models/run_folder.h"
#include "tools/krohn/report/output.h"
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
  return fmt::format("{} rate={} closing={}", description(experiment), cell.training.optimiser.learning_rate,
                     kClosingProcedure);
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
    if (last->closing.moves_numbers()) json["greatest_move"] = last->closing.moved;
    json["parts_kept"] = last->closing.kept;
    json["greatest_share"] = last->closing.share;
    json["parts_by_states"] = last->closing.by_states;
    json["parts_silenced"] = last->closing.dropped;
    json["readout_steps"] = last->closing.readout_steps;
    json["pairs"] = last->certificate.pairs;
  }
  if (!run.rounds.is_proved()) json["why_not"] = run.rounds.why_not();
  return json;
}

/// The verdicts of `krohn verify --any-order` on a cell that was trained to the end, in fp32 and in bf16.
Json regions_json(const CertifiedCell& cell, const TrainOptions& training) {
  const auto task = make_task(cell.task);
  const TrainedRun trained = train_run(*task, cell.model, training, [] { Interruption::check(); });
  Json json{{"seed", training.seed}, {"seconds", trained.record.seconds}};
  const ReadModel read = subject_of(trained_machine(*trained.model, *task, Precision::kFp32), *task);
  Question question;
  question.subject = &read;
  question.how.any_order = true;
  const auto asked = std::chrono::steady_clock::now();
  const Certificate certificate = verify(question).certificate;
  json["verdict_seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - asked).count();
  json["proved"] = certificate.is<Proved>();
  json["refuted"] = certificate.is<Refuted>();
  if (const auto* regions = std::get_if<ClosedRegions>(&certificate.proof)) {
    json["boxes"] = regions->list.size();
    json["bytes"] = format_certificate(certificate, *read.tensors).size();
    question.how.arithmetic = Precision::kBf16;
    json["proved_in_bf16"] = verify(question).certificate.is<Proved>();
  } else if (certificate.is<Refuted>()) {
    json["why_not"] = "a sampled word is wrong";
  } else {
    json["why_not"] = certificate.evidence;
  }
  return json;
}

/// One item of the list that the table is.
struct CertifiedItem {
  const CertifiedCell* cell;
  std::uint64_t seed;
};

/// Cell after cell, the runs of each next to each other.
std::vector<CertifiedItem> items_of(const std::vector<CertifiedCell>& chosen, const CertifiedTableOptions& options) {
  std::vector<CertifiedItem> items;
  for (const CertifiedCell& cell : chosen)
    for (std::uint64_t i = 0; i < options.count; ++i) items.push_back({&cell, options.first + i});
  return items;
}

/// The run of an item: its file where an earlier command or another shard wrote it, otherwise trained now.
Json make_run(const CertifiedItem& item, const CertifiedTableOptions& options) {
  const CertifiedCell& cell = *item.cell;
  const std::string trained = trained_by(cell);
  const char* const name = options.regions ? "regions" : "certified";
  const std::string file =
      (fs::path(options.folder) / fmt::format("{}-{}-seed={}.json", name, fingerprint(trained), item.seed)).string();
  if (fs::exists(file)) {
    Json kept = Json::parse(read_file(file), nullptr, false);
    const bool is_a_run = kept.is_object() && kept.value("trained", "") == trained && kept.contains("run");
    if (!is_a_run || (options.regions && kept["run"].value("proved", false) && !kept["run"].contains("proved_in_bf16")))
      throw InputError(file, fmt::format("not a run of `krohn table {}`; delete it, and it is made again", name));
    return kept["run"];
  }
  TrainOptions training = cell.training;
  training.seed = item.seed;
  Json run = options.regions ? regions_json(cell, training)
                             : run_json(item.seed, train_to_proof(*make_task(cell.task), cell.model, training,
                                                                  [] { Interruption::check(); }));
  write_file(
      file,
      json_text(
          {{"family", cell.family}, {"task", cell.task}, {"model", cell.model}, {"trained", trained}, {"run", run}}));
  return run;
}

/// All cells with their runs, each made or out of its file.
std::vector<Json> cells_of(const CertifiedTableOptions& options, const std::vector<CertifiedCell>& chosen) {
  const std::vector<CertifiedItem> items = items_of(chosen, options);
  const ListWork training{"training runs", options.threads,
                          [&](std::uint64_t item) { return make_run(items[item], options).dump(); }};
  help_with(training);
  make_folder(options.folder);
  std::vector<Json> cells;
  for (const CertifiedCell& cell : chosen) {
    cells.push_back({{"family", cell.family},
                     {"task", cell.task},
                     {"model", cell.model},
                     {"trained", trained_by(cell)},
                     {"runs", std::vector<Json>(options.count)}});
    if (!cell.note.empty()) cells.back()["note"] = cell.note;
  }
  std::vector<std::uint64_t> all(items.size());
  std::iota(all.begin(), all.end(), 0);
  work_through(training, all, LineOrder::kAsReady, [&](std::uint64_t item, const std::string& line) {
    cells[item / options.count]["runs"][item % options.count] = Json::parse(line);
  });
  return cells;
}

/// The runs of this shard, each a file in the folder.
int make_shard(const CertifiedTableOptions& options, const ShardOptions& shards,
               const std::vector<CertifiedCell>& chosen) {
  const std::vector<CertifiedItem> items = items_of(chosen, options);
  WorkList list{"table", {}, options.regions ? "regions" : "certified", {}, {}};
  for (const auto& [cell, seed] : items) {
    list.items.push_back(fmt::format("{}, {} seed={}", cell->family, trained_by(*cell), seed));
    list.costs.push_back(cost_of(cell->training));
  }
  const ListWork work{"training runs", options.threads, [&](std::uint64_t item) {
                        const CertifiedCell& cell = *items[item].cell;
                        Json line{{"family", cell.family}, {"task", cell.task}, {"model", cell.model}};
                        line.update(make_run(items[item], options));
                        return line.dump();
                      }};
  return work_in_shards({work, "training run", std::move(list), options.folder, true}, shards);
}

std::vector<std::string> row_of_regions(const Json& cell) {
  std::vector<double> boxes, milliseconds, bytes;
  std::uint64_t refuted = 0, in_bf16 = 0;
  for (const Json& run : cell["runs"]) {
    refuted += run.value("refuted", false);
    in_bf16 += run.value("proved_in_bf16", false);
    if (!run["proved"].get<bool>()) continue;
    boxes.push_back(run["boxes"].get<double>());
    bytes.push_back(run["bytes"].get<double>());
    milliseconds.push_back(1000 * run["verdict_seconds"].get<double>());
  }
  const auto median = [&](const std::vector<double>& numbers) {
    return numbers.empty() ? "" : with_thousands(static_cast<std::uint64_t>(std::llround(median_of(numbers))));
  };
  return {cell["family"].get<std::string>(),
          cell["task"].get<std::string>(),
          fmt::format("{}/{}", boxes.size(), cell["runs"].size()),
          std::to_string(in_bf16),
          refuted > 0 ? std::to_string(refuted) : "",
          median(boxes),
          median(milliseconds),
          median(bytes)};
}

std::vector<std::string> row_of(const Json& cell) {
  std::uint64_t proved = 0, as_trained = 0, by_states = 0;
  std::vector<double> steps, seconds;
  double share = 0;
  std::optional<double> moved;
  for (const Json& run : cell["runs"]) {
    seconds.push_back(run["seconds"].get<double>());
    if (!run["proved"].get<bool>()) continue;
    ++proved;
    as_trained += run["parts_kept"].get<std::uint64_t>() == 0;
    steps.push_back(run["steps"].get<double>());
    if (run.contains("greatest_move")) moved = std::max(moved.value_or(0), run["greatest_move"].get<double>());
    share = std::max(share, run["greatest_share"].get<double>());
    by_states += run["parts_by_states"].get<std::uint64_t>() > 0;
  }
  const std::size_t runs = cell["runs"].size();
  const ProportionInterval interval = confidence(static_cast<double>(proved) / static_cast<double>(runs), runs);
  return {cell["family"].get<std::string>(),
          cell["task"].get<std::string>(),
          fmt::format("{}/{}", proved, runs),
          fmt::format("{:.2f} … {:.2f}", interval.low, interval.high),
          as_trained > 0 ? std::to_string(as_trained) : "",
          proved > 0 ? with_thousands(static_cast<std::uint64_t>(std::llround(median_of(steps)))) : "",
          moved ? fmt::format("{:.2g}", *moved) : "",
          by_states > 0 ? fmt::format("{}, {:.2g}", by_states, share) : "",
          fmt::format("{:.1f}", median_of(seconds))};
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
  for (const CertifiedCell& cell : options.regions ? contracting_cells() : certified_cells())
    if (is_chosen(cell.family, cell.task, options.only)) chosen.push_back(cell);
  if (chosen.empty())
    throw InputError("--only",
                     fmt::format("no cell of this table has \"{}\" in its name, such as \"{}, {}\"", options.only,
                                 certified_cells().front().family, certified_cells().front().task));
  if (shards.any()) return make_shard(options, shards, chosen);
  const std::vector<Json> cells = cells_of(options, chosen);
  if (options.json) {
    print_json({{"cells", cells}});
    return kDone;
  }
  fmt::print(
      "{}; seeds {} to {}\n",
      options.regions
          ? "Cells proved by closed regions as they are trained, for words of every length and every order of sums"
          : "Training that ends in a proof for words of every length, fp32, letter after letter",
      options.first, options.first + options.count - 1);
  std::vector<std::vector<std::string>> rows = {{"model", "task", "proved", "95 % interval", "as trained",
                                                 "steps, median", "greatest move", "by states", "s, median"}};
  if (options.regions)
    rows = {{"model", "task", "proved", "in bf16", "refuted", "boxes, median", "ms, median", "bytes, median"}};
  for (const Json& cell : cells) rows.push_back(options.regions ? row_of_regions(cell) : row_of(cell));
  fmt::print("{}", format_table(rows));
  report_reasons(cells);
  return kDone;
}

namespace {

namespace fs = std::filesystem;

std::string figure(double value) { return fmt::format("{:.2f}", value); }

}  // namespace

std::vector<nlohmann::ordered_json> rival_cells(const RivalTable& table) {
  // Runs of other sizes would have the same files.
  const std::string kept = table.scale == "small" ? "rivals" : "rivals-" + table.scale;
  const fs::path folder = fs::path(table.folder) / kept, made = fs::path(table.folder) / (kept + ".json");
  std::vector<std::string> line{"table",   table.name,
                                "-o",      folder.string(),
                                "--only",  table.only,
                                "--scale", table.scale,
                                "--seed",  std::to_string(table.seeds.first),
                                "--seeds", std::to_string(table.seeds.count),
                                "--quiet"};
  if (table.shard) {
    line.insert(line.end(), {"--shard", fmt::format("{}/{}", table.shard->number, table.shard->count)});
  } else {
    line.insert(line.end(), {"--json", made.string()});
  }
  const int status = run_rivals(line, "--rivals");
  if (status == kInterruptedStatus) throw Interrupted("interrupted; the same command continues");
  if (status != kDone)
    throw InputError("--rivals", fmt::format("krohn.rivals ended with status {}; it said why above", status));
  if (table.shard) return {};
  const auto cells = nlohmann::ordered_json::parse(read_file(made.string()), nullptr, false);
  if (!cells.is_object() || !cells.contains("cells"))
    throw InputError(made.string(), "not the cells of krohn.rivals; is its package of this version?");
  return cells["cells"].get<std::vector<nlohmann::ordered_json>>();
}

void print_rivals(const std::vector<nlohmann::ordered_json>& cells, bool whole_words) {
  const char* const key = whole_words ? "words_right" : "scaled_accuracy";
  std::vector<std::vector<std::string>> rows{{"", "", "paper", "run of least loss", "", "runs that hold, mean, range"}};
  fmt::print("\nThe paper's rivals, trained by PyTorch and measured, nothing proved\n");
  if (cells.empty()) {
    fmt::print("  none: --only names no rival, or only those that were left out above\n");
    return;
  }
  std::string last;
  for (const auto& cell : cells) {
    const std::string row = cell["row"];
    const auto& lengths = cell["lengths"];
    const auto measured = [key](const nlohmann::ordered_json& at) {
      return fmt::format("{} at {}", figure(at[key].get<double>()), at["length"].get<std::uint64_t>());
    };
    rows.push_back({row == last ? "" : row, cell["column"],
                    cell.contains("paper") ? figure(cell["paper"].get<double>()) : "", measured(lengths.front()),
                    measured(lengths.back()), runs_in_words(cell, key)});
    last = row;
  }
  fmt::print("{}", format_table(rows));
}

}  // namespace krohn
