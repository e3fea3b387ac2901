#include "tools/krohn/training/table_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "krohn/gpu/device/device.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/tasks/tasks.h"
#include "tools/krohn/joined_ranks.h"
#include "tools/krohn/pictures/pictures.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/output.h"

namespace krohn {
namespace {

constexpr std::size_t kColumns = 120;

CellJson json_of(const MeasuredLength& at) {
  return {{"length", at.length}, {"words", at.words}, {"scaled_accuracy", at.scaled},
          {"low", at.low},       {"high", at.high},   {"words_right", at.whole}};
}

CellJson json_of(const ExperimentRun& run, double chance) {
  const RunRecord& record = run.record;
  CellJson json{{"rate", record.rate}, {"seed", record.seed},        {"steps", record.steps},
                {"end", record.end},   {"validation_loss", nullptr}, {"validation_accuracy", nullptr}};
  if (const auto accuracy = record.accuracy()) {
    json["validation_loss"] = record.validation_loss;
    json["validation_accuracy"] = scaled(*accuracy, chance);
  }
  if (run.at.words > 0) json["at"] = json_of(run.at);
  json["seconds"] = record.seconds;
  if (record.on_device) json["place"] = "device";
  return json;
}

std::string claim_of(const CellJson& cell) {
  const std::string claim = cell["claim"];
  const std::string letters = counted(cell["claim_length"].get<std::uint64_t>(), "letter");
  if (claim == "proved") return "proved";
  if (claim == "refuted") return "refuted by " + letters;
  if (claim == "proved up to a length") return "proved to " + letters;
  return shortened(claim, 40);
}

/// The figure that the paper reports: answers, or whole words.
const char* figure_of(const PaperTable& table) { return table.whole_words ? "words_right" : "scaled_accuracy"; }

/// A run that diverged answers as chance does.
std::vector<RunFigure> figures_of(const CellJson& cell, const PaperTable& table) {
  std::vector<RunFigure> figures;
  for (const auto& run : cell["runs"]) {
    const auto loss = run["validation_loss"], accuracy = run["validation_accuracy"];
    figures.push_back({run["rate"], run["seed"], run.contains("at") ? run["at"][figure_of(table)].get<double>() : 0,
                       accuracy.is_number() ? accuracy.get<double>() : 0,
                       run.contains("at") && loss.is_number() ? loss.get<double>() : INFINITY});
  }
  return figures;
}

/// The same of the lengths of training: what validated is what is reported there.
std::vector<RunFigure> validated(std::vector<RunFigure> figures) {
  for (RunFigure& figure : figures) figure.test = figure.validated;
  return figures;
}

std::string in_words(const ReportedFigure& reported) {
  return reported.spread > 0 ? fmt::format("{:.2f} ± {:.2f}", reported.figure, reported.spread)
                             : fmt::format("{:.2f}", reported.figure);
}

bool has_trained_half(const TableView& view) {
  return std::ranges::any_of(view.chosen, [](const Experiment& cell) { return cell.paper_trained.has_value(); });
}

std::string lengths_of(const Experiment& cell) {
  const LengthRange range = cell.test_lengths.value_or(LengthRange{cell.length, cell.length});
  return range.least == range.greatest ? std::to_string(range.least)
                                       : fmt::format("{}–{}", range.least, range.greatest);
}

std::string seeds_of(const TableView& view) {
  const auto [first, count] = view.seeds;
  std::string seeds = view.table.experiments.front().expected_share >= 0 ? "200 seeds"
                      : count == 1                                       ? fmt::format("one seed, {}", first)
                                   : fmt::format("seeds {} to {}", first, first + count - 1);
  if (std::ranges::any_of(view.chosen, [](const Experiment& cell) { return cell.training.samples == 2; }))
    seeds += " (for two samples, seeds that do not draw both answers are passed over)";
  return seeds;
}

/// The cells alone, so that what was left out by --only is not told of.
std::vector<std::string> differences_of(const TableView& view) {
  PaperTable here = view.table, paper = view.paper;
  if (view.chosen.size() < here.experiments.size()) {
    here.experiments = view.chosen;
    std::erase_if(paper.experiments, [&](const Experiment& cell) {
      return std::ranges::none_of(
          view.chosen, [&](const Experiment& each) { return each.row == cell.row && each.column == cell.column; });
    });
  }
  return in_words(differences(here, paper));
}

void print_protocol(const TableView& view) {
  fmt::print("  {}\n", wrapped(protocol_in_words(view), kColumns, "  "));
  for (const std::string& note : view.table.notes) fmt::print("  {}\n", wrapped(note, kColumns, "  "));
}

}  // namespace

std::string protocol_in_words(const TableView& view) {
  const std::vector<std::string> differences = differences_of(view);
  const char* const whose =
      view.recipe == "released" ? "the released code's protocol, which is not the paper's," : "the paper's protocol";
  return differences.empty() ? fmt::format("No option is other than {} at the paper's sizes has it.", whose)
                             : fmt::format("Not as {} at the paper's sizes: {}.", whose, fmt::join(differences, "; "));
}

CellJson run_json(const Experiment& cell, const ExperimentRun& run) {
  CellJson json{{"row", cell.row}, {"column", cell.column}, {"task", cell.task}, {"model", cell.model}};
  json.update(json_of(run, make_task(cell.task)->info().chance));
  return json;
}

std::uint64_t cost_of(const TrainOptions& training) {
  return training.optimiser.steps * training.words * (training.lengths.least + training.lengths.greatest);
}

CellJson options_json(const Experiment& cell) {
  CellJson json;
  for (const Setting& setting : settings(cell)) json[setting.name] = setting.value;
  return json;
}

CellJson cell_json(const Experiment& cell, const ExperimentResult& result) {
  CellJson json{{"row", cell.row},
                {"column", cell.column},
                {"task", cell.task},
                {"model", cell.model},
                {"trained", description(cell)},
                {"seeds", cell.seeds},
                {"paper_length", cell.length},
                {"options", options_json(cell)}};
  if (cell.paper) json["paper"] = *cell.paper;
  if (cell.expected_share >= 0) json["expected_share"] = cell.expected_share;
  if (cell.training.samples > 0) json["samples"] = cell.training.samples;
  const double chance = make_task(cell.task)->info().chance;
  for (const ExperimentRun& run : result.runs) json["runs"].push_back(json_of(run, chance));
  json["best"] = result.best;
  for (const MeasuredLength& at : result.lengths) json["lengths"].push_back(json_of(at));
  json["holding_runs"] = result.holding_runs();
  json["reading"] = result.reading;
  json["claim"] = result.claim;
  json["claim_length"] = result.claim_length;
  json["snapped"] = result.snapped;
  json["seconds"] = result.seconds();
  return json;
}

std::string runs_in_words(const CellJson& cell, const char* figure) {
  std::vector<double> figures;
  for (const auto& run : cell["runs"])
    if (run.contains("at")) figures.push_back(run["at"][figure].get<double>());
  const std::size_t runs = cell["runs"].size();
  const std::string text = fmt::format("{}/{}", cell["holding_runs"].get<std::uint64_t>(), runs);
  if (cell.contains("expected_share"))
    return text + fmt::format(", theory {:.3f}", cell["expected_share"].get<double>());
  if (figures.size() < 2) return text + (runs == 1 ? ", one seed" : "");
  const Spread spread = spread_of(figures);
  return text + fmt::format(", {:.2f} ± {:.2f}, {:.2f} … {:.2f}", spread.mean, spread.deviation, spread.least,
                            spread.greatest);
}

CellJson table_json(const TableView& view, const std::vector<CellJson>& cells) {
  CellJson json{{"cells", cells}, {"not_as_the_paper", differences_of(view)}, {"notes", view.table.notes}};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Experiment& asked = view.chosen[i];
    CellJson& cell = json["cells"][i];
    const std::vector<RunFigure> figures = figures_of(cell, view.table);
    const ReportedFigure reported = reported_figure(asked.reported, figures);
    cell["reported"] = {{"as", to_string(asked.reported)}, {"figure", reported.figure}, {"spread", reported.spread}};
    if (!asked.paper_trained) continue;
    const ReportedFigure trained = reported_figure(asked.reported, validated(figures));
    cell["paper_at_trained_lengths"] = *asked.paper_trained;
    cell["reported_at_trained_lengths"] = {{"figure", trained.figure}, {"spread", trained.spread}};
  }
  return json;
}

void print_table(const TableView& view, const std::vector<CellJson>& cells) {
  fmt::print("{}\n  {}; --scale {} --recipe {}; {}; {}\n", view.table.title, view.table.source, view.scale, view.recipe,
             seeds_of(view), view.table.rescaled ? "rescaled where nothing is added" : "models as trained");
  print_protocol(view);
  const bool has_half = has_trained_half(view), counts = view.table.experiments.front().expected_share < 0;
  std::vector<std::vector<std::string>> rows = {{"", ""}};
  if (has_half) rows[0].insert(rows[0].end(), {"paper, trained lengths", "here"});
  rows[0].insert(rows[0].end(), {"paper", "at"});
  if (counts) rows[0].emplace_back("here, counted as there");
  for (const std::string& length : view.lengths) rows[0].push_back(with_thousands(parse_count(length, "--lengths")));
  rows[0].emplace_back("runs that hold, mean, range");
  if (!view.table.rescaled) rows[0].insert(rows[0].end(), {"the model, in fp32", "snaps, proved, to"});
  const auto number = [](std::optional<double> figure) { return figure ? fmt::format("{:.2f}", *figure) : ""; };
  std::string row_name;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const Experiment& asked = view.chosen[c];
    const CellJson& cell = cells[c];
    const std::vector<RunFigure> figures = figures_of(cell, view.table);
    std::vector<std::string> row{asked.row == row_name ? "" : asked.row, asked.column};
    row_name = asked.row;
    if (has_half)
      row.insert(row.end(),
                 {number(asked.paper_trained), in_words(reported_figure(asked.reported, validated(figures)))});
    row.insert(row.end(), {number(asked.paper), lengths_of(asked)});
    if (counts) row.push_back(in_words(reported_figure(asked.reported, figures)));
    for (std::size_t i = 0; i < view.lengths.size(); ++i)
      row.push_back(i < cell["lengths"].size()
                        ? fmt::format("{:.2f}", cell["lengths"][i][figure_of(view.table)].get<double>())
                        : "");
    row.push_back(runs_in_words(cell, figure_of(view.table)));
    if (!view.table.rescaled) row.insert(row.end(), {claim_of(cell), cell["snapped"].get<std::string>()});
    rows.push_back(std::move(row));
  }
  fmt::print("{}", format_table(rows));
  std::uint64_t runs = 0, on_device = 0, diverged = 0;
  for (const CellJson& cell : cells)
    for (const auto& run : cell["runs"]) ++runs, on_device += run.contains("place"), diverged += !run.contains("at");
  if (on_device > 0)
    fmt::print("  {} of {} were trained on a device, where sums have another order: other last bits.\n", on_device,
               counted(runs, "run"));
  if (diverged > 0)
    fmt::print("  {} of {} diverged: mean and range leave them out{}.\n", diverged, counted(runs, "run"),
               counts ? ", and as counted there they answer by chance" : "");
  if (counts) fmt::print("  Counted as there: {}.\n", to_string(view.chosen.front().reported));
}

void plot_table(const TableView& view, const std::vector<CellJson>& cells, const std::string& path) {
  const PaperTable& table = view.table;
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
  AccuracyPicture picture{table.source, curves, table.is_curve ? LengthRange{} : view.chosen[0].training.lengths};
  if (table.is_curve) picture.x_title = "words trained on";
  if (table.whole_words) picture.y_title = "words right throughout", picture.has_chance = false;
  write_plot(accuracy_plot(picture), path);
}

namespace {

constexpr double kSecondsPerHour = 3600;

std::string hours_in_words(double hours) {
  if (hours >= 100) return with_thousands(static_cast<std::uint64_t>(hours)) + " h";
  if (hours >= 1) return fmt::format("{:.1f} h", hours);
  return hours * 60 >= 1 ? fmt::format("{:.0f} min", hours * 60) : fmt::format("{:.1f} s", hours * kSecondsPerHour);
}

std::string bytes_in_words(double bytes) {
  return bytes >= 1e9 ? fmt::format("{:.1f} GB", bytes / 1e9) : fmt::format("{:.0f} MB", std::max(1.0, bytes / 1e6));
}

}  // namespace

nlohmann::ordered_json table_estimate(std::span<const AskedCell> cells, const EstimatePlace& place) {
  Progress progress("pricing cells");
  nlohmann::ordered_json all{{"cells", nlohmann::ordered_json::array()}};
  double hours = 0, bytes = 0;
  std::uint64_t runs = 0, steps = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    progress.update(i, cells.size());
    const auto& [cell, missing, kept] = cells[i];
    nlohmann::ordered_json row{{"row", cell->row}, {"column", cell->column}, {"runs", missing}, {"kept", kept}};
    row["steps"] = cell->training.optimiser.steps;
    if (missing > 0) {
      const std::size_t beside = std::min<std::size_t>(missing, kMaxBeside);
      bool is_on_device = false;
      const auto here = [&] { return run_cost(*cell); };
      const auto there = [&] {
        RunCost cost = run_cost(*cell, beside, place.on_device);
        is_on_device = true;
        return cost;
      };
      const RunCost cost = place.on_device ? on_device(place.insists ? "cuda" : "auto", there, here) : here();
      RunCost shared = cost;  // of a run's share of the machine
      const double threads = std::min<double>(place.threads, static_cast<double>(missing));
      shared.validation /= threads;
      if (!is_on_device) shared.step /= threads;
      const double of_cell = static_cast<double>(missing) * shared.seconds(cell->training) / kSecondsPerHour;
      const double held = static_cast<double>(cost.bytes) * (is_on_device ? static_cast<double>(beside) : threads);
      row["place"] = is_on_device ? "device" : "processor";
      row["seconds_per_step"] = cost.step;
      row["hours"] = of_cell;
      row["bytes"] = held;
      hours += of_cell;
      bytes = std::max(bytes, held);
      runs += missing;
      steps += missing * cell->training.optimiser.steps;
    }
    all["cells"].push_back(std::move(row));
  }
  progress.update(cells.size(), cells.size());
  all["runs"] = runs;
  all["steps"] = steps;
  all["hours"] = hours;
  all["bytes"] = bytes;
  return all;
}

void print_estimate(const nlohmann::ordered_json& estimate, const EstimatePlace& place) {
  std::vector<std::vector<std::string>> rows{
      {"cell", "", "runs", "kept", "steps of each", "ms a step", "training", "memory", "on the"}};
  for (const auto& cell : estimate["cells"]) {
    rows.push_back({cell["row"], cell["column"], std::to_string(cell["runs"].get<std::uint64_t>()),
                    std::to_string(cell["kept"].get<std::uint64_t>()),
                    with_thousands(cell["steps"].get<std::uint64_t>())});
    if (!cell.contains("hours")) continue;
    auto& row = rows.back();
    row.push_back(fmt::format("{:.3g}", cell["seconds_per_step"].get<double>() * 1e3));
    row.push_back(hours_in_words(cell["hours"]));
    row.push_back(bytes_in_words(cell["bytes"]));
    row.push_back(cell["place"]);
  }
  fmt::print("{} left, {} steps: about {} on {}\n{}", counted(estimate["runs"].get<std::uint64_t>(), "run"),
             with_thousands(estimate["steps"].get<std::uint64_t>()), hours_in_words(estimate["hours"]),
             place.on_device ? device_name(true) : counted(place.threads, "thread"), format_table(rows));
  fmt::print(
      "  Estimated by the first steps of one run of each cell{}. A run that ends early takes less; measuring and\n"
      "  examining the models comes on top. Memory is that of the runs that are trained at a time, {} at most.\n",
      place.on_device ? ", or of those side by side" : "", bytes_in_words(estimate["bytes"]));
}

}  // namespace krohn
