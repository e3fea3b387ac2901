// krohn smallest — proved lower bounds on networks for a language, beside what krohn builds.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "krohn/automata/monoid/algebra.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/constructions/smallest/smallest.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/names/named_group.h"
#include "krohn/groups/permutations/group_elements.h"
#include "krohn/groups/structure/composition.h"
#include "krohn/groups/transformations/transformation_monoid.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

constexpr Point kMaxPoints = 3;
constexpr std::uint32_t kMaxElements = 24;

Dfa machine(const std::vector<Transformation>& letters, Point states, State initial) {
  std::vector<State> table;
  for (State q = 0; q < states; ++q)
    for (const Transformation& letter : letters) table.push_back(letter[q]);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < letters.size(); ++i) names.push_back(fmt::format("s{}", i));
  return Dfa::acceptor(Alphabet::from_names(names), std::move(table), initial, std::vector<bool>(states, false));
}

/// A state from which every state is reached.
std::optional<State> source(const std::vector<Transformation>& elements, Point states) {
  for (State q = 0; q < states; ++q) {
    std::set<Point> reached;
    for (const Transformation& f : elements) reached.insert(f[q]);
    if (reached.size() == states) return q;
  }
  return std::nullopt;
}

/// "2", where bound and plan meet; "2 (3)" for a bound of 2 and a network of 3; "none" where no number is enough; "–"
/// where there is no bound.
std::string cell(const Smallest& found, std::string_view counted, std::string_view model) {
  const auto bound = std::ranges::find_if(
      found.bounds, [&](const SizeBound& row) { return row.counted == counted && row.model.starts_with(model); });
  if (bound == found.bounds.end()) return "–";
  if (bound->is_optimal()) return fmt::format("**{}**", bound->least());
  return bound->built ? fmt::format("{} ({})", bound->least(), *bound->built) : bound->least();
}

struct Column {
  const char* title;
  const char* counted;
  const char* model;
};

std::string heading(const std::string& first, std::span<const Column> columns) {
  std::string titles = first, rule;
  for (const Column& column : columns) titles += fmt::format(" {} |", column.title);
  for (const char c : titles)
    if (c == '|') rule += rule.empty() ? "|" : "---|";
  return fmt::format("{}\n{}\n", titles, rule);
}

std::string cells(const Smallest& found, std::span<const Column> columns) {
  std::string row;
  for (const Column& column : columns) row += fmt::format(" {} |", cell(found, column.counted, column.model));
  return row;
}

constexpr Column kMonoidColumns[] = {{"numbers, any read-out", "numbers of state", "one layer, finitely many values"},
                                     {"numbers, read linearly", "numbers of state", "one layer, read linearly"},
                                     {"the same, nothing added", "numbers of state", "one layer, no inputs added"},
                                     {"reflections", "reflections per letter", "one layer, finitely many values"},
                                     {"labels of the widest layer", "labels of the widest layer", "cascade"},
                                     {"layers with groups", "layers with groups", "cascade"},
                                     {"reset layers", "layers", "diagonal matrices in [0, 1]"}};

constexpr Column kGroupColumns[] = {
    {"numbers, a matrix for each element", "numbers of state", "one layer, a matrix for each element"},
    {"numbers, any read-out", "numbers of state", "one layer, finitely many values"},
    {"reflections, a matrix for each element", "reflections per letter", "one layer, a matrix for each element"},
    {"reflections, any layer", "reflections per letter", "one layer, finitely many values"},
    {"labels of the widest layer", "labels of the widest layer", "cascade"},
    {"diagonal complex layers", "layers", "diagonal complex"}};

std::string groups_of(const Dfa& automaton) {
  std::string text;
  const GreenStructure green = GreenStructure::of(letter_maps(automaton), automaton.states());
  for (const DClass& box : green.d_classes())
    if (box.regular && box.group_order > 1) text += (text.empty() ? "" : ", ") + recognised_name(box.group);
  return text.empty() ? "none" : text;
}

/// Every monoid of maps of one, two or three points, up to the names of the points, as Markdown: the machine whose
/// letters are a least generating set, told to show its state.
std::string smallest_monoids_table() {
  std::string text = heading("| points | elements | letters | groups |", kMonoidColumns);
  for (Point points = 1; points <= kMaxPoints; ++points)
    for (const SmallMonoid& monoid : monoids_on(points)) {
      std::string letters;
      for (const Transformation& letter : monoid.generators)
        letters += (letters.empty() ? "" : " ") + to_string(letter);
      const auto start = source(monoid.elements, points);
      const Dfa automaton = machine(monoid.generators, points, start.value_or(0));
      text += fmt::format("| {} | {} | {} | {} |", points, monoid.elements.size(), letters, groups_of(automaton));
      if (start) {
        text += cells(smallest(automaton, states_shown(automaton)), kMonoidColumns);
      } else {
        for (std::size_t i = 0; i < std::size(kMonoidColumns); ++i) text += " |";
      }
      text += "\n";
    }
  return text;
}

/// Every group of at most 24 elements: its word problem with all elements as letters.
std::string smallest_groups_table() {
  std::string text = heading("| order | group |", kGroupColumns);
  for (std::uint32_t size = 1; size <= kMaxElements; ++size)
    for (const PermutationGroup& group : groups_of_order(size)) {
      const GroupElements elements = GroupElements::enumerate(group);
      std::vector<Transformation> letters;
      for (ElementIndex e = 0; e < elements.size(); ++e) {
        const auto images = elements.images(e);
        letters.push_back(Transformation::from_images({images.begin(), images.end()}));
      }
      const Dfa automaton = machine(letters, size, 0);
      text += fmt::format("| {} | {} |{}\n", size, recognised_name(group),
                          cells(smallest(automaton, states_shown(automaton)), kGroupColumns));
    }
  return text;
}

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
    std::string text = fmt::format("{}: {}, {}\n{}", title(options.subject), counted(automaton.states(), "state"),
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
