// krohn table — a table of a paper, trained from scratch, next to the paper's numbers.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "krohn/automata/formats/json.h"
#include "krohn/groups/atomic_file.h"
#include "krohn/groups/error.h"
#include "krohn/groups/interruption.h"
#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/train/tables/paper_tables.h"
#include "tools/krohn/models/saved_run.h"
#include "tools/krohn/pictures/accuracy_plot.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/count.h"
#include "tools/krohn/report/json_output.h"
#include "tools/krohn/report/table.h"
#include "tools/krohn/shards/array_script.h"
#include "tools/krohn/shards/list_work.h"
#include "tools/krohn/shards/shard_options.h"
#include "tools/krohn/training/certified_table.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

namespace fs = std::filesystem;

constexpr VerbHelp kTableHelp = {
    "table", "A paper's table, trained from scratch, next to the paper's numbers",
    "table NAME -o FOLDER [--seeds N] [--seed S] [--scale small] [--recipe steady] [--only TEXT] [--plot curves.svg]",
    R"(
krohn table ebrahimi2 --only 'H = 2' --lengths 400 -o parity-by-chance/
)",
    R"(Trains every model of the table in this process with --seeds seeds from --seed on, measures it at --lengths, and says what
holds: how many of the runs are right on every test word of the paper's length, their mean, standard deviation and range
there, what is proved or refuted in fp32 (with how many letters) of the run with the least validation loss, and which
construction that run snaps to with a proof for all lengths. The columns of lengths are about that run too; no test score
chooses one. Accuracies and claims are of the models as trained; --rescaled measures another function, as `krohn eval`
does, and claims nothing.

--recipe hard trains on hard targets at a constant rate, near to what the papers do (docs/training.md lists what differs);
steady with small first weights, smoothed targets and a cosine schedule, which is what makes recurrences hold (docs/MATH.md
§8), and was looked for with seeds below 20. --scale small is for two cores, paper for a large machine. Accuracies are scaled:
0 is chance, 1 is perfect; those of grazzi-figure2 are the share of words whose answers are all right.

Every cell is kept as a file in FOLDER, next to a folder with the model of every run (for `krohn eval`), and the same command
continues after those that are there. --examine-again measures the kept models again, without training.

A table is a list of runs, cells times seeds: with --shard I/N a machine of many trains its share, into the same FOLDER or
one of its own, and whoever finishes the last run of a cell measures the cell. The same command without --shard then does
what is left, which is to print the table. --slurm prints a script that does all of it.

  ebrahimi1, ebrahimi2, ebrahimi2-additive, ebrahimi3, ebrahimi-figure2   Ebrahimi & Memisevic 2025
  fan2                                                                   Fan et al. 2024
  grazzi5, grazzi-figure2                                                Grazzi et al. 2025
  certified                    how often `krohn train --certify` ends in a proof, by family and task
Exit status: 0 done, 2 bad input, 130 interrupted; the same command continues.
)"};

constexpr char kCertified[] = "certified";

struct TableArguments {
  std::string name, output, scale = "small", recipe = "steady", only, plot;
  std::vector<std::string> lengths;
  SeedRange seeds;
  ShardOptions shards;
  unsigned threads = 0;
  bool again = false, rescaled = false, json = false;
};

nlohmann::ordered_json cell_json(const MeasuredLength& at) {
  return {{"length", at.length}, {"words", at.words}, {"scaled_accuracy", at.scaled},
          {"low", at.low},       {"high", at.high},   {"words_right", at.whole}};
}

nlohmann::ordered_json cell_json(const ExperimentRun& run, double chance) {
  const RunRecord& record = run.record;
  nlohmann::ordered_json json{
      {"rate", record.rate},
      {"seed", record.seed},
      {"steps", record.steps},
      {"end", record.end},
      {"validation_loss", record.validation_loss},
      {"validation_accuracy",
       scaled(static_cast<double>(record.right) / static_cast<double>(std::max<std::uint64_t>(record.targets, 1)),
              chance)}};
  if (run.at.words > 0) json["at"] = cell_json(run.at);
  json["seconds"] = record.seconds;
  return json;
}

nlohmann::ordered_json cell_json(const Experiment& cell, const ExperimentResult& result) {
  nlohmann::ordered_json json{{"row", cell.row},
                              {"column", cell.column},
                              {"task", cell.task},
                              {"model", cell.model},
                              {"trained", description(cell)},
                              {"seeds", cell.seeds},
                              {"paper_length", cell.length}};
  if (cell.paper) json["paper"] = *cell.paper;
  if (cell.expected_share >= 0) json["expected_share"] = cell.expected_share;
  if (cell.training.samples > 0) json["samples"] = cell.training.samples;
  const double chance = make_task(cell.task)->info().chance;
  for (const ExperimentRun& run : result.runs) json["runs"].push_back(cell_json(run, chance));
  json["best"] = result.best;
  for (const MeasuredLength& at : result.lengths) json["lengths"].push_back(cell_json(at));
  json["holding_runs"] = result.holding_runs();
  json["reading"] = result.reading;
  json["claim"] = result.claim;
  json["claim_length"] = result.claim_length;
  json["snapped"] = result.snapped;
  json["seconds"] = result.seconds();
  return json;
}

/// The name of a cell's file and folder tells cells apart that are trained otherwise; runs of other seeds are kept
/// beside each other.
std::string place_of(const TableArguments& options, const Experiment& cell) {
  const std::string trained = fmt::format("{} {}", description(cell), fmt::join(cell.rates, ","));
  return (fs::path(options.output) / fmt::format("{}-{}", options.name, fingerprint(trained))).string();
}

std::string claim_of(const nlohmann::ordered_json& cell) {
  const std::string claim = cell["claim"];
  const std::string letters = with_thousands(cell["claim_length"].get<std::uint64_t>());
  if (claim == "proved") return "proved";
  if (claim == "refuted") return fmt::format("refuted by {} letters", letters);
  if (claim == "proved up to a length") return fmt::format("proved to {} letters", letters);
  return shortened(claim, 40);
}

/// The figure that the paper reports: answers, or whole words.
const char* figure_of(const PaperTable& table) { return table.whole_words ? "words_right" : "scaled_accuracy"; }

/// How many hold, then mean ± deviation and range over the runs that did not diverge, at the paper's length.
std::string runs_of(const nlohmann::ordered_json& cell, const PaperTable& table) {
  std::vector<double> figures;
  for (const auto& run : cell["runs"])
    if (run.contains("at")) figures.push_back(run["at"][figure_of(table)].get<double>());
  std::string text = fmt::format("{}/{}", cell["holding_runs"].get<std::uint64_t>(), cell["runs"].size());
  if (cell.contains("expected_share"))
    return text + fmt::format(", theory {:.3f}", cell["expected_share"].get<double>());
  const Spread spread = spread_of(figures);
  if (figures.size() < 2) return text + (cell["runs"].size() == 1 ? ", one seed" : "");
  return text + fmt::format(", {:.2f} ± {:.2f}, {:.2f} … {:.2f}", spread.mean, spread.deviation, spread.least,
                            spread.greatest);
}

std::string seeds_of(const PaperTable& table, const TableArguments& options) {
  if (table.experiments.front().expected_share >= 0) return "200 seeds";
  const auto [first, count] = options.seeds;
  return count == 1 ? fmt::format("one seed, {}", first) : fmt::format("seeds {} to {}", first, first + count - 1);
}

void report_table(const PaperTable& table, const TableArguments& options,
                  const std::vector<nlohmann::ordered_json>& cells) {
  fmt::print("{}\n  {}; --scale {} --recipe {}; {}; {}\n", table.title, table.source, options.scale, options.recipe,
             seeds_of(table, options), options.rescaled ? "rescaled where nothing is added" : "models as trained");
  std::vector<std::vector<std::string>> rows = {{"", "", "paper", "at"}};
  for (const std::string& length : options.lengths) rows[0].push_back(with_thousands(parse_count(length, "--lengths")));
  rows[0].emplace_back("runs that hold, mean, range");
  if (!options.rescaled) rows[0].insert(rows[0].end(), {"the model, in fp32", "snaps, proved, to"});
  std::string row_name;
  for (const auto& cell : cells) {
    const std::string name = cell["row"];
    std::vector<std::string> row{name == row_name ? "" : name, cell["column"],
                                 cell.contains("paper") ? fmt::format("{:.2f}", cell["paper"].get<double>()) : "",
                                 std::to_string(cell["paper_length"].get<std::uint64_t>())};
    row_name = name;
    for (std::size_t i = 0; i < options.lengths.size(); ++i)
      row.push_back(
          i < cell["lengths"].size() ? fmt::format("{:.2f}", cell["lengths"][i][figure_of(table)].get<double>()) : "");
    row.push_back(runs_of(cell, table));
    if (!options.rescaled) row.insert(row.end(), {claim_of(cell), cell["snapped"].get<std::string>()});
    rows.push_back(std::move(row));
  }
  fmt::print("{}", format_table(rows));
}

/// A curve of every model by length, or of every row by its numbers of samples.
std::vector<AccuracyCurve> curves_of(const PaperTable& table, const std::vector<nlohmann::ordered_json>& cells) {
  std::vector<AccuracyCurve> curves;
  for (const auto& cell : cells) {
    const std::string row = cell["row"];
    if (!table.is_curve) {
      curves.push_back({row + ", " + cell["column"].get<std::string>(), {}});
    } else if (curves.empty() || curves.back().name != row) {
      curves.push_back({row, {}});
    }
    for (const auto& at : cell["lengths"]) {
      const double value = at[figure_of(table)];
      const std::uint64_t x = table.is_curve ? cell["samples"] : at["length"];
      // Wilson's interval is kept of answers alone.
      const bool has_interval = !table.whole_words;
      curves.back().points.push_back(
          {x, value, has_interval ? at["low"].get<double>() : value, has_interval ? at["high"].get<double>() : value});
      if (table.is_curve) break;
    }
  }
  return curves;
}

void table_plot(const PaperTable& table, const TableArguments& options,
                const std::vector<nlohmann::ordered_json>& cells, LengthRange trained) {
  AccuracyPicture picture{table.source, curves_of(table, cells), table.is_curve ? LengthRange{} : trained};
  if (table.is_curve) picture.x_title = "words trained on";
  if (table.whole_words) picture.y_title = "words right throughout", picture.has_chance = false;
  write_plot(accuracy_plot(picture), options.plot);
}

ExperimentOptions experiment_options(const TableArguments& options, const std::string& place) {
  ExperimentOptions run;
  run.lengths.clear();
  for (const std::string& length : options.lengths) run.lengths.push_back(parse_count(length, "--lengths"));
  run.rescaled = options.rescaled;
  run.threads = options.threads;
  run.folder = place;
  return run;
}

/// Makes the cell and its file. `number` says which of how many, for people to wait by; empty: nobody waits.
nlohmann::ordered_json make_cell(const Experiment& cell, const TableArguments& options, const std::string& number) {
  const std::string place = place_of(options, cell);
  ExperimentOptions run = experiment_options(options, place);
  make_folder(place);
  std::optional<Progress> progress;
  if (!number.empty()) {
    progress.emplace(fmt::format("{}: training {}, {}, steps", number, cell.row, cell.column));
    run.progress = [&progress](std::uint64_t done, std::uint64_t all) { progress->update(done, all); };
  }
  nlohmann::ordered_json made = cell_json(cell, run_experiment(cell, run));
  made["asked_for"] = options.lengths;
  made["is_rescaled"] = options.rescaled;
  write_file(place + ".json", json_text(made));
  return made;
}

/// The cell's file, or nothing where it has to be made: it is of other seeds, or was measured otherwise.
std::optional<nlohmann::ordered_json> kept_cell(const std::string& file, const Experiment& asked,
                                                const TableArguments& options) {
  if (!fs::exists(file)) return std::nullopt;
  const auto cell = nlohmann::ordered_json::parse(read_file(file), nullptr, false);
  if (!cell.is_object() || !cell.contains("seconds"))
    throw InputError(file, "not a cell of `krohn table`; delete it, and it is made again");
  if (cell.value("asked_for", std::vector<std::string>{}) != options.lengths) return std::nullopt;
  if (cell.value("is_rescaled", false) != options.rescaled || !cell.contains("reading")) return std::nullopt;
  if (cell.value("seeds", std::vector<std::uint64_t>{}) != asked.seeds) return std::nullopt;
  return cell;
}

std::vector<std::string> default_lengths(const PaperTable& table, const Experiment& first) {
  if (table.lengths.empty()) return {std::to_string(first.length), "1e4", "1e6"};
  std::vector<std::string> lengths;
  for (const std::uint64_t length : table.lengths) lengths.push_back(std::to_string(length));
  return lengths;
}

/// One item of the list that a table is.
struct TableRun {
  const Experiment* cell;
  double rate;
  std::uint64_t seed;
};

bool has_all_runs(const Experiment& cell, const std::string& place) {
  for (const double rate : cell.rates)
    for (const std::uint64_t seed : cell.seeds)
      if (!fs::exists(model_path(place, rate, seed))) return false;
  return true;
}

nlohmann::ordered_json run_json(const TableRun& run, const ExperimentRun& result) {
  nlohmann::ordered_json json{
      {"row", run.cell->row}, {"column", run.cell->column}, {"task", run.cell->task}, {"model", run.cell->model}};
  json.update(cell_json(result, make_task(run.cell->task)->info().chance));
  return json;
}

/// The runs of this shard, each a model in its cell's folder; cells that are complete are examined here and now, while
/// other shards still train.
int train_shard(const TableArguments& options, const std::vector<Experiment>& chosen) {
  std::vector<TableRun> runs;
  WorkList list{"table",
                "krohn " KROHN_VERSION,
                fmt::format("{} --scale {} --recipe {}{}", options.name, options.scale, options.recipe,
                            options.rescaled ? " --rescaled" : ""),
                {},
                {}};
  for (const Experiment& cell : chosen)
    for (const double rate : cell.rates)
      for (const std::uint64_t seed : cell.seeds) {
        runs.push_back({&cell, rate, seed});
        list.items.push_back(
            fmt::format("{}, {}: {} rate={} seed={}", cell.row, cell.column, description(cell), rate, seed));
        const TrainOptions& training = cell.training;  // letters read; a model's size is not known before it is made
        list.costs.push_back(training.optimiser.steps * training.words *
                             (training.lengths.least + training.lengths.greatest));
      }
  if (options.shards.slurm)
    return print_array_script({"table", "training run", runs.size(), options.output, true}, options.shards);
  make_folder(options.output);
  return work_on_shard(list, *options.shards.shard, part_in(options.output, *options.shards.shard), options.threads,
                       "training runs", "run", [&](std::uint64_t item) {
                         const TableRun& run = runs[item];
                         const std::string place = place_of(options, *run.cell);
                         make_folder(place);
                         ExperimentOptions experiment = experiment_options(options, place);
                         experiment.threads = 1;  // the runs share the threads out
                         experiment.progress = [](std::uint64_t, std::uint64_t) { Interruption::check(); };
                         const std::string line =
                             run_json(run, run_once(*run.cell, run.rate, run.seed, experiment)).dump();
                         if (has_all_runs(*run.cell, place) && !kept_cell(place + ".json", *run.cell, options))
                           make_cell(*run.cell, options, {});
                         return line;
                       });
}

int make_table(TableArguments options) {
  if (options.seeds.count == 0) throw InputError("--seeds", "at least one");
  if (options.name == kCertified)
    return make_certified_table(
        {options.output, options.only, options.seeds.first, options.seeds.count, options.threads, options.json},
        options.shards);
  if (!options.plot.empty()) require_plot_name(options.plot);
  if (options.again && options.shards.any())
    throw InputError("--examine-again", "is for the whole table, without --shard or --slurm");
  const PaperTable table = paper_table(options.name, options.scale == "paper" ? TableScale::kPaper : TableScale::kSmall,
                                       options.recipe == "hard" ? Recipe::kHard : Recipe::kSteady, options.seeds);
  std::vector<Experiment> chosen;
  for (const Experiment& cell : table.experiments)
    if (fmt::format("{}, {}", cell.row, cell.column).find(options.only) != std::string::npos) chosen.push_back(cell);
  if (chosen.empty())
    throw InputError("--only", fmt::format("no cell of {} has \"{}\" in its name, such as \"{}, {}\"", options.name,
                                           options.only, table.experiments[0].row, table.experiments[0].column));
  if (options.lengths.empty()) options.lengths = default_lengths(table, chosen[0]);
  if (options.shards.any()) return train_shard(options, chosen);
  make_folder(options.output);
  std::vector<nlohmann::ordered_json> cells;
  for (const Experiment& cell : chosen) {
    std::optional<nlohmann::ordered_json> kept = kept_cell(place_of(options, cell) + ".json", cell, options);
    if (!kept || options.again)
      kept = make_cell(cell, options, fmt::format("{} of {}", cells.size() + 1, chosen.size()));
    cells.push_back(std::move(*kept));
  }
  if (!options.plot.empty()) table_plot(table, options, cells, chosen[0].training.lengths);
  if (options.json)
    print_json({{"cells", cells}});
  else
    report_table(table, options, cells);
  return kDone;
}

}  // namespace

void add_table(CLI::App& app, Work& chosen) {
  const auto options = std::make_shared<TableArguments>();
  Verb verb = add_verb(app, kTableHelp);
  std::vector<std::string> names = paper_table_names();
  names.emplace_back(kCertified);
  verb.add_option("NAME", options->name, "The table").one_of(names).required();
  verb.add_option("-o,--output", options->output, "The folder that keeps the cells").type_name("FOLDER").required();
  verb.add_option("--scale", options->scale, "Sizes and steps").one_of({"small", "paper"}).show_default();
  verb.add_option("--recipe", options->recipe, "How models are trained").one_of({"steady", "hard"}).show_default();
  verb.add_option("--only", options->only, "Cells whose row and column have this text").type_name("TEXT");
  verb.add_option("--lengths", options->lengths, "Lengths to measure at; without it the paper's and longer ones")
      .separated_by(',')
      .type_name("N,…");
  verb.add_option("--plot", options->plot, "Draw the curves").type_name("FILE.svg|.png|.pdf");
  verb.add_flag("--rescaled", options->rescaled, "Keep the norm of linear states, as a paper does at inference");
  verb.add_flag("--examine-again", options->again, "Measure and examine the kept models again, without training");
  add_count(verb, "--seeds", options->seeds.count, "Runs of every cell; ebrahimi2 has 200 of its own");
  add_count(verb, "--seed", options->seeds.first, "Seed of the first run");
  add_threads(verb, options->threads);
  add_json_flag(verb, options->json);
  add_shard_options(verb, options->shards);
  verb.callback([options, &chosen] {
    options->shards.check();
    chosen = [options] { return make_table(*options); };
  });
}

}  // namespace krohn
