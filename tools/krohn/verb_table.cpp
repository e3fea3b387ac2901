// krohn table — a table of a paper, done anew, beside the paper's numbers.

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>

#include "automata/json.h"
#include "groups/atomic_file.h"
#include "groups/error.h"
#include "simulate/paper_tables.h"
#include "tools/krohn/count.h"
#include "tools/krohn/json_output.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/saved_run.h"
#include "tools/krohn/table.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

namespace fs = std::filesystem;

constexpr VerbHelp kHelp = {
    "table", "A table of a paper, trained anew beside the paper's numbers",
    "table NAME -o FOLDER [--scale small] [--recipe steady] [--only TEXT]",
    R"(
krohn table ebrahimi2 --only 'H = 2' --lengths 400 -o parity-by-chance/
)",
    R"(Trains every model of the table in this process, measures it at --lengths, and says what holds: the accuracy beside the
paper's number, what is proved or refuted of the model in fp32 (with how many letters), and which construction it snaps
to with a proof for all lengths. Every cell is kept as a file in FOLDER, and the same command goes on after those that are
there. --recipe paper trains as the paper says, as far as --scale lets it; steady trains with small first weights,
smoothed targets and a cosine schedule, which is what makes linear recurrences hold (docs/MATH.md §8). --scale small is
for two cores, paper for a large machine. Accuracies are scaled: 0 is chance, 1 is perfect.

NAME is one of ebrahimi1, ebrahimi2, ebrahimi3.
Exit status: 0 done, 2 bad input, 130 interrupted, to be gone on with.
)"};

struct Options {
  std::string name, output, scale = "small", recipe = "steady", only;
  std::vector<std::string> lengths;
  unsigned threads = 0;
  bool json = false;
};

nlohmann::ordered_json to_json(const Experiment& cell, const ExperimentResult& result) {
  nlohmann::ordered_json json{{"row", cell.row},
                              {"column", cell.column},
                              {"task", cell.task},
                              {"model", cell.model},
                              {"paper_length", cell.length}};
  if (cell.paper) json["paper"] = *cell.paper;
  if (cell.expected_share >= 0) json["expected_share"] = cell.expected_share;
  json["rate"] = result.rate;
  json["seed"] = result.seed;
  json["steps"] = result.steps;
  json["end"] = result.end;
  json["validation_loss"] = result.validation_loss;
  json["validation_accuracy"] = result.validation_accuracy;
  for (const MeasuredLength& at : result.lengths)
    json["lengths"].push_back({{"length", at.length},
                               {"words", at.words},
                               {"scaled_accuracy", at.scaled},
                               {"low", at.low},
                               {"high", at.high}});
  json["holding_runs"] = result.holding_runs;
  json["runs"] = result.runs;
  json["claim"] = result.claim;
  json["claim_length"] = result.claim_length;
  json["snapped"] = result.snapped;
  json["seconds"] = result.seconds;
  return json;
}

/// The file of a cell: its name tells cells apart that are trained or measured otherwise.
std::string file_of(const Options& options, const Experiment& cell) {
  const TrainOptions& t = cell.training;
  const std::string all =
      fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}", cell.task, cell.model, fmt::join(cell.rates, ","),
                  fmt::join(cell.seeds, ","), t.optimiser.steps, t.words, t.lengths.least, t.lengths.greatest,
                  t.samples, t.smoothing, t.stop_at, fmt::join(options.lengths, ","));
  return (fs::path(options.output) / fmt::format("{}-{}.json", options.name, fingerprint(all))).string();
}

std::string claim_of(const nlohmann::ordered_json& cell) {
  const std::string claim = cell["claim"];
  const std::string letters = with_thousands(cell["claim_length"].get<std::uint64_t>());
  if (claim == "proved") return "proved";
  if (claim == "refuted") return fmt::format("refuted by {} letters", letters);
  if (claim == "proved up to a length") return fmt::format("proved to {} letters", letters);
  return shortened(claim, 40);
}

void report(const PaperTable& table, const Options& options, const std::vector<nlohmann::ordered_json>& cells) {
  fmt::print("{}\n  {}; --scale {} --recipe {}\n", table.title, table.source, options.scale, options.recipe);
  std::vector<std::vector<std::string>> rows = {{"", "", "paper", "at"}};
  for (const std::string& length : options.lengths) rows[0].push_back(with_thousands(parse_count(length, "--lengths")));
  for (const char* title : {"runs that hold", "the model, in fp32", "snaps, proved, to"}) rows[0].emplace_back(title);
  std::string row_name;
  for (const auto& cell : cells) {
    const std::string name = cell["row"];
    std::vector<std::string> row{name == row_name ? "" : name, cell["column"],
                                 cell.contains("paper") ? fmt::format("{:.2f}", cell["paper"].get<double>()) : "",
                                 std::to_string(cell["paper_length"].get<std::uint64_t>())};
    row_name = name;
    for (std::size_t i = 0; i < options.lengths.size(); ++i)
      row.push_back(
          i < cell["lengths"].size() ? fmt::format("{:.2f}", cell["lengths"][i]["scaled_accuracy"].get<double>()) : "");
    std::string runs =
        fmt::format("{}/{}", cell["holding_runs"].get<std::uint64_t>(), cell["runs"].get<std::uint64_t>());
    if (cell.contains("expected_share")) runs += fmt::format(", theory {:.3f}", cell["expected_share"].get<double>());
    row.push_back(runs);
    row.push_back(claim_of(cell));
    row.push_back(cell["snapped"]);
    rows.push_back(std::move(row));
  }
  fmt::print("{}", format_table(rows));
}

nlohmann::ordered_json run_cell(const Experiment& cell, const Options& options, const std::string& place) {
  ExperimentOptions run;
  run.lengths.clear();
  for (const std::string& length : options.lengths) run.lengths.push_back(parse_count(length, "--lengths"));
  run.threads = options.threads;
  Progress progress(fmt::format("{}: training {}, {}, steps", place, cell.row, cell.column));
  run.progress = [&progress](std::uint64_t done, std::uint64_t all) { progress.update(done, all); };
  return to_json(cell, run_experiment(cell, run));
}

int make_table(Options options) {
  const PaperTable table = paper_table(options.name, options.scale == "paper" ? TableScale::kPaper : TableScale::kSmall,
                                       options.recipe == "paper" ? Recipe::kPaper : Recipe::kSteady);
  std::vector<Experiment> chosen;
  for (const Experiment& cell : table.experiments)
    if (fmt::format("{}, {}", cell.row, cell.column).find(options.only) != std::string::npos) chosen.push_back(cell);
  if (chosen.empty())
    throw InputError("--only", fmt::format("no cell of {} has \"{}\" in its name, such as \"{}, {}\"", options.name,
                                           options.only, table.experiments[0].row, table.experiments[0].column));
  if (options.lengths.empty()) options.lengths = {std::to_string(chosen[0].length), "1e4", "1e6"};
  make_folder(options.output);
  std::vector<nlohmann::ordered_json> cells;
  for (const Experiment& cell : chosen) {
    const std::string file = file_of(options, cell);
    if (!fs::exists(file))
      write_file(file, json_text(run_cell(cell, options, fmt::format("{} of {}", cells.size() + 1, chosen.size()))));
    cells.push_back(nlohmann::ordered_json::parse(read_file(file), nullptr, false));
    if (!cells.back().is_object() || !cells.back().contains("seconds"))
      throw InputError(file, "not a cell of `krohn table`; delete it, and it is made anew");
  }
  if (options.json)
    print_json(cells);
  else
    report(table, options, cells);
  return kDone;
}

}  // namespace

void add_table(CLI::App& app, Work& chosen) {
  const auto options = std::make_shared<Options>();
  Verb verb = add_verb(app, kHelp);
  verb.add_option("NAME", options->name, "The table").one_of(paper_table_names()).required();
  verb.add_option("-o,--output", options->output, "The folder that keeps the cells").type_name("FOLDER").required();
  verb.add_option("--scale", options->scale, "Sizes and steps").one_of({"small", "paper"}).show_default();
  verb.add_option("--recipe", options->recipe, "How models are trained").one_of({"steady", "paper"}).show_default();
  verb.add_option("--only", options->only, "Cells whose row and column have this text").type_name("TEXT");
  verb.add_option("--lengths", options->lengths, "Lengths to measure at; the paper's, 10^4 and 10^6 without it")
      .separated_by(',')
      .type_name("N,…");
  add_threads(verb, options->threads);
  add_json_flag(verb, options->json);
  verb.callback([options, &chosen] { chosen = [options] { return make_table(*options); }; });
}

}  // namespace krohn
