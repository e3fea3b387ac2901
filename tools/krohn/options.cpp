#include "tools/krohn/options.h"

#include <CLI/CLI.hpp>

namespace krohn {

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

VerbOption& VerbOption::one_of(const std::vector<std::string>& values) {
  option_->check(CLI::IsMember(values));
  return *this;
}

VerbOption& VerbOption::positive() {
  option_->check(CLI::PositiveNumber);
  return *this;
}

VerbOption& VerbOption::existing_file() {
  option_->check(CLI::ExistingFile);
  return *this;
}

VerbOption& VerbOption::at_most(unsigned limit) {
  option_->check(CLI::Range(0U, limit));
  return *this;
}

VerbOption& VerbOption::between(double least, double greatest) {
  option_->check(CLI::Range(least, greatest));
  return *this;
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
  return VerbOption(app_->add_option(name, target, description));
}

VerbOption Verb::add_option(const std::string& name, unsigned& target, const std::string& description) {
  return VerbOption(app_->add_option(name, target, description));
}

VerbOption Verb::add_option(const std::string& name, std::vector<std::string>& target, const std::string& description) {
  return VerbOption(app_->add_option(name, target, description));
}

VerbOption Verb::add_option(const std::string& name, std::vector<double>& target, const std::string& description) {
  return VerbOption(app_->add_option(name, target, description));
}

VerbOption Verb::add_option(const std::string& name, std::function<void(const std::string&)> read,
                            const std::string& description) {
  return VerbOption(app_->add_option_function<std::string>(name, read, description));
}

VerbOption Verb::add_flag(const std::string& name, bool& target, const std::string& description) {
  return VerbOption(app_->add_flag(name, target, description));
}

void Verb::callback(std::function<void()> chosen) { app_->callback(std::move(chosen)); }

}  // namespace krohn
