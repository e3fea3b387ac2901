#include "tools/krohn/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <utility>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/base/error.h"
#include "tools/krohn/shards/list_work.h"

namespace krohn {
namespace {

/// The whole text as a finite number, or nothing.
template <class Number>
std::optional<Number> parsed(const std::string& text) {
  const auto number = number_in<Number>(text);
  return number && std::isfinite(static_cast<double>(*number)) ? number : std::nullopt;
}

std::string not_a_number(const std::string& text) {
  return parsed<double>(text) ? std::string() : fmt::format("\"{}\" is not a number", text);
}

/// The near names, or all names where none is near.
std::string unknown_value(const std::string& text, const std::vector<std::string>& values) {
  const std::string hint = did_you_mean(text, values);
  if (!hint.empty()) return fmt::format("there is no \"{}\".{}", text, hint);
  return fmt::format("there is no \"{}\"; the values are {}", text, fmt::join(values, ", "));
}

// How values pass through the library unread: it looks at their beginnings and their ends, so a value begins with two
// bytes of ours. The first of them is followed by the third wherever it was typed.
constexpr char kMark = '\x01', kValue = '\x03', kTyped = '\x02';

std::string with_marks_typed(std::string_view text) {
  std::string held;
  for (const char c : text) {
    held += c;
    if (c == kMark) held += kTyped;
  }
  return held;
}

std::string as_value(std::string_view text) { return std::string{kMark, kValue} + with_marks_typed(text); }

/// An option as the arguments have it: "--alphabet", "--alphabet=ab", "-o", "-oFILE"; no number.
bool is_option(std::string_view argument) {
  return argument.size() > 1 && argument[0] == '-' && (argument[1] < '0' || argument[1] > '9');
}

/// The parts between commas, empty ones too.
std::vector<std::string> parts_between_commas(const std::string& text) {
  std::vector<std::string> parts{""};
  for (const char c : text)
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

std::string not_numbers(const std::string& text) {
  for (const std::string& part : parts_between_commas(text))
    if (const std::string complaint = not_a_number(part); !complaint.empty()) return complaint;
  return {};
}

/// An option whose uses are handed to `read`, part after part; `start` is called before the first.
CLI::Option* add_parts(CLI::App& app, const std::string& name, const std::string& description,
                       std::function<void()> start, std::function<void(const std::string&)> read) {
  const auto take = [start = std::move(start), read = std::move(read)](const std::vector<std::string>& uses) {
    start();
    for (const std::string& use : uses)
      for (const std::string& part : parts_between_commas(use)) read(part);
  };
  return app.add_option_function<std::vector<std::string>>(name, take, description)->allow_extra_args(false);
}

template <class Target>
std::function<nlohmann::ordered_json()> held(const Target& target) {
  return [&target] { return nlohmann::ordered_json(target); };
}

}  // namespace

std::string as_typed(std::string argument) {
  std::string typed;
  for (std::size_t i = 0; i < argument.size(); ++i) {
    const bool is_mark = argument[i] == kMark && i + 1 < argument.size();
    if (!(is_mark && argument[i + 1] == kValue)) typed += argument[i];
    if (is_mark) ++i;
  }
  return typed;
}

void parse_as_typed(CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App* verb = nullptr;
  for (const CLI::App* known : app.get_subcommands({}))
    if (!arguments.empty() && known->get_name() == arguments.front()) verb = known;
  const auto takes_value = [verb](const std::string& name) {
    const CLI::Option* option = verb->get_option_no_throw(name);
    return option != nullptr && option->get_items_expected_max() > 0;
  };
  std::vector<std::string> held;
  bool only_values = false, is_value = false;
  for (const std::string& argument : arguments) {
    if (verb == nullptr || held.empty()) {
      held.push_back(argument);
    } else if (only_values || is_value || !is_option(argument)) {
      held.push_back(as_value(argument));
      is_value = false;
    } else if (argument == "--") {
      only_values = true;
    } else {
      const bool is_long = argument[1] == '-';
      const std::size_t end = std::min(is_long ? argument.find('=') : 2, argument.size());
      const std::string name = argument.substr(0, end),
                        rest = argument.substr(std::min(end + is_long, argument.size()));
      is_value = end == argument.size() && takes_value(name);
      held.push_back(with_marks_typed(name));
      if (end < argument.size()) held.back() += (is_long ? "=" : "") + as_value(rest);
    }
  }
  std::ranges::reverse(held);  // as the library takes them
  app.parse(std::move(held));
}

VerbOption::VerbOption(CLI::Option* option, KeptOption& kept) : option_(option), kept_(&kept) {
  if (option_->get_items_expected_max() > 0)
    option_->transform([](const std::string& value) { return as_typed(value); }, "", kAsTyped);
}

VerbOption& VerbOption::key(const std::string& key) {
  kept_->key = key;
  return *this;
}

VerbOption& VerbOption::required() {
  option_->required();
  return *this;
}

VerbOption& VerbOption::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

/// The values stand in the type of the option, where help pages and completion find them.
VerbOption& VerbOption::one_of(const std::vector<std::string>& values) {
  const auto read = [values](std::string& text) {
    text = as_typed(text);  // before the check of that name
    const auto known = [&values](const std::string& name) { return std::ranges::count(values, name) > 0; };
    if (known(text)) return std::string();
    const std::string usual = usual_name(text);
    if (!known(usual)) return unknown_value(text, values);
    text = usual;
    return std::string();
  };
  option_->transform(CLI::Validator(read, fmt::format("{{{}}}", fmt::join(values, ","))));
  return show_default();
}

VerbOption& VerbOption::suggests(const std::vector<std::string>& values) {
  option_->type_name(fmt::format("NAME:{{{}}}", fmt::join(values, ",")));
  return *this;
}

VerbOption& VerbOption::positive() {
  return checked([](const std::string& text) {
    const auto number = parsed<double>(text);
    return number && *number > 0 ? std::string() : fmt::format("\"{}\" is not a number above 0", text);
  });
}

VerbOption& VerbOption::existing_file() {
  return checked([](const std::string& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error) ? std::string() : fmt::format("there is no file {}", path);
  });
}

VerbOption& VerbOption::at_most(unsigned limit) {
  return checked([limit](const std::string& text) {
    const auto number = parsed<unsigned>(text);
    return number && *number <= limit ? std::string()
                                      : fmt::format("\"{}\" is not a whole number up to {}", text, limit);
  });
}

VerbOption& VerbOption::between(double least, double greatest) {
  return checked([least, greatest](const std::string& text) {
    const auto number = parsed<double>(text);
    return number && *number >= least && *number <= greatest
               ? std::string()
               : fmt::format("\"{}\" is not a number between {} and {}", text, least, greatest);
  });
}

VerbOption& VerbOption::checked(std::function<std::string(const std::string&)> complaint) {
  option_->check(std::move(complaint));
  return *this;
}

VerbOption& VerbOption::show_default() {
  option_->capture_default_str();
  return *this;
}

VerbOption& VerbOption::show_default(const std::string& text) {
  option_->default_str(text);
  return *this;
}

Verb::Verb() : own_(std::make_shared<CLI::App>()), app_(own_.get()) {}

VerbOption Verb::keep(CLI::Option* option, std::function<nlohmann::ordered_json()> value) {
  option->group(group_);
  if (!value) value = [] { return nlohmann::ordered_json(); };
  KeptOption& kept = kept_.emplace_back(KeptOption{option->get_name(), option->get_single_name(), value,
                                                   std::make_shared<nlohmann::ordered_json>(value())});
  std::ranges::replace(kept.key, '-', '_');
  return VerbOption(option, kept);
}

nlohmann::ordered_json Verb::options_json(bool only_unusual) const {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const KeptOption& option : kept_)
    if (const auto value = option.value(); !value.is_null() && !(only_unusual && value == *option.usual))
      json[option.key] = value;
  return json;
}

std::string Verb::options_text(const nlohmann::ordered_json& json) const {
  std::string text;
  for (const KeptOption& option : kept_)
    if (const auto value = json.find(option.key); value != json.end() && *value != false)
      text += " " + option.name + (value->is_boolean() ? "" : " " + shell_word(value_text(*value)));
  return text;
}

std::string value_text(const nlohmann::ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.is_number_float() ? fmt::format("{}", value.get<double>()) : value.dump();
  std::string text;
  for (const auto& part : value)
    text += (text.empty() ? "" : part.is_number_unsigned() ? ".." : ",") + value_text(part);
  return text;
}

VerbOption Verb::add_option(const std::string& name, std::string& target, const std::string& description) {
  return keep(app_->add_option(name, target, description), held(target));
}

VerbOption Verb::add_option(const std::string& name, std::optional<std::string>& target,
                            const std::string& description) {
  // The library takes an empty value for none.
  return add_option(
      name, [&target](const std::string& text) { target = text; }, description,
      [&target] { return target ? nlohmann::ordered_json(*target) : nlohmann::ordered_json(); });
}

VerbOption Verb::add_option(const std::string& name, double& target, const std::string& description) {
  return keep(app_->add_option(name, target, description), held(target)).checked(not_a_number).show_default();
}

VerbOption Verb::add_option(const std::string& name, unsigned& target, const std::string& description) {
  return keep(app_->add_option(name, target, description), held(target))
      .checked([](const std::string& text) {
        return parsed<unsigned>(text) ? std::string() : fmt::format("\"{}\" is not a whole number", text);
      })
      .show_default();
}

VerbOption Verb::add_option(const std::string& name, std::vector<std::string>& target, const std::string& description) {
  return keep(app_->add_option(name, target, description), held(target));
}

VerbOption Verb::add_list(const std::string& name, std::vector<std::string>& target, const std::string& description) {
  return keep(add_parts(
                  *app_, name, description, [&target] { target.clear(); },
                  [&target](const std::string& part) { target.push_back(part); }),
              held(target));
}

VerbOption Verb::add_list(const std::string& name, std::vector<double>& target, const std::string& description) {
  return keep(add_parts(
                  *app_, name, description, [&target] { target.clear(); },
                  [&target](const std::string& part) { target.push_back(parsed<double>(part).value()); }),
              held(target))
      .checked(not_numbers);
}

VerbOption Verb::add_option(const std::string& name, std::function<void(const std::string&)> read,
                            const std::string& description, std::function<nlohmann::ordered_json()> value) {
  return keep(app_->add_option_function<std::string>(name, read, description), std::move(value));
}

VerbOption Verb::add_flag(const std::string& name, bool& target, const std::string& description) {
  return keep(app_->add_flag(name, target, description), held(target));
}

void Verb::is_missing() {
  app_->description("(not in this first build)");
  app_->set_help_flag();
  app_->prefix_command();
}

const CLI::App& Verb::command() const { return *app_->get_parent(); }

std::string usual_name(const std::string& text) {
  using Pair = std::pair<std::string_view, std::string_view>;
  static constexpr std::array<Pair, 22> kNames = {{{"float64", "fp64"},
                                                   {"f64", "fp64"},
                                                   {"double", "fp64"},
                                                   {"float32", "fp32"},
                                                   {"f32", "fp32"},
                                                   {"float", "fp32"},
                                                   {"single", "fp32"},
                                                   {"float16", "fp16"},
                                                   {"f16", "fp16"},
                                                   {"half", "fp16"},
                                                   {"bfloat16", "bf16"},
                                                   {"bfloat", "bf16"},
                                                   {"tensorfloat32", "tf32"},
                                                   {"pytorch", "torch"},
                                                   {"np", "numpy"},
                                                   {"npz", "numpy"},
                                                   {"fla", "fla-deltanet"},
                                                   {"deltanet", "fla-deltanet"},
                                                   {"deltaproduct", "fla-gated-deltaproduct"},
                                                   {"safetensors", "krohn"},
                                                   {"gpu", "cuda"},
                                                   {"graphviz", "dot"}}};
  std::string lower = text;
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const auto found = std::ranges::find(kNames, std::string_view(lower), &Pair::first);
  return found == kNames.end() ? lower : std::string(found->second);
}

}  // namespace krohn
