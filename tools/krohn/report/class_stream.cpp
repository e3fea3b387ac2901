#include "tools/krohn/report/class_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "krohn/automata/formats/format_file.h"
#include "krohn/automata/formats/json.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/atomic_file.h"
#include "krohn/groups/error.h"
#include "krohn/groups/time_limit.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/class_report.h"
#include "tools/krohn/report/classification.h"
#include "tools/krohn/report/count.h"
#include "tools/krohn/report/json_output.h"
#include "tools/krohn/report/table.h"
#include "tools/krohn/verb.h"

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
  Json facts;
  facts["subject"] = subject;
  const auto minimal = [&] {
    const std::lock_guard lock(reading);
    return minimise(load_language(subject, options.reading));
  }();
  const std::string option = fmt::format("--time {:g}", options.seconds);
  const TimeLimit limit(options.seconds, option);
  Algebra algebra = analyse_within_limits(minimal, options.algebra, options.seconds / 2, option);
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

/// How often each class was answered how, over all lines, those of an earlier run included.
class Summary {
 public:
  void add(const Json& facts) {
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
        // What both have is a verdict of the minimal automaton as well as a class.
        if (kind == std::string_view("verdicts") && facts.contains("classes") && is_class_.contains(name))
          continue;
        if (kind == std::string_view("classes")) is_class_.insert(name);
        count(name, brief ? row.get<std::string>() : row.value("answer", ""));
      }
    }
  }

  int status() const { return errors_ > 0 ? kBadInput : open_ > 0 ? kUndecided : kDone; }

  std::string text() const {
    std::vector<std::vector<std::string>> rows{{"class", "yes", "no", "open"}};
    for (const std::string& name : order_) {
      const auto& [yes, no, unknown] = counts_.at(name);
      rows.push_back({name, with_thousands(yes), with_thousands(no), with_thousands(unknown)});
    }
    return fmt::format("{}{}{}\n", format_table(rows), counted(languages_, "language"),
                       errors_ == 0 ? "" : fmt::format(", {} of them not read", errors_));
  }

 private:
  void count(const std::string& name, const std::string& answer) {
    const auto [entry, fresh] = counts_.try_emplace(name);
    if (fresh) order_.push_back(name);
    auto& [yes, no, unknown] = entry->second;
    ++(answer == "yes" ? yes : answer == "no" ? no : unknown);
    open_ += answer == "unknown";
  }

  std::map<std::string, std::array<std::uint64_t, 3>> counts_;
  std::vector<std::string> order_;
  std::set<std::string> is_class_;
  std::uint64_t languages_ = 0, errors_ = 0, open_ = 0;
};

/// What an earlier run left: its whole lines. What it did not finish to write is cut off.
std::set<std::string> continue_after(const std::string& output, Summary& summary) {
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
    summary.add(facts);
    done.insert(facts.at("subject").get<std::string>());
  }
  file.close();
  if (whole < std::filesystem::file_size(output)) std::filesystem::resize_file(output, whole);
  return done;
}

std::string line_of(const std::string& subject, const StreamOptions& options) {
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
  return facts.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
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

std::vector<std::string> languages_listed(const std::string& file) {
  std::vector<std::string> languages;
  const std::string text = read_text_file(file);
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) end = text.size();
    std::string line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty() && line.front() != '#') languages.push_back(std::move(line));
    begin = end + 1;
  }
  if (languages.empty()) throw InputError(file, "no language; a line each is expected");
  return languages;
}

int classify_stream(const StreamOptions& options) {
  Summary summary;
  const std::set<std::string> done = continue_after(options.output, summary);
  std::vector<std::string> subjects;
  for (const std::string& subject : options.subjects)
    if (!done.contains(subject)) subjects.push_back(subject);
  std::FILE* out = options.output.empty() ? stdout : std::fopen(options.output.c_str(), "ab");
  if (out == nullptr) throw SystemError(fmt::format("{}: cannot be written", options.output));
  Progress progress("classifying languages");
  std::atomic<std::size_t> next = 0, finished = 0;
  std::atomic<bool> stop = false;
  std::exception_ptr failed;
  std::mutex writing;
  const auto work = [&] {
    try {
      for (std::size_t i = next++; i < subjects.size() && !stop; i = next++) {
        const std::string line = line_of(subjects[i], options);
        const Json facts = Json::parse(line);
        const std::lock_guard lock(writing);
        if (std::fwrite(line.data(), 1, line.size(), out) != line.size() || std::fflush(out) != 0)
          throw SystemError(
              fmt::format("{}: cannot be written", options.output.empty() ? "standard output" : options.output));
        summary.add(facts);
        ++finished;
      }
    } catch (...) {
      const std::lock_guard lock(writing);
      if (!failed) failed = std::current_exception();
      stop = true;
    }
  };
  const std::size_t threads = std::min<std::size_t>(
      options.threads == 0 ? std::max(1U, std::thread::hardware_concurrency()) : options.threads, subjects.size());
  std::vector<std::thread> workers;
  for (std::size_t i = 0; i < threads; ++i) workers.emplace_back(work);
  try {
    while (finished < subjects.size() && !stop) {
      std::this_thread::sleep_for(std::chrono::milliseconds(finished == 0 ? 1 : 20));
      progress.update(finished, subjects.size());
    }
  } catch (...) {  // interrupted: what is being classified is finished and written
    stop = true;
    if (!failed) failed = std::current_exception();
  }
  for (std::thread& worker : workers) worker.join();
  if (out != stdout) std::fclose(out);
  if (failed) std::rethrow_exception(failed);
  fmt::print(out == stdout ? stderr : stdout, "{}", summary.text());
  return summary.status();
}

}  // namespace krohn
