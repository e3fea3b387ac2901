#include "tools/krohn/report/check_summary.h"

#include <fmt/format.h>

#include "krohn/automata/formats/json.h"
#include "krohn/groups/base/error.h"
#include "tools/krohn/report/json_output.h"
#include "tools/krohn/report/table.h"
#include "tools/krohn/verb.h"

namespace krohn {

void CheckSummary::add(std::string_view line) {
  const Json found = Json::parse(line, nullptr, false);
  if (!found.is_object() || !found.contains("certificate") || !found.contains("status") ||
      !found["status"].is_number_integer())
    throw InputError("no line of `krohn check`");
  ++certificates_;
  switch (found["status"].get<int>()) {
    case kDone:
      ++established_;
      break;
    case kRefuted:
      ++not_established_;
      break;
    case kUndecided:
      ++open_;
      break;
    default:
      ++unreadable_;
  }
}

int CheckSummary::status() const {
  return unreadable_ > 0 ? kBadInput : not_established_ > 0 ? kRefuted : open_ > 0 ? kUndecided : kDone;
}

std::string CheckSummary::text() const {
  return fmt::format("{}: {} established, {} not established, {} undecided within the limits, {} not read\n",
                     counted(certificates_, "certificate"), with_thousands(established_),
                     with_thousands(not_established_), with_thousands(open_), with_thousands(unreadable_));
}

void ClassSummary::add(std::string_view line) {
  const Json facts = Json::parse(line, nullptr, false);
  if (!facts.is_object() || !facts.contains("subject")) throw InputError("no line of `krohn classify`");
  ++languages_;
  if (facts.contains("error")) {
    ++errors_;
    return;
  }
  for (const char* kind : {"classes", "verdicts"}) {
    if (!facts.contains(kind)) continue;
    const Json& rows = facts[kind];
    for (const auto& [key, row] : rows.items()) {
      const bool listed = rows.is_array(), brief = row.is_string();
      const std::string name =
          !listed ? key : row.value(kind == std::string_view("classes") ? "class" : "property", "");
      // Findings of both are a verdict of the minimal automaton as well as a class.
      if (kind == std::string_view("verdicts") && facts.contains("classes") && is_class_.contains(name)) continue;
      if (kind == std::string_view("classes")) is_class_.insert(name);
      count(name, brief ? row.get<std::string>() : row.value("answer", ""));
    }
  }
}

int ClassSummary::status() const { return errors_ > 0 ? kBadInput : open_ > 0 ? kUndecided : kDone; }

std::string ClassSummary::text() const {
  std::vector<std::vector<std::string>> rows{{"class", "yes", "no", "open"}};
  for (const std::string& name : order_) {
    const auto& [yes, no, unknown] = counts_.at(name);
    rows.push_back({name, with_thousands(yes), with_thousands(no), with_thousands(unknown)});
  }
  return fmt::format("{}{}{}\n", format_table(rows), counted(languages_, "language"),
                     errors_ == 0 ? "" : fmt::format(", {} of them not read", errors_));
}

void ClassSummary::count(const std::string& name, const std::string& answer) {
  const auto [entry, fresh] = counts_.try_emplace(name);
  if (fresh) order_.push_back(name);
  auto& [yes, no, unknown] = entry->second;
  ++(answer == "yes" ? yes : answer == "no" ? no : unknown);
  open_ += answer == "unknown";
}

}  // namespace krohn
