#include "tools/krohn/training/rival_table.h"

#include <fmt/format.h>

#include <filesystem>

#include "krohn/groups/atomic_file.h"
#include "krohn/groups/error.h"
#include "tools/krohn/models/rival_process.h"
#include "tools/krohn/report/table.h"
#include "tools/krohn/training/table_report.h"
#include "tools/krohn/verb.h"

namespace krohn {
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
