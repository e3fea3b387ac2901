// krohn classify — which architectures can hold a language at every length, and why not the smaller ones.

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/automata/monoid/properties.h"
#include "krohn/groups/base/error.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/classification.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/shards/list_work.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

struct ClassifyArguments {
  std::vector<std::string> subjects;
  std::string corpus, list, output;
  LanguageOptions reading;
  AlgebraOptions algebra;
  double seconds = 60;  ///< of many, for each
  ShardOptions shards;
  unsigned threads = 0;
  bool json = false, witnesses = false;

  bool is_list() const {
    return subjects.size() != 1 || !corpus.empty() || !list.empty() || !output.empty() || shards.any();
  }
};

std::string groups_in_words(const Algebra& algebra) {
  if (algebra.groups.empty()) return "no non-trivial group";
  std::string text;
  for (const MaximalSubgroup& group : algebra.groups) text += (text.empty() ? "" : ", ") + group.name;
  return "maximal subgroups " + text;
}

std::string text_of_job(const Job& job) {
  const Algebra& algebra = job.algebra;
  std::string text = algebra.green
                         ? fmt::format("\n{}: {}, a monoid of {} in {}, {}; {}\n", job.name,
                                       counted(job.automaton.states(), "state"), counted(algebra.size.str(), "element"),
                                       counted(algebra.green->d_classes().size(), "D-class", "es"),
                                       counted(algebra.idempotents.str(), "idempotent"), groups_in_words(algebra))
                         : fmt::format("\n{}: {}; the monoid met a limit: {}\n", job.name,
                                       counted(job.automaton.states(), "state"), algebra.limit);
  std::vector<std::vector<std::string>> rows;
  for (const Verdict& verdict : algebra.verdicts)
    rows.push_back({verdict.property, to_string(verdict.answer), shortened(verdict.witness, 90)});
  text += format_table(rows);
  rows.assign(1, {"architecture", "holds it", "construction, or why not"});
  for (const Architecture& row : job.rows) {
    std::string shown = row.construction;
    if (!row.reason.empty()) shown += (shown.empty() ? "" : "; ") + row.reason;
    rows.push_back({row.family, to_string(row.answer), shortened(shown, 90)});
  }
  if (!job.rows.empty()) text += "\n" + format_table(rows);
  if (!job.limit.empty()) text += fmt::format("  architectures are open: {}\n", job.limit);
  if (job.classes.empty()) return text;
  rows = class_rows(job.classes, job.automaton.alphabet());
  rows.insert(rows.begin(), {"class", "lies in it", "defined by, or why not"});
  text += "\n" + format_table(rows);
  rows.assign(1, {"transformers", "holds it", "source"});
  for (const TransformerVerdict& row : job.transformers)
    rows.push_back({row.family, to_string(row.answer), shortened(row.source, 90)});
  return text + "\n" + format_table(rows);
}

/// Whatever is known of a language's jobs, as it is told.
class JobsTold {
 public:
  JobsTold(const ClassifyArguments& options, const Subject& subject, State left_out) : is_json_(options.json) {
    const std::string& name = options.subjects[0];
    facts_["subject"] = name;
    if (left_out > 0) facts_["states_left_out"] = left_out;
    head_ = title(name) + "\n";
    if (subject.has_inferred_letters)
      head_ += fmt::format("letters {}{}\n", to_string(subject.automaton.alphabet()), remark_on_letters(subject));
  }

  /// Replaces the job's parts that were known before.
  void know(const Job& job) {
    if (jobs_.empty() || jobs_.back().first != job.name) jobs_.emplace_back(job.name, Json());
    jobs_.back().second = is_json_ ? job_to_json(job) : Json(text_of_job(job));
  }

  std::string text() const {
    std::string text = head_;
    Json facts = facts_;
    for (const auto& [name, told] : jobs_)
      if (is_json_)
        facts["jobs"].push_back(told);
      else
        text += told.get<std::string>();
    return is_json_ ? report_text(facts) : text;
  }

 private:
  bool is_json_;
  Json facts_;
  std::string head_;
  std::vector<std::pair<std::string, Json>> jobs_;
};

/// All that decides what the lines say.
std::string options_in_words(const ClassifyArguments& options) {
  const std::string text =
      fmt::format("--time {:g} --max-elements {} --max-classes {}{}", options.seconds, options.algebra.max_elements,
                  options.algebra.green.max_r_classes, options.witnesses ? " --witnesses" : "");
  return visible(text + language_options_text(language_options_json(options.reading)));
}

int classify_in_shards(const ClassifyArguments& options, const StreamOptions& stream) {
  WorkList list{"classify", {}, stream.said, stream.subjects, {}};
  for (const std::string& subject : list.items) {
    list.costs.push_back(cost_of_file(subject));
    for (std::string& file : files_of_language(subject, options.reading)) list.files.push_back(std::move(file));
  }
  const ListWork work{"classifying languages", options.threads,
                      [&stream](std::uint64_t item) { return class_line(stream.subjects[item], stream); }};
  return work_in_shards({work, "language", std::move(list), options.output}, options.shards);
}

int classify_many(const ClassifyArguments& options) {
  StreamOptions stream;
  stream.subjects = options.subjects;
  const auto append = [&](const std::vector<std::string>& more) {
    stream.subjects.insert(stream.subjects.end(), more.begin(), more.end());
  };
  if (!options.corpus.empty()) append(languages_in(options.corpus));
  if (!options.list.empty()) append(lines_listed(options.list));
  stream.output = options.output;
  stream.reading = options.reading;
  stream.algebra = options.algebra;
  stream.seconds = options.seconds;
  stream.threads = options.threads;
  stream.witnesses = options.witnesses;
  stream.said = options_in_words(options);
  return options.shards.any() ? classify_in_shards(options, stream) : classify_stream(stream);
}

int classify_all(const ClassifyArguments& options) {
  if (options.is_list()) return classify_many(options);
  const Subject subject = load_subject(options.subjects[0], options.reading, stderr);
  const State left_out = tell_left_out(subject, options.json);
  JobsTold telling(options, subject, left_out);
  const std::vector<Job> jobs = classify(subject.automaton, options.algebra, [&telling](const Job& job) {
    if (!job.algebra.verdicts.empty()) {
      telling.know(job);
      return tell_if_ended([text = telling.text()](const std::string&) { return text; });
    }
    tell_if_ended([so_far = telling, name = job.name, automaton = job.automaton](const std::string& limit) {
      JobsTold known = so_far;
      Algebra algebra;
      algebra.limit = limit;
      algebra.verdicts = partial_verdicts(automaton, limit);
      known.know({name, automaton, std::move(algebra), {}, {}, {}, 0, {}});
      return known.text();
    });
  });
  tell_if_ended({});
  print_told(telling.text());
  return undecided(jobs) == 0 ? kDone : kUndecided;
}

}  // namespace

Work add_classify(Verb& verb) {
  const auto options = std::make_shared<ClassifyArguments>();
  verb.add_option("LANGUAGE", options->subjects,
                  "A file, regex:…, name:…, or a .safetensors model; or several languages");
  verb.add_option("--corpus", options->corpus, "Classify every language file in this folder").type_name("FOLDER");
  verb.add_option("--list", options->list, "Classify the languages of this file, one a line; -: standard input")
      .type_name("FILE");
  verb.add_option("-o,--output", options->output, "Of many: write the lines here, and continue after those there")
      .type_name("FILE");
  verb.add_flag("--witnesses", options->witnesses, "Of many: with defining words and witnesses");
  add_threads(verb, options->threads);
  add_count(verb, "--max-elements", options->algebra.max_elements,
            "Most elements of the monoid for verdicts that need them one by one");
  add_count(verb, "--max-classes", options->algebra.green.max_r_classes, "Most R-classes of the monoid");
  add_json_flag(verb, options->json);
  add_shard_options(verb, options->shards);
  options->reading.start_is_optional = true;
  add_language_options(verb, options->reading);
  verb.before_work([options] {
    if (options->subjects.empty() && options->corpus.empty() && options->list.empty())
      throw InputError("classify: a LANGUAGE, --corpus or --list is needed");
    options->shards.check();
    if (options->is_list()) options->seconds = std::exchange(given_limits().seconds, 0);
  });
  return [options] { return classify_all(*options); };
}

}  // namespace krohn
