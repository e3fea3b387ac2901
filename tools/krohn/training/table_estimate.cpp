#include "tools/krohn/training/table_estimate.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/gpu/device/device.h"
#include "krohn/groups/base/messages.h"
#include "tools/krohn/on_device.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/table.h"

namespace krohn {
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
      const std::size_t beside = std::min<std::size_t>(missing, kMostBeside);
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
      "  By the first steps of one run of each cell{}. A run that ends early takes less; measuring and examining the\n"
      "  models comes on top. Memory is that of the runs that are trained at a time, {} at most.\n",
      place.on_device ? ", or of those side by side" : "", bytes_in_words(estimate["bytes"]));
}

}  // namespace krohn
