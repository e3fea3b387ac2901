// krohn smallest — proved lower bounds on networks for a language, beside what krohn builds.

#include <fmt/format.h>

#include <memory>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/constructions/smallest/smallest.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/messages.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/report/json_output.h"
#include "tools/krohn/report/smallest_table.h"
#include "tools/krohn/report/table.h"
#include "tools/krohn/verb.h"
#include "tools/krohn/watch.h"

namespace krohn {
namespace {

struct SmallestArguments {
  std::string subject, task, table;
  LanguageOptions reading;
  bool json = false;
};

std::string verdict(const SizeBound& bound) {
  if (bound.is_impossible) return "impossible";
  if (!bound.built) return "nothing is built";
  return bound.is_optimal() ? "optimal" : fmt::format("gap {}", *bound.built - bound.at_least);
}

Json bound_json(const SizeBound& bound) {
  Json json{{"counted", bound.counted}, {"model", bound.model}};
  json["at_least"] = bound.is_impossible ? Json() : Json(bound.at_least);
  json["impossible"] = bound.is_impossible;
  json["because"] = bound.because;
  json["built"] = bound.built ? Json(*bound.built) : Json();
  json["construction"] = bound.construction;
  json["optimal"] = bound.is_optimal();
  return json;
}

Json witness_json(const Smallest& found, const Alphabet& alphabet) {
  Json witness;
  if (found.rank) {
    Json minor{{"modulo", found.rank->minor.prime}};
    for (const Word& row : found.rank->minor.rows) minor["rows"].push_back(alphabet.format_word(row));
    for (const HankelMinor::Column& column : found.rank->minor.columns)
      minor["columns"].push_back({{"word", alphabet.format_word(column.word)}, {"shown", column.shown}});
    witness["hankel"] = {{"rank", found.rank->rank},
                         {"rank_is_exact", found.rank->is_exact},
                         {"rank_modulo_2", found.rank->modulo_2},
                         {"minor", std::move(minor)}};
  }
  if (found.finite_values) {
    Json chain = Json::array(), group = Json::array();
    for (const PowerOfWord& link : found.finite_values->chain)
      chain.push_back({{"word", alphabet.format_word(link.word)}, {"exponent", link.exponent}});
    for (const Word& word : found.finite_values->group) group.push_back(alphabet.format_word(word));
    witness["finitely_many_values"] = {{"idempotents", std::move(chain)},
                                       {"group", found.finite_values->group_name},
                                       {"group_words", std::move(group)},
                                       {"group_needs", found.finite_values->group_dimension}};
  }
  return witness;
}

/// How bounds are told, of the automaton that they are about.
struct SizesTold {
  SmallestArguments options;
  Dfa automaton;
  std::string task;

  std::string operator()(const Smallest& found) const {
    if (options.json) {
      Json facts{{"subject", options.subject}, {"task", task}, {"states", automaton.states()}};
      for (const SizeBound& bound : found.bounds) facts["bounds"].push_back(bound_json(bound));
      facts["witnesses"] = witness_json(found, automaton.alphabet());
      facts["limits"] = found.limits;
      return report_text(facts);
    }
    std::vector<std::vector<std::string>> rows{
        {"counted", "in networks of", "at least", "krohn builds", "", "by", "why no fewer"}};
    for (const SizeBound& bound : found.bounds)
      rows.push_back({bound.counted, bound.model, bound.least(), bound.built ? std::to_string(*bound.built) : "-",
                      verdict(bound), bound.construction, bound.because});
    std::string text = fmt::format("{}: {}, {}\n{}", visible(options.subject), counted(automaton.states(), "state"),
                                   task == "state" ? "state tracking" : "minimal, for acceptance", format_table(rows));
    for (const std::string& limit : found.limits) text += limit + "\n";
    return text;
  }
};

int report(const SmallestArguments& options) {
  const Subject subject = load_subject(options.subject, options.reading, stderr);
  const Dfa& given = subject.automaton;
  const std::string task = !options.task.empty() ? options.task : given.is_acceptor() ? "acceptance" : "state";
  if (task == "state") tell_left_out(subject, options.json);
  const auto telling =
      std::make_shared<const SizesTold>(options, task == "state" ? canonical(given) : minimise(given), task);
  const Dfa& automaton = telling->automaton;
  const Smallest found = smallest(automaton, task == "state" ? states_shown(automaton) : outputs_shown(automaton),
                                  [&telling](const Smallest& known) {
                                    tell_if_ended([telling, so_far = Smallest(known)](const std::string& limit) {
                                      Smallest told = so_far;
                                      told.limits.push_back(limit);
                                      return (*telling)(told);
                                    });
                                  });
  tell_if_ended({});
  print_told((*telling)(found));
  return found.limits.empty() ? kDone : kUndecided;
}

int run_smallest(const SmallestArguments& options) {
  if (options.subject.empty() == options.table.empty())
    throw InputError("smallest", "a LANGUAGE or --table NAME is needed, one of the two");
  if (options.table.empty()) return report(options);
  fmt::print("{}", options.table == "groups" ? smallest_groups_table() : smallest_monoids_table());
  return kDone;
}

}  // namespace

Work add_smallest(Verb& verb) {
  const auto options = std::make_shared<SmallestArguments>();
  verb.add_option("LANGUAGE", options->subject, "A file, regex:…, name:…, or a .safetensors model");
  verb.add_option("--task", options->task, "What the network has to get right").one_of({"acceptance", "state"});
  verb.add_option("--table", options->table, "All small monoids, or all small groups").one_of({"monoids", "groups"});
  add_json_flag(verb, options->json);
  add_language_options(verb, options->reading);
  return [options] { return run_smallest(*options); };
}

}  // namespace krohn
