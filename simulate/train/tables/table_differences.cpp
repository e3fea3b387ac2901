#include "krohn/simulate/train/tables/table_differences.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

namespace krohn {
namespace {

constexpr char kNone[] = "none";

std::string text_of(LengthRange range) {
  return range.least == range.greatest ? std::to_string(range.least)
                                       : fmt::format("{}–{}", range.least, range.greatest);
}

/// The family with all that has no value, then KEY=VALUE by KEY.
void add_model(std::string_view name, std::vector<Setting>& all) {
  const std::size_t colon = std::min(name.find(':'), name.size());
  std::string family(name.substr(0, colon));
  std::vector<Setting> parts;
  for (std::string_view rest = name.substr(std::min(colon + 1, name.size())); !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    if (const std::size_t equals = part.find('='); equals != std::string_view::npos)
      parts.push_back({std::string(part.substr(0, equals)), std::string(part.substr(equals + 1))});
    else
      family += fmt::format(" {}", part);
  }
  all.push_back({"model", std::move(family)});
  all.insert(all.end(), parts.begin(), parts.end());
}

}  // namespace

std::vector<Setting> settings(const Experiment& experiment) {
  const TrainOptions& training = experiment.training;
  const OptimiserOptions& by = training.optimiser;
  std::vector<Setting> all;
  const auto add = [&all](const char* name, const auto& value) { all.push_back({name, fmt::format("{}", value)}); };
  add("task", experiment.task);
  add_model(experiment.model, all);
  add("steps", by.steps);
  add("words of a batch", training.words);
  all.push_back({"rates", fmt::format("{}", fmt::join(experiment.rates, ", "))});
  add("samples", training.samples);
  add("samples of all seeds", training.sample_seed ? "the same" : "their own");
  add("lengths", text_of(training.lengths));
  add("schedule", to_string(by.schedule));
  add("warm-up", by.warm_up);
  add("least rate", by.least_rate);
  add("weight decay", by.weight_decay);
  add("coupled decay", by.coupled_decay);
  add("clip", by.clip);
  add("smoothing", training.smoothing);
  add("stop at", training.stop_at);
  add("patience", training.patience);
  add("keep most right", training.keep_most_right ? "yes" : "no");
  add("validate every", training.validate_every);
  add("validation lengths", text_of(training.validation_lengths.value_or(training.lengths)));
  add("validation words", training.validation_words);
  add("validate last", training.validate_last ? "yes" : "no");
  add("test task", experiment.test_task.empty() ? experiment.task : experiment.test_task);
  add("test lengths", text_of(experiment.test_lengths.value_or(LengthRange{experiment.length, experiment.length})));
  add("test words", experiment.words);
  return all;
}

TableDifferences differences(const PaperTable& here, const PaperTable& paper) {
  std::map<std::pair<std::string, std::string>, const Experiment*> of_paper;
  for (const Experiment& cell : paper.experiments) of_paper[{cell.row, cell.column}] = &cell;
  TableDifferences result;
  const auto add = [&result](const std::string& name, const std::string& before, const std::string& now) {
    for (Difference& each : result.settings)
      if (each.name == name && each.paper == before && each.here == now) return void(++each.cells);
    result.settings.push_back({name, before, now, 1});
  };
  for (const Experiment& cell : here.experiments) {
    const auto found = of_paper.find({cell.row, cell.column});
    if (found == of_paper.end()) {
      ++result.added;
      continue;
    }
    ++result.shared;
    const std::vector<Setting> now = settings(cell), before = settings(*found->second);
    const auto value_in = [](const std::vector<Setting>& all, const std::string& name) {
      const auto at = std::ranges::find(all, name, &Setting::name);
      return at == all.end() ? std::string(kNone) : at->value;
    };
    for (const Setting& each : before)
      if (const std::string value = value_in(now, each.name); value != each.value) add(each.name, each.value, value);
    for (const Setting& each : now)
      if (value_in(before, each.name) == kNone && each.value != kNone) add(each.name, kNone, each.value);
  }
  if (here.rescaled != paper.rescaled)
    result.settings.push_back(
        {"states rescaled at the test", paper.rescaled ? "yes" : "no", here.rescaled ? "yes" : "no", result.shared});
  result.left_out = of_paper.size() - result.shared;
  std::ranges::stable_sort(result.settings, std::ranges::greater{}, &Difference::cells);
  return result;
}

std::vector<std::string> in_words(const TableDifferences& differences) {
  std::vector<std::string> words;
  for (const Difference& each : differences.settings) {
    const std::string where =
        each.cells == differences.shared ? "" : fmt::format(" ({} of {} cells)", each.cells, differences.shared);
    words.push_back(fmt::format("{} {} → {}{}", each.name, each.paper, each.here, where));
  }
  const auto are = [](std::uint64_t count) { return count == 1 ? "is" : "are"; };
  const std::uint64_t out = differences.left_out, added = differences.added;
  if (out > 0) words.push_back(fmt::format("{} of its cells {} left out", out, are(out)));
  if (added > 0) words.push_back(fmt::format("{} of these cells {} not the paper's", added, are(added)));
  return words;
}

}  // namespace krohn
