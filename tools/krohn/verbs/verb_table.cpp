// krohn table — a table of a paper, trained from scratch, next to the paper's numbers.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <thread>

#include "krohn/automata/formats/json.h"
#include "krohn/gpu/device/device.h"
#include "krohn/gpu/training/device_training.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/record_set.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/learned/spectrum.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/train/tables/paper_tables.h"
#include "tools/krohn/joined_ranks.h"
#include "tools/krohn/pictures/pictures.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/shards/list_work.h"
#include "tools/krohn/training/table_report.h"
#include "tools/krohn/training/training_job.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

namespace fs = std::filesystem;

constexpr char kCertified[] = "certified", kRegions[] = "regions", kAngles[] = "ebrahimi-figure3";

struct TableArguments {
  std::string name, output, scale = "small", recipe = "steady", only, plot, device = "cpu";
  std::string cells_of;  ///< the table whose runs these are
  std::vector<std::string> lengths;
  SeedRange seeds;
  ShardOptions shards;
  unsigned threads = 0;
  bool again = false, rescaled = false, as_trained = false, rivals = false, estimate = false, json = false;
};

/// The name of a cell's file and folder tells cells apart that are trained otherwise; runs of other seeds are kept
/// beside each other.
std::string place_of(const TableArguments& options, const Experiment& cell) {
  const std::string trained = fmt::format("{} {}", description(cell), fmt::join(cell.rates, ","));
  return (fs::path(options.output) / fmt::format("{}-{}", options.cells_of, fingerprint(trained))).string();
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

/// Makes the cell and its file.
CellJson make_cell(const Experiment& cell, const TableArguments& options) {
  const std::string place = place_of(options, cell);
  ExperimentOptions run = experiment_options(options, place);
  make_folder(place);
  run.progress = [](std::uint64_t, std::uint64_t) { Interruption::check(); };
  CellJson made = cell_json(cell, run_experiment(cell, run));
  made["asked_for"] = options.lengths;
  made["is_rescaled"] = options.rescaled;
  write_file(place + ".json", json_text(made));
  return made;
}

/// Throws json::exception unless a cell has all that reports read.
void require_members(const CellJson& cell) {
  for (const char* name : {"row", "column", "holding_runs", "claim", "claim_length", "snapped"}) (void)cell.at(name);
  for (const CellJson& at : cell.value("lengths", CellJson::array()))
    for (const char* name : {"length", "scaled_accuracy", "low", "high", "words_right"}) (void)at.at(name);
  for (const CellJson& run : cell.at("runs")) {
    for (const char* name : {"rate", "seed", "validation_loss", "validation_accuracy"}) (void)run.at(name);
    if (run.contains("at"))
      for (const char* name : {"scaled_accuracy", "words_right"}) (void)run["at"].at(name);
  }
  (void)cell["runs"].at(cell.at("best").get<std::size_t>());
}

/// The cell's file, or nothing where it has to be made: it is of other seeds, or was measured otherwise, or does not
/// say how.
std::optional<CellJson> kept_cell(const std::string& file, const Experiment& asked, const TableArguments& options) {
  if (!fs::exists(file)) return std::nullopt;
  const std::string text = read_file(file);
  const char* const refusal = "not a cell of `krohn table`; delete it, and it is made again";
  if (!parse_strict_json(text, file).contains("seconds")) throw InputError(file, refusal);
  const auto cell = CellJson::parse(text);  // in its own order
  if (cell.value("asked_for", std::vector<std::string>{}) != options.lengths) return std::nullopt;
  if (cell.value("is_rescaled", false) != options.rescaled || !cell.contains("reading")) return std::nullopt;
  if (cell.value("seeds", std::vector<std::uint64_t>{}) != asked.seeds) return std::nullopt;
  if (cell.value("options", CellJson()) != options_json(asked)) return std::nullopt;
  try {
    require_members(cell);
  } catch (const nlohmann::json::exception&) {
    throw InputError(file, refusal);
  }
  return cell;
}

Recipe recipe_of(const std::string& name) {
  if (name == "paper") return Recipe::kPaper;
  if (name == "normalised") return Recipe::kNormalised;
  return name == "released" ? Recipe::kReleased : Recipe::kSteady;
}

/// The planes of the run with the least validation loss whose read-out weighs most, as Figure 3 has them.
void report_angles(const TableArguments& options, const Experiment& cell, const CellJson& made, CellJson& json) {
  constexpr std::size_t kPlanes = 20;
  constexpr std::uint32_t kModulus = 10;
  const CellJson& best = made["runs"][made["best"].get<std::size_t>()];
  const std::string path = model_path(place_of(options, cell), best["rate"], best["seed"]);
  std::vector<RotationPlane> planes = rotation_planes(*load_model(path).model);
  const std::size_t all = planes.size();
  planes.resize(std::min(all, kPlanes));
  std::vector<std::string> letters;
  for (std::uint32_t letter = 0; letter < kModulus; ++letter) letters.push_back(std::to_string(letter));
  std::vector<PlanePanel> panels;
  std::vector<std::vector<std::string>> rows{{"plane", "read-out", "harmonic"}};
  for (const RotationPlane& plane : planes) {
    const double harmonic = plane.harmonic(kModulus);
    PlanePanel& panel =
        panels.emplace_back(PlanePanel{fmt::format("plane {}, harmonic {:.3f}", plane.plane, harmonic), {}, {}});
    for (std::uint32_t letter = 0; letter < kModulus; ++letter) {
      const double turn = plane.turns[letter] - std::round(plane.turns[letter]);
      panel.learned.push_back(turn);
      panel.exact.push_back(std::round(turn * kModulus) / kModulus);
    }
    rows.push_back(
        {std::to_string(plane.plane), fmt::format("{:.3f}", plane.readout), fmt::format("{:.3f}", harmonic)});
    if (options.json)
      json["planes"].push_back(
          {{"plane", plane.plane}, {"readout", plane.readout}, {"harmonic", harmonic}, {"turns", plane.turns}});
  }
  if (!options.json)
    fmt::print("  {} of {} planes by the norm of their read-out, of the run with rate {}, seed {}:\n{}", planes.size(),
               all, best["rate"].get<double>(), best["seed"].get<std::uint64_t>(), format_table(rows));
  if (!options.plot.empty())
    write_plot(planes_plot(fmt::format("{}: {}", cell.task, cell.model), letters, panels), options.plot);
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

std::vector<TableRun> runs_of(std::span<const Experiment> cells) {
  std::vector<TableRun> runs;
  for (const Experiment& cell : cells)
    for (const double rate : cell.rates)
      for (const std::uint64_t seed : cell.seeds) runs.push_back({&cell, rate, seed});
  return runs;
}

bool has_model(const TableArguments& options, const TableRun& run) {
  return fs::exists(model_path(place_of(options, *run.cell), run.rate, run.seed));
}

bool has_all_models(const TableArguments& options, const Experiment& cell) {
  return std::ranges::all_of(runs_of({&cell, 1}), [&](const TableRun& run) { return has_model(options, run); });
}

/// A run by itself, in the folder of its cell, which is made: the runs share the threads out.
ExperimentOptions run_options(const TableArguments& options, const Experiment& cell) {
  const std::string place = place_of(options, cell);
  make_folder(place);
  ExperimentOptions run = experiment_options(options, place);
  run.threads = 1;
  run.progress = [](std::uint64_t, std::uint64_t) { Interruption::check(); };
  return run;
}

/// The runs of this shard, each a model in its cell's folder; cells that are complete are examined here and now, while
/// other shards still train.
int train_shard(const TableArguments& options, const std::vector<Experiment>& chosen) {
  const std::vector<TableRun> runs = runs_of(chosen);
  WorkList list{"table",
                {},
                fmt::format("{} --scale {} --recipe {}{}", options.cells_of, options.scale, options.recipe,
                            options.rescaled ? " --rescaled" : ""),
                {},
                {}};
  for (const auto& [cell, rate, seed] : runs) {
    list.items.push_back(
        fmt::format("{}, {}: {} rate={} seed={}", cell->row, cell->column, description(*cell), rate, seed));
    list.costs.push_back(cost_of(cell->training));
  }
  const ListWork work{
      "training runs", options.threads, [&](std::uint64_t item) {
        const auto& [cell, rate, seed] = runs[item];
        const std::string line = run_json(*cell, run_once(*cell, rate, seed, run_options(options, *cell))).dump();
        if (has_all_models(options, *cell) && !kept_cell(place_of(options, *cell) + ".json", *cell, options))
          make_cell(*cell, options);
        return line;
      }};
  return work_in_shards({work, "training run", std::move(list), options.output, true}, options.shards);
}

/// Ends what is printed, or `json`, with the rivals that were asked for.
int report_rivals(const std::vector<CellJson>& rivals, const TableArguments& options, const PaperTable& table,
                  CellJson json) {
  if (options.json) {
    if (options.rivals) json["rivals"] = rivals;
    print_json(json);
  } else if (options.rivals) {
    print_rivals(rivals, table.whole_words);
  }
  return kDone;
}

const TrainSideBySide kOnDevice = [](std::span<Trainer* const> trainers, const auto& progress) {
  train_side_by_side(Place::kDevice, trainers, progress);
};

/// The runs that have no model yet, a cell at a time, of all cells that a device trains.
void train_on_device(const TableArguments& options, const std::vector<Experiment>& chosen) {
  for (const Experiment& cell : chosen) {
    if (has_all_models(options, cell)) continue;
    Progress progress(fmt::format("training {}, {} on the device, steps", cell.row, cell.column));
    ExperimentOptions run = run_options(options, cell);
    run.progress = [&](std::uint64_t done, std::uint64_t all) { progress.update(done, all); };
    on_device(
        options.device, [&] { train_together(cell, run, kOnDevice); }, [] {});
  }
}

int estimate_table(const TableArguments& options, const std::vector<Experiment>& chosen) {
  std::vector<AskedCell> asked;
  for (const Experiment& cell : chosen) {
    const std::vector<TableRun> runs = runs_of({&cell, 1});
    const auto kept = static_cast<std::uint64_t>(
        std::ranges::count_if(runs, [&](const auto& run) { return has_model(options, run); }));
    asked.push_back({&cell, runs.size() - kept, kept});
  }
  EstimatePlace place{options.threads != 0 ? options.threads : std::thread::hardware_concurrency(),
                      options.device == "cuda"};
  if (wants_cuda(options.device)) place.on_device = kOnDevice;
  const CellJson estimate = table_estimate(asked, place);
  if (options.json)
    print_json(estimate);
  else
    print_estimate(estimate, place);
  return kDone;
}

/// All cells, kept or made: first every run that has no model yet is trained, then every cell that is not kept is
/// measured and examined.
std::vector<CellJson> cells_of(const TableArguments& options, const std::vector<Experiment>& chosen) {
  const std::vector<TableRun> runs = runs_of(chosen);
  const ListWork training{"training runs", options.threads, [&](std::uint64_t item) {
                            const auto& [cell, rate, seed] = runs[item];
                            train_once(*cell, rate, seed, run_options(options, *cell));
                            return std::string("{}");
                          }};
  // Cells that are fewer than the threads share them out, each at least one.
  TableArguments shared = options;
  const unsigned threads = options.threads != 0 ? options.threads : std::thread::hardware_concurrency();
  shared.threads = std::max(1U, threads / static_cast<unsigned>(chosen.size()));
  const ListWork examining{
      "examining cells", options.threads, [&](std::uint64_t item) {
        const Experiment& cell = chosen[item];
        if (!has_all_models(options, cell))
          throw SystemError(fmt::format(
              "{}: models of \"{}, {}\" are not there; it has to be one folder for all processes of the job",
              place_of(options, cell), cell.row, cell.column));
        return make_cell(cell, shared).dump();
      }};
  if (wants_cuda(options.device) && (!has_ranks() || has_helpers())) train_on_device(options, chosen);
  help_with(training);
  help_with(examining);
  make_folder(options.output);
  std::vector<std::optional<CellJson>> cells;
  std::vector<std::uint64_t> untrained, unexamined;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    cells.push_back(options.again ? std::nullopt
                                  : kept_cell(place_of(options, chosen[i]) + ".json", chosen[i], options));
    if (!cells[i]) unexamined.push_back(i);
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const bool is_kept = cells[static_cast<std::size_t>(runs[i].cell - chosen.data())].has_value();
    if (!is_kept && !has_model(options, runs[i])) untrained.push_back(i);
  }
  work_through(training, untrained, LineOrder::kAsReady, [](std::uint64_t, const std::string&) {});
  work_through(examining, unexamined, LineOrder::kAsReady,
               [&](std::uint64_t item, const std::string& line) { cells[item] = CellJson::parse(line); });
  std::vector<CellJson> made;
  for (auto& cell : cells) made.push_back(std::move(*cell));
  return made;
}

int make_table(TableArguments options) {
  options.shards.check();
  check_seeds(options.seeds.count);
  const bool is_helping = has_ranks() && !has_helpers();
  const bool is_unnamed = options.output.empty();
  if (is_unnamed) options.output = options.name;
  const auto say_where = [&] {
    if (is_unnamed && !is_helping)
      fmt::print(stderr, "krohn: the cells are kept in {}/; -o FOLDER names another\n", options.output);
  };
  if (options.name == kCertified || options.name == kRegions) {
    if (options.rivals) throw InputError("--rivals", "this table has none");
    if (options.scale != "small") throw InputError("--scale", "the cells of this table have one size each");
    if (recipe_of(options.recipe) != Recipe::kSteady)
      throw InputError("--recipe", "the cells of this table have one recipe, steady");
    const auto refuse = [&](bool is_given, const char* option) {
      if (is_given)
        throw InputError(option, options.name + " has no accuracies to measure or draw, and keeps no models");
    };
    refuse(!options.plot.empty(), "--plot");
    refuse(!options.lengths.empty(), "--lengths");
    refuse(options.rescaled, "--rescaled");
    refuse(options.as_trained, "--as-trained");
    refuse(options.again, "--examine-again");
    refuse(options.estimate, "--estimate");
    if (wants_cuda(options.device)) throw InputError("--device", "certified training rounds on the processor");
    say_where();
    return make_certified_table({options.name == kRegions, options.output, options.only, options.seeds.first,
                                 options.seeds.count, options.threads, options.json},
                                options.shards);
  }
  if (!options.plot.empty()) require_plot_name(options.plot);
  if (options.again && options.shards.any())
    throw InputError("--examine-again", "is for the whole table, without --shard or --slurm");
  if (options.shards.any() && options.device != "cpu" && wants_cuda(options.device))
    throw InputError("--device", "a device trains the runs of a cell side by side; --shard is for processors");
  if (options.shards.any() && options.estimate)
    throw InputError("--estimate", "is for the whole table, without --shard or --slurm");
  if (options.rescaled && options.as_trained) throw InputError("--as-trained", "is the other one than --rescaled");
  const ChangedScale scale = parse_scale(options.scale);
  options.scale = to_string(scale);
  const Recipe recipe = recipe_of(options.recipe);
  TableView view{paper_table(options.name, scale.scale, recipe, options.seeds),
                 paper_table(options.name, TableScale::kPaper,
                             recipe == Recipe::kReleased ? Recipe::kReleased : Recipe::kPaper, options.seeds),
                 {},
                 options.scale,
                 options.recipe,
                 {},
                 options.seeds};
  PaperTable& table = view.table;
  options.cells_of = table.cells_of.empty() ? table.name : table.cells_of;
  options.rescaled = table.rescaled = options.rescaled || (table.rescaled && !options.as_trained);
  std::vector<Experiment>& chosen = view.chosen;
  for (const Experiment& cell : table.experiments)
    if (is_chosen(cell.row, cell.column, options.only)) chosen.push_back(cell);
  if (!chosen.empty())
    change_sizes(scale, paper_table(options.name, TableScale::kPaper, recipe, options.seeds), chosen);
  if (chosen.size() == table.experiments.size()) table.experiments = chosen;
  if (!options.estimate) say_where();
  std::vector<CellJson> rivals;
  if (options.rivals && !options.estimate && !options.shards.slurm && !is_helping)
    rivals =
        rival_cells({options.name, options.output, options.only, options.scale, options.seeds, options.shards.shard});
  if (chosen.empty() && options.rivals && options.shards.shard) return kDone;
  if (chosen.empty() && options.rivals && options.shards.slurm)
    throw InputError("--slurm", fmt::format("an array is of krohn's own runs, and no cell of {} that krohn trains has "
                                            "\"{}\" in its name; rivals alone are shared out by --shard 1/N to N/N",
                                            options.name, options.only));
  if (chosen.empty() && rivals.empty())
    throw InputError("--only", fmt::format("no cell of {} has \"{}\" in its name, such as \"{}, {}\"", options.name,
                                           options.only, table.experiments[0].row, table.experiments[0].column));
  if (chosen.empty()) return report_rivals(rivals, options, table, CellJson::object());
  for (const std::string& length : options.lengths)
    if (parse_count(length, "--lengths") == 0) throw InputError("--lengths", "lengths are 1 and up");
  if (options.lengths.empty()) options.lengths = default_lengths(table, chosen[0]);
  view.lengths = options.lengths;
  if (options.estimate) return estimate_table(options, chosen);
  if (options.shards.any()) return train_shard(options, chosen);
  const std::vector<CellJson> cells = cells_of(options, chosen);
  const bool has_angles = options.name == kAngles;
  if (!options.plot.empty() && !has_angles) plot_table(view, cells, options.plot);
  CellJson json = options.json ? table_json(view, cells) : CellJson();
  if (!options.json) print_table(view, cells);
  if (has_angles) report_angles(options, chosen.front(), cells.front(), json);
  return report_rivals(rivals, options, table, std::move(json));
}

}  // namespace

Work add_table(Verb& verb) {
  const auto options = std::make_shared<TableArguments>();
  std::vector<std::string> names = paper_table_names();
  names.emplace_back(kCertified);
  names.emplace_back(kRegions);
  verb.add_option("NAME", options->name, "The table").one_of(names).required();
  verb.add_option("-o,--output", options->output, "The folder that keeps the cells; without it NAME")
      .type_name("FOLDER");
  verb.add_option("--scale", options->scale, "Sizes and steps; with single ones changed: paper,steps=8000")
      .suggests({"small", "paper"})
      .show_default();
  verb.add_option("--recipe", options->recipe, "How models are trained")
      .one_of({"steady", "paper", "released", "normalised"});
  verb.add_option("--only", options->only,
                  "Cells whose row and column have this text, or end with it where it ends with $")
      .type_name("TEXT");
  verb.add_list("--lengths", options->lengths, "Lengths to measure at; without it the paper's and longer ones")
      .type_name("N,…");
  verb.add_option("--plot", options->plot, "Draw the curves").type_name("FILE.svg|.png|.pdf");
  verb.add_flag("--rescaled", options->rescaled, "Keep the norm of linear states, as a paper does at inference");
  verb.add_flag("--as-trained", options->as_trained, "Measure the models themselves where the recipe rescales");
  verb.add_flag("--examine-again", options->again, "Measure and examine the kept models again, without training");
  verb.add_flag("--rivals", options->rivals, "Train the models that the paper compares with, too, in PyTorch");
  verb.add_flag("--estimate", options->estimate,
                "Runs, steps, hours and memory on this machine, by the first steps of every cell; trains nothing else");
  add_device(verb, options->device, "Where runs are trained: on a device those of a cell side by side");
  add_count(verb, "--seeds", options->seeds.count, "Runs of every cell; ebrahimi2 has 200 of its own");
  add_count(verb, "--seed", options->seeds.first, "Seed of the first run");
  add_threads(verb, options->threads);
  add_json_flag(verb, options->json);
  add_shard_options(verb, options->shards);
  return [options] { return make_table(*options); };
}

}  // namespace krohn
