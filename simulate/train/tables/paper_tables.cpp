#include "krohn/simulate/train/tables/paper_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/tasks/tasks.h"

namespace krohn {
namespace {

struct Named {
  const char* name;
  PaperTable (*table)(TableScale, Recipe);
};

constexpr std::array<Named, 13> kTables{{{"ebrahimi1", ebrahimi1},
                                         {"ebrahimi2", ebrahimi2},
                                         {"ebrahimi2-additive", ebrahimi2_additive},
                                         {"ebrahimi2-parity", ebrahimi2_parity},
                                         {"ebrahimi3", ebrahimi3},
                                         {"ebrahimi-figure2", ebrahimi_figure2},
                                         {"ebrahimi-figure3", ebrahimi_figure3},
                                         {"fan2", fan2},
                                         {"grazzi3", grazzi3},
                                         {"grazzi5", grazzi5},
                                         {"grazzi-figure2", grazzi_figure2},
                                         {"grazzi-figure5", grazzi_figure5},
                                         {"grazzi-figure6", grazzi_figure6}}};

/// Whose code was released.
constexpr std::string_view kWithCode = "fan2";
/// Whose recurrence is trained.
constexpr std::array<std::string_view, 5> kNormalisable{"ebrahimi1", "ebrahimi2-additive", "ebrahimi3",
                                                        "ebrahimi-figure2", "ebrahimi-figure3"};

/// The recipes of a table, as a sentence has them.
std::string recipes_of(std::string_view name) {
  std::vector<std::string> recipes = {"steady", "paper"};
  if (name == kWithCode) recipes.emplace_back("released");
  if (std::ranges::find(kNormalisable, name) != kNormalisable.end()) recipes.emplace_back("normalised");
  const std::string last = recipes.back();
  recipes.pop_back();
  return fmt::format("{} and {}", fmt::join(recipes, ", "), last);
}

std::vector<std::uint64_t> seeds_of(const Experiment& cell, SeedRange range) {
  if (cell.training.samples == 2) return seeds_with_both_answers(cell, range.first, range.count);
  std::vector<std::uint64_t> seeds;
  for (std::uint64_t i = 0; i < range.count; ++i) seeds.push_back(range.first + i);
  return seeds;
}

}  // namespace

std::vector<std::string> paper_table_names() {
  std::vector<std::string> names;
  for (const Named& each : kTables) names.emplace_back(each.name);
  return names;
}

PaperTable paper_table(std::string_view name, TableScale scale, Recipe recipe, SeedRange seeds) {
  for (const Named& each : kTables)
    if (name == each.name) {
      if (recipe == Recipe::kReleased && name != kWithCode)
        throw InputError("--recipe", fmt::format("released is for {}, whose code does otherwise than the paper says; "
                                                 "of {} there are {}",
                                                 kWithCode, name, recipes_of(name)));
      if (recipe == Recipe::kNormalised && std::ranges::find(kNormalisable, name) == kNormalisable.end())
        throw InputError("--recipe", fmt::format("normalised is for {}; of {} there are {}",
                                                 fmt::join(kNormalisable, ", "), name, recipes_of(name)));
      PaperTable table = each.table(scale, recipe);
      table.name = each.name;
      for (Experiment& cell : table.experiments)
        if (cell.expected_share < 0) cell.seeds = seeds_of(cell, seeds);
      return table;
    }
  throw InputError(fmt::format("table \"{}\" is not known; there are {}", name, fmt::join(paper_table_names(), ", ")));
}

std::vector<std::uint64_t> seeds_with_both_answers(const Experiment& cell, std::uint64_t from, std::uint64_t count) {
  const auto task = make_task(cell.task);
  std::vector<std::uint64_t> seeds;
  for (std::uint64_t seed = from; seeds.size() < count; ++seed) {
    const TrainingBatch batch = draw_batch(*task, cell.training.lengths, seed, 0, 2);
    if (batch.targets[0].label != batch.targets[1].label) seeds.push_back(seed);
  }
  return seeds;
}

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

namespace {

constexpr char kWhat[] = "--scale", kPapers[] = "paper", kRates[] = "rates", kSteps[] = "steps", kWarmUp[] = "warm-up",
               kSamples[] = "samples", kWidth[] = "width", kChannels[] = "channels";
constexpr std::array kWidths{kWidth, "hidden", "size"};

using Cells = std::vector<Experiment>;

/// The number that all of `text` spells, above 0.
double number_of(const std::string& name, std::string_view text) {
  const auto value = number_in<double>(text);
  if (!value || !std::isfinite(*value) || *value <= 0)
    throw InputError(kWhat, fmt::format("{}={}: a number above 0, or \"{}\", is expected", name, text, kPapers));
  return *value;
}

/// All numbers of a list, "1e-3,1e-4".
std::vector<double> numbers_of(const Setting& setting) {
  std::vector<double> numbers;
  for (std::size_t begin = 0; begin < setting.value.size();) {
    const std::size_t end = std::min(setting.value.find(',', begin), setting.value.size());
    numbers.push_back(number_of(setting.name, std::string_view(setting.value).substr(begin, end - begin)));
    begin = end + 1;
  }
  return numbers;
}

std::uint64_t count_of(const std::string& name, std::string_view text, double most) {
  const double value = number_of(name, text);
  if (value != std::floor(value) || value > most)
    throw InputError(kWhat, fmt::format("{}={}: a whole number up to {:.0f} is expected", name, text, most));
  return static_cast<std::uint64_t>(value);
}

// ---- Options

constexpr double kMaxCount = 1e15, kMaxWords = 1e9;

using Place = std::variant<double*, std::uint32_t*, std::uint64_t*>;

/// An option that is a number.
struct Option {
  const char* name;
  double most;  ///< 0: it is no count
  Place (*place)(Experiment&);

  double of(Experiment cell) const {
    return std::visit([](auto* number) { return static_cast<double>(*number); }, place(cell));
  }
  void set(Experiment& cell, double value) const {
    std::visit([=](auto* number) { *number = static_cast<std::remove_pointer_t<decltype(number)>>(value); },
               place(cell));
  }
};

constexpr std::array<Option, 8> kOptions{{
    {kSteps, kMaxCount, [](Experiment& cell) -> Place { return &cell.training.optimiser.steps; }},
    {kWarmUp, kMaxCount, [](Experiment& cell) -> Place { return &cell.training.optimiser.warm_up; }},
    {"words", kMaxWords, [](Experiment& cell) -> Place { return &cell.training.words; }},
    {kSamples, kMaxCount, [](Experiment& cell) -> Place { return &cell.training.samples; }},
    {"weight-decay", 0, [](Experiment& cell) -> Place { return &cell.training.optimiser.weight_decay; }},
    {"validate-every", kMaxCount, [](Experiment& cell) -> Place { return &cell.training.validate_every; }},
    {"validation-words", kMaxWords, [](Experiment& cell) -> Place { return &cell.training.validation_words; }},
    {"test-words", kMaxWords, [](Experiment& cell) -> Place { return &cell.words; }},
}};

const Option* option_named(std::string_view name) {
  const auto found = std::ranges::find(kOptions, name, &Option::name);
  return found == kOptions.end() ? nullptr : found;
}

// ---- Parts of models

/// Where the value of `key` stands in a model's name, "diagonal:signed,width=32"; nothing where it is left out.
std::optional<std::pair<std::size_t, std::size_t>> place_of(const std::string& model, const std::string& key) {
  for (std::size_t begin = model.find(':'); begin != std::string::npos; begin = model.find(',', begin + 1)) {
    const std::size_t value = begin + 1 + key.size() + 1;
    if (model.compare(begin + 1, key.size() + 1, key + "=") == 0)
      return std::pair(value, std::min(model.find(',', value), model.size()) - value);
  }
  return std::nullopt;
}

std::optional<std::string> part_of(const std::string& model, const std::string& key) {
  const auto place = place_of(model, key);
  return place ? std::optional(model.substr(place->first, place->second)) : std::nullopt;
}

void set_part(std::string& model, const std::string& key, const std::string& value) {
  if (const auto place = place_of(model, key)) model.replace(place->first, place->second, value);
}

/// So that the model has what its family does without it.
void leave_out_part(std::string& model, const std::string& key) {
  const auto place = place_of(model, key);
  if (!place) return;
  const std::size_t begin = place->first - key.size() - 1, end = place->first + place->second;
  if (end < model.size())
    model.erase(begin, end + 1 - begin);
  else
    model.erase(begin - 1);  // the comma or colon before the last part
}

std::string_view family_of(std::string_view model) { return model.substr(0, model.find(':')); }

/// The numbers in models' names.
std::set<std::string> parts_of(const Cells& cells) {
  std::set<std::string> keys;
  for (const Experiment& cell : cells)
    for (const Setting& setting : settings(cell))
      if (const auto value = part_of(cell.model, setting.name); value && number_in<double>(*value))
        keys.insert(setting.name);
  return keys;
}

/// The name of the model's width; empty where it has none.
std::string width_of(const std::string& model) {
  for (const char* const key : kWidths)
    if (part_of(model, key)) return key;
  return "";
}

/// The size of the blocks that a recurrence consists of.
double block_of(const std::string& model) {
  if (model.find(":rotations") != std::string::npos) return 2;
  const auto block = part_of(model, "block");
  return block ? std::stod(*block) : 1;
}

// ---- Changing

std::set<std::string> names_of(const Cells& cells, const PaperTable& paper) {
  std::set<std::string> names = parts_of(cells);
  names.insert(kRates);
  for (const Option& option : kOptions)
    if (option.name != std::string_view(kSamples) ||
        std::ranges::any_of(paper.experiments, [](const Experiment& cell) { return cell.training.samples > 0; }))
      names.insert(option.name);
  if (std::ranges::any_of(cells, [](const Experiment& cell) { return !width_of(cell.model).empty(); }))
    names.insert(kWidth);
  return names;
}

/// A size by which the paper's cells differ, or by which their seeds were chosen, cannot be one number for all.
void require_size(const std::string& name, const PaperTable& paper) {
  std::set<std::string> values;
  for (const Experiment& cell : paper.experiments) {
    if (name == kSamples)
      values.insert(std::to_string(cell.training.samples));
    else if (const auto value = part_of(cell.model, name == kWidth ? width_of(cell.model) : name))
      values.insert(name == kWidth ? fmt::format("{} {}", width_of(cell.model), *value) : *value);
    if (name == kSamples && cell.expected_share >= 0) values.insert("theory's");
  }
  std::set<std::string> kinds;  // of a width, which has one value for each of its names
  for (const std::string& value : values) kinds.insert(name == kWidth ? value.substr(0, value.find(' ')) : "");
  if (values.size() > std::max<std::size_t>(kinds.size(), 1))
    throw InputError(kWhat, fmt::format("{} is what the cells of {} are about, and cannot be one number for all; "
                                        "\"{}={}\" is what the paper has in each",
                                        name, paper.name, name, kPapers));
}

void scale_channels(Experiment& cell, double factor) {
  if (const auto channels = part_of(cell.model, kChannels))
    set_part(cell.model, kChannels, fmt::format("{:.0f}", std::max(1.0, std::round(std::stod(*channels) * factor))));
}

void scale_warm_up(Experiment& cell, double factor) {
  auto& warm_up = cell.training.optimiser.warm_up;
  warm_up = static_cast<std::uint64_t>(static_cast<double>(warm_up) * factor);
}

/// The cell with another value of `name`, which it has.
void set_option(Experiment& cell, const Option& option, double value) {
  const double before = option.of(cell);
  option.set(cell, value);
  if (option.name == std::string_view(kSteps)) scale_warm_up(cell, value / before);
}

/// False where the cell's model has no such part.
bool set_model_part(Experiment& cell, const std::string& name, const std::string& value) {
  const std::string key = name == kWidth ? width_of(cell.model) : name;
  const auto before = key.empty() ? std::nullopt : part_of(cell.model, key);
  if (!before || !number_in<double>(*before)) return false;
  if (name != kWidth) {
    set_part(cell.model, key, value);
    return true;
  }
  const double asked = number_of(name, value), block = block_of(cell.model);
  const double width = std::ceil(asked / block) * block;
  set_part(cell.model, key, fmt::format("{}", width));
  scale_channels(cell, width / std::stod(*before));
  return true;
}

bool change(Experiment& cell, const Setting& asked, const Experiment* of_paper) {
  const auto& [name, value] = asked;
  const bool is_papers = value == kPapers;
  if (is_papers && of_paper == nullptr) return false;
  if (name == kRates) {
    cell.rates.clear();
    if (is_papers) cell.rates = of_paper->rates;
    for (const double rate : is_papers ? std::vector<double>() : numbers_of(asked)) {
      if (std::ranges::find(cell.rates, rate) != cell.rates.end())
        throw InputError(kWhat, fmt::format("{} has {} twice", name, rate));
      cell.rates.push_back(rate);
    }
    return true;
  }
  if (const Option* option = option_named(name)) {
    set_option(cell, *option,
               is_papers          ? option->of(*of_paper)
               : option->most > 0 ? static_cast<double>(count_of(name, value, option->most))
                                  : number_of(name, value));
    return true;
  }
  if (!is_papers) return set_model_part(cell, name, fmt::format("{}", number_of(name, value)));
  if (family_of(cell.model) != family_of(of_paper->model)) return false;
  if (const auto papers = part_of(of_paper->model, name == kWidth ? width_of(of_paper->model) : name))
    return set_model_part(cell, name, *papers);
  if (!part_of(cell.model, name)) return false;
  leave_out_part(cell.model, name);
  return true;
}

}  // namespace

ChangedScale parse_scale(std::string_view text) {
  ChangedScale scale;
  bool is_first = true;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t equals = item.find('=');
    if (is_first) {
      if (item != "small" && item != kPapers)
        throw InputError(kWhat, fmt::format("\"{}\": small or paper comes first, then sizes: paper,steps=8000", item));
      scale.scale = item == kPapers ? TableScale::kPaper : TableScale::kSmall;
      is_first = false;
    } else if (equals != std::string_view::npos && equals > 0 && equals + 1 < item.size()) {
      const std::string name(item.substr(0, equals));
      if (std::ranges::find(scale.changes, name, &Setting::name) != scale.changes.end())
        throw InputError(kWhat, fmt::format("{} is given twice", name));
      scale.changes.push_back({name, std::string(item.substr(equals + 1))});
    } else if (equals == std::string_view::npos && !item.empty() && !scale.changes.empty() &&
               scale.changes.back().name == kRates && scale.changes.back().value != kPapers) {
      scale.changes.back().value += fmt::format(",{}", item);
    } else {
      throw InputError(kWhat, fmt::format("\"{}\": KEY=NUMBER is expected, as steps=8000", item));
    }
  }
  for (Setting& each : scale.changes)  // one spelling of each number
    if (each.value != kPapers) each.value = fmt::format("{}", fmt::join(numbers_of(each), ","));
  std::ranges::sort(scale.changes, {}, &Setting::name);
  return scale;
}

std::string to_string(const ChangedScale& scale) {
  std::string text = scale.scale == TableScale::kPaper ? kPapers : "small";
  for (const auto& [name, value] : scale.changes) text += fmt::format(",{}={}", name, value);
  return text;
}

void change_sizes(const ChangedScale& scale, const PaperTable& paper, std::vector<Experiment>& cells) {
  if (scale.changes.empty()) return;
  const std::set<std::string> names = names_of(cells, paper);
  std::set<std::string> known;  // models that there are
  for (const Cells& of : {std::cref(cells), std::cref(paper.experiments)})
    for (const Experiment& cell : of) known.insert(cell.model);
  // A width and a number of steps take others along, which may be named themselves.
  std::vector<Setting> changes = scale.changes;
  std::ranges::stable_partition(changes,
                                [](const Setting& each) { return each.name == kWidth || each.name == kSteps; });
  for (const Setting& each : changes) {
    bool is_taken = false;
    if (names.contains(each.name)) {
      if (each.value != kPapers) require_size(each.name, paper);
      for (Experiment& cell : cells) {
        const auto of_paper = std::ranges::find_if(paper.experiments, [&](const Experiment& other) {
          return other.row == cell.row && other.column == cell.column;
        });
        if (change(cell, each, of_paper == paper.experiments.end() ? nullptr : &*of_paper)) is_taken = true;
      }
    }
    if (!is_taken)
      throw InputError(kWhat, fmt::format("\"{}\" is no size of these cells of {}; there are {}",
                                          each.value == kPapers ? each.name + "=paper" : each.name, paper.name,
                                          fmt::join(names, ", ")));
  }
  constexpr Letter kLetters = 2;  // a model's size lets it be or not, whatever it reads
  for (const Experiment& cell : cells)
    if (known.insert(cell.model).second) make_model<float>(cell.model, kLetters, 2, 1);
}

}  // namespace krohn
