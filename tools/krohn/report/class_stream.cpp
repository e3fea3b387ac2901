#include "tools/krohn/report/class_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <set>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/format_file.h"
#include "krohn/automata/formats/json.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/atomic_file.h"
#include "krohn/groups/error.h"
#include "krohn/groups/time_limit.h"
#include "krohn/simulate/shards/part_file.h"
#include "tools/krohn/report/class_report.h"
#include "tools/krohn/report/class_summary.h"
#include "tools/krohn/report/classification.h"
#include "tools/krohn/report/json_output.h"
#include "tools/krohn/shards/list_work.h"

namespace krohn {
namespace {

/// Graphviz, which reads DOT, is for one thread at a time.
std::mutex reading;

Json brief_classes(const std::vector<ClassVerdict>& classes) {
  Json rows = Json::object();
  for (const ClassVerdict& verdict : classes) {
    Json& row = rows[verdict.name];
    row = {{"answer", to_string(verdict.answer)}};
    for (const auto& [name, value] : verdict.parameters) row[name] = value;
  }
  return rows;
}

Json facts_of(const std::string& subject, const StreamOptions& options) {
  const TimeLimit limit(options.seconds, fmt::format("--time {:g}", options.seconds));
  Json facts;
  facts["subject"] = subject;
  const auto minimal = [&] {
    const std::lock_guard lock(reading);
    return minimise(load_language(subject, options.reading));
  }();
  Algebra algebra = analyse_within_limits(minimal, options.algebra);
  facts["states"] = minimal.states();
  facts["letters"] = minimal.letters();
  std::vector<ClassVerdict> classes;
  if (minimal.is_acceptor()) {
    ClassOptions limits;
    limits.max_elements = options.algebra.max_elements;
    if (!options.witnesses) limits.most_listed = 0;
    classes = language_classes(minimal, algebra, limits);
    complete(algebra, classes);
  }
  Json all = algebra_to_json(algebra);
  for (const char* field : {"monoid", "limit", "groups"})
    if (all.contains(field)) facts[field] = all[field];
  if (options.witnesses) {
    facts["verdicts"] = all["verdicts"];
    if (minimal.is_acceptor()) facts["classes"] = classes_to_json(classes, minimal.alphabet());
  } else {
    Json names = Json::array();
    for (const MaximalSubgroup& group : algebra.groups) names.push_back(group.name);
    facts["groups"] = std::move(names);
    for (const Verdict& verdict : algebra.verdicts) facts["verdicts"][verdict.property] = to_string(verdict.answer);
    if (minimal.is_acceptor()) facts["classes"] = brief_classes(classes);
  }
  if (minimal.is_acceptor())
    for (const TransformerVerdict& row : transformers(minimal, algebra))
      facts["transformers"][row.family] = to_string(row.answer);
  return facts;
}

std::string made_from(const std::string& subject, const StreamOptions& options) {
  return digest_of_work({kThisKrohn, options.said, subject}, files_of_language(subject, options.reading));
}

/// What an earlier run left: its whole lines. What it did not finish to write is cut off.
std::set<std::string> continue_after(const StreamOptions& options, ClassSummary& summary) {
  const std::string &output = options.output, &said = options.said;
  std::set<std::string> done;
  if (output.empty() || !std::filesystem::is_regular_file(output)) return done;
  std::ifstream file(output, std::ios::binary);
  std::uintmax_t whole = 0;
  for (std::string line; std::getline(file, line) && !file.eof(); whole += line.size() + 1) {
    const Json facts = Json::parse(line, nullptr, false);
    if (!facts.is_object() || !facts.contains("subject"))
      throw InputError(output,
                       fmt::format("line {} is no line of `krohn classify`; give another name, or remove the file",
                                   done.size() + 1));
    if (facts.value("options", "") != said)
      throw InputError(output,
                       fmt::format("line {} was made by other options: {}; give another name, or remove the file",
                                   done.size() + 1, in_quotes(facts.value("options", ""))));
    const auto subject = facts.at("subject").get<std::string>();
    if (facts.value("made_from", "") != made_from(subject, options))
      throw InputError(output,
                       fmt::format("line {} is of {} as it was then, or of another krohn; give another name, or "
                                   "remove the file",
                                   done.size() + 1, in_quotes(subject)));
    summary.add(line);
    done.insert(subject);
  }
  file.close();
  if (whole < std::filesystem::file_size(output)) std::filesystem::resize_file(output, whole);
  return done;
}

}  // namespace

std::vector<std::string> languages_in(const std::string& folder) {
  if (!std::filesystem::is_directory(folder)) throw InputError(folder, "no folder; --corpus takes one");
  const std::set<std::string> endings{".att", ".fsm", ".dot", ".gv", ".mata", ".jff", ".json"};
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && endings.contains(entry.path().extension().string()))
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  if (files.empty()) throw InputError(folder, "no file ends in .att .fsm .dot .gv .mata .jff or .json");
  return files;
}

std::string class_line(const std::string& subject, const StreamOptions& options) {
  const std::string before = made_from(subject, options);
  Json facts;
  try {
    facts = facts_of(subject, options);
  } catch (const InputError& error) {
    facts = {{"subject", subject}, {"error", error.what()}};
  } catch (const SystemError& error) {
    facts = {{"subject", subject}, {"error", error.what()}};
  } catch (const LimitError& error) {
    facts = {{"subject", subject}, {"error", error.what()}};
  }
  facts["options"] = options.said;
  facts["made_from"] = before;
  return facts.dump(-1, ' ', false, Json::error_handler_t::replace);
}

int classify_stream(const StreamOptions& options) {
  const ListWork work{"classifying languages", options.threads,
                      [&options](std::uint64_t item) { return class_line(options.subjects[item], options); }};
  help_with(work);
  ClassSummary summary;
  const std::set<std::string> done = continue_after(options, summary);
  std::vector<std::uint64_t> left;
  for (std::size_t i = 0; i < options.subjects.size(); ++i)
    if (!done.contains(options.subjects[i])) left.push_back(i);
  std::FILE* out = options.output.empty() ? stdout : std::fopen(options.output.c_str(), "ab");
  if (out == nullptr) throw SystemError(fmt::format("{}: cannot be written", options.output));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> closing(out == stdout ? nullptr : out, std::fclose);
  work_through(work, left, LineOrder::kOfItems, [&](std::uint64_t, const std::string& made) {
    const std::string line = made + "\n";
    if (std::fwrite(line.data(), 1, line.size(), out) != line.size() || std::fflush(out) != 0)
      throw SystemError(
          fmt::format("{}: cannot be written", options.output.empty() ? "standard output" : options.output));
    summary.add(line);
  });
  fmt::print(out == stdout ? stderr : stdout, "{}", summary.text());
  return summary.status();
}

}  // namespace krohn
