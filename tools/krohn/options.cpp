#include "tools/krohn/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "krohn/groups/near_miss.h"
#include "tools/krohn/usual_name.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

/// The whole text as a finite number, or nothing.
template <class Number>
std::optional<Number> parsed(const std::string& text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || !std::isfinite(static_cast<double>(number))) return std::nullopt;
  return number;
}

std::string not_a_number(const std::string& text) {
  return parsed<double>(text) ? std::string() : fmt::format("\"{}\" is not a number", text);
}

/// What is near, or where nothing is, all that there is.
std::string unknown_value(const std::string& text, const std::vector<std::string>& values) {
  const std::string hint = did_you_mean(text, values);
  if (!hint.empty()) return fmt::format("there is no \"{}\".{}", text, hint);
  return fmt::format("there is no \"{}\"; the values are {}", text, fmt::join(values, ", "));
}

}  // namespace

VerbOption& VerbOption::required() {
  option_->required();
  return *this;
}

VerbOption& VerbOption::group(const std::string& heading) {
  option_->group(heading);
  return *this;
}

VerbOption& VerbOption::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

/// The values stand in the type of the option, where help pages and completion find them.
VerbOption& VerbOption::one_of(const std::vector<std::string>& values) {
  const auto read = [values](std::string& text) {
    const auto known = [&values](const std::string& name) { return std::ranges::count(values, name) > 0; };
    if (known(text)) return std::string();
    const std::string usual = usual_name(text);
    if (!known(usual)) return unknown_value(text, values);
    text = usual;
    return std::string();
  };
  option_->transform(CLI::Validator(read, fmt::format("{{{}}}", fmt::join(values, ","))));
  return *this;
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

VerbOption& VerbOption::separated_by(char delimiter) {
  option_->delimiter(delimiter);
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

VerbOption Verb::add_option(const std::string& name, std::string& target, const std::string& description) {
  return VerbOption(app_->add_option(name, target, description));
}

VerbOption Verb::add_option(const std::string& name, std::optional<std::string>& target,
                            const std::string& description) {
  return VerbOption(app_->add_option(name, target, description));
}

VerbOption Verb::add_option(const std::string& name, double& target, const std::string& description) {
  return VerbOption(app_->add_option(name, target, description)).checked(not_a_number);
}

VerbOption Verb::add_option(const std::string& name, unsigned& target, const std::string& description) {
  return VerbOption(app_->add_option(name, target, description)).checked([](const std::string& text) {
    return parsed<unsigned>(text) ? std::string() : fmt::format("\"{}\" is not a whole number", text);
  });
}

VerbOption Verb::add_option(const std::string& name, std::vector<std::string>& target, const std::string& description) {
  return VerbOption(app_->add_option(name, target, description));
}

VerbOption Verb::add_option(const std::string& name, std::vector<double>& target, const std::string& description) {
  return VerbOption(app_->add_option(name, target, description)).checked(not_a_number);
}

VerbOption Verb::add_option(const std::string& name, std::function<void(const std::string&)> read,
                            const std::string& description) {
  return VerbOption(app_->add_option_function<std::string>(name, read, description));
}

VerbOption Verb::add_flag(const std::string& name, bool& target, const std::string& description) {
  return VerbOption(app_->add_flag(name, target, description));
}

void Verb::callback(std::function<void()> chosen) {
  app_->callback([app = app_, chosen = std::move(chosen)] {
    note_verb(*app);
    chosen();
  });
}

}  // namespace krohn
