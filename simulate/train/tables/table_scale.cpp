#include "krohn/simulate/train/tables/table_scale.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "krohn/groups/error.h"
#include "krohn/simulate/models/models.h"

namespace krohn {
namespace {

constexpr char kWhat[] = "--scale", kPapers[] = "paper", kRates[] = "rates", kSteps[] = "steps", kWarmUp[] = "warm-up",
               kSamples[] = "samples", kWidth[] = "width", kChannels[] = "channels";
constexpr std::array kWidths{kWidth, "hidden", "size"};

using Cells = std::vector<Experiment>;

/// The number that all of `text` spells, above 0.
double number_of(const std::string& name, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value <= 0)
    throw InputError(kWhat, fmt::format("{}={}: a number above 0, or \"{}\", is expected", name, text, kPapers));
  return value;
}

std::uint64_t count_of(const std::string& name, std::string_view text, double most) {
  const double value = number_of(name, text);
  if (value != std::floor(value) || value > most)
    throw InputError(kWhat, fmt::format("{}={}: a whole number up to {:.0f} is expected", name, text, most));
  return static_cast<std::uint64_t>(value);
}

// ---- Options

constexpr double kMostCount = 1e15, kMostWords = 1e9;

/// An option that is a number.
struct Option {
  const char* name;
  double most;  ///< 0: it is no count
  double (*get)(const Experiment&);
  void (*set)(Experiment&, double);
};

constexpr std::array<Option, 8> kOptions{{
    {kSteps, kMostCount, [](const Experiment& cell) { return static_cast<double>(cell.training.optimiser.steps); },
     [](Experiment& cell, double value) { cell.training.optimiser.steps = static_cast<std::uint64_t>(value); }},
    {kWarmUp, kMostCount, [](const Experiment& cell) { return static_cast<double>(cell.training.optimiser.warm_up); },
     [](Experiment& cell, double value) { cell.training.optimiser.warm_up = static_cast<std::uint64_t>(value); }},
    {"words", kMostWords, [](const Experiment& cell) { return static_cast<double>(cell.training.words); },
     [](Experiment& cell, double value) { cell.training.words = static_cast<std::uint32_t>(value); }},
    {kSamples, kMostCount, [](const Experiment& cell) { return static_cast<double>(cell.training.samples); },
     [](Experiment& cell, double value) { cell.training.samples = static_cast<std::uint64_t>(value); }},
    {"weight-decay", 0, [](const Experiment& cell) { return cell.training.optimiser.weight_decay; },
     [](Experiment& cell, double value) { cell.training.optimiser.weight_decay = value; }},
    {"validate-every", kMostCount,
     [](const Experiment& cell) { return static_cast<double>(cell.training.validate_every); },
     [](Experiment& cell, double value) { cell.training.validate_every = static_cast<std::uint64_t>(value); }},
    {"validation-words", kMostWords,
     [](const Experiment& cell) { return static_cast<double>(cell.training.validation_words); },
     [](Experiment& cell, double value) { cell.training.validation_words = static_cast<std::uint32_t>(value); }},
    {"test-words", kMostWords, [](const Experiment& cell) { return static_cast<double>(cell.words); },
     [](Experiment& cell, double value) { cell.words = static_cast<std::uint64_t>(value); }},
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

bool is_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// The numbers in models' names.
std::set<std::string> parts_of(const Cells& cells) {
  std::set<std::string> keys;
  for (const Experiment& cell : cells)
    for (const Setting& setting : settings(cell))
      if (const auto value = part_of(cell.model, setting.name); value && is_number(*value)) keys.insert(setting.name);
  return keys;
}

/// What the model calls its width; empty where its name has none.
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
  const double before = option.get(cell);
  option.set(cell, value);
  if (option.name == std::string_view(kSteps)) scale_warm_up(cell, value / before);
}

/// False where the cell's model has no such part.
bool set_model_part(Experiment& cell, const std::string& name, const std::string& value) {
  const std::string key = name == kWidth ? width_of(cell.model) : name;
  const auto before = key.empty() ? std::nullopt : part_of(cell.model, key);
  if (!before || !is_number(*before)) return false;
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
    for (std::size_t begin = 0; !is_papers && begin < value.size();) {
      const std::size_t end = std::min(value.find(',', begin), value.size());
      const double rate = number_of(name, std::string_view(value).substr(begin, end - begin));
      if (std::ranges::find(cell.rates, rate) != cell.rates.end())
        throw InputError(kWhat, fmt::format("{} has {} twice", name, rate));
      cell.rates.push_back(rate);
      begin = end + 1;
    }
    return true;
  }
  if (const Option* option = option_named(name)) {
    set_option(cell, *option,
               is_papers          ? option->get(*of_paper)
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
        throw InputError(kWhat, fmt::format("{} stands there twice", name));
      scale.changes.push_back({name, std::string(item.substr(equals + 1))});
    } else if (equals == std::string_view::npos && !item.empty() && !scale.changes.empty() &&
               scale.changes.back().name == kRates && scale.changes.back().value != kPapers) {
      scale.changes.back().value += fmt::format(",{}", item);
    } else {
      throw InputError(kWhat, fmt::format("\"{}\": KEY=NUMBER is expected, as steps=8000", item));
    }
  }
  for (Setting& each : scale.changes) {  // one spelling of each number
    if (each.value == kPapers) continue;
    std::vector<double> numbers;
    for (std::size_t begin = 0; begin < each.value.size();) {
      const std::size_t end = std::min(each.value.find(',', begin), each.value.size());
      numbers.push_back(number_of(each.name, std::string_view(each.value).substr(begin, end - begin)));
      begin = end + 1;
    }
    each.value = fmt::format("{}", fmt::join(numbers, ","));
  }
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
