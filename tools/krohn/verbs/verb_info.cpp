// krohn info — facts about a language, its automaton, and the network of a model.

#include <fmt/format.h>

#include <exception>
#include <memory>
#include <variant>

#include "krohn/automata/cascades/cascade.h"
#include "krohn/automata/dfa/graph.h"
#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/draw/draw.h"
#include "krohn/automata/formats/json.h"
#include "krohn/automata/monoid/properties.h"
#include "krohn/automata/operations/accepted_words.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/automata/syntax/temporal.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/names/named_group.h"
#include "krohn/groups/permutations/stabiliser_chain.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/report/classification.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/report/verdict.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

constexpr std::uint64_t kCountedLength = 12;
constexpr std::uint64_t kMaxCountedTransitions = 10'000'000;
constexpr std::size_t kShownList = 60;
constexpr Point kMaxNamedDegree = 200;

struct InfoArguments {
  std::string subject;
  LanguageOptions reading;
  GreenOptions green;
  std::uint64_t max_letters = 1024;
  bool monoid = false, json = false;
};

Json language_facts(const Dfa& dfa) {
  Json facts;
  const bool empty = is_empty(dfa);
  facts["empty"] = empty;
  facts["finite"] = is_finite(dfa);
  facts["universal"] = is_universal(dfa);
  if (const auto word = shortest_accepted_word(dfa)) {
    facts["shortest_accepted_word"] = dfa.alphabet().format_word(*word);
    facts["shortest_accepted_length"] = word->size();
  }
  if (dfa.table().size() <= kMaxCountedTransitions)
    for (const Count& count : count_words_by_length(dfa, kCountedLength))
      facts["words_by_length"].push_back(exact_count(count.str()));
  return facts;
}

/// For the states that words reach, with the sentence for people.
Json synchronisation_facts(const Dfa& dfa) {
  const Synchronisation found = synchronise(dfa);
  Json facts{{"answer", to_string(found.answer)}, {"why", in_words(dfa, found)}};
  if (found.answer == Answer::kYes) {
    facts["word"] = dfa.alphabet().format_word(found.word);
    facts["length"] = found.word.size();
    facts["shortest"] = found.is_shortest;
  }
  if (found.answer == Answer::kNo) facts["states"] = {dfa.state_name(found.first), dfa.state_name(found.second)};
  return facts;
}

Json network_facts(const Network& network, const LanguageOptions& reading) {
  const NetworkSize size = size_of(network);
  Json facts;
  facts["construction"] = network.provenance.construction;
  facts["source"] = source_in_words(network, reading);
  facts["theorem"] = network.provenance.theorem;
  facts["layers"] = size.layers;
  facts["state_numbers"] = size.state_numbers;
  facts["reflections_per_token"] = size.reflections_per_token < 0 ? Json() : Json(size.reflections_per_token);
  facts["alphabet_sizes"] = size.alphabet_sizes;
  facts["weights"] = size.weights;
  return facts;
}

/// The automaton of a formula over valuations; without its letters where they are too many to list.
std::optional<std::variant<Dfa, ValuedGraph>> automaton_of_formula(const InfoArguments& options) {
  const std::string_view prefix = prefix_of_language(options.subject), subject = options.subject;
  if (options.monoid || !is_temporal(prefix) || options.reading.alphabet != kValuationsAlphabet) return std::nullopt;
  TemporalOptions temporal;
  temporal.max_states = options.reading.max_states;
  return automaton_over_valuations(subject.substr(prefix.size()), prefix == kPastPrefix, options.max_letters, temporal);
}

/// Facts about the graph of an automaton without its letters.
Json facts_without_letters(const InfoArguments& options, const ValuedGraph& valued) {
  const Dfa& graph = valued.graph;
  Json facts;
  facts["subject"] = options.subject;
  facts["states"] = facts["reachable_states"] = facts["minimal_states"] = graph.states();
  facts["more_letters_than"] = options.max_letters;
  facts["propositions"] = valued.propositions.size();
  facts["outputs"] = std::vector<std::string>(graph.output_names().begin(), graph.output_names().end());
  facts["components"] = strongly_connected_components(graph).count;
  facts["empty"] = is_empty(graph);
  facts["finite"] = is_finite(graph);
  facts["universal"] = is_universal(graph);
  if (const auto word = shortest_accepted_word(graph)) {
    std::string text;
    State state = graph.initial();
    for (const Letter letter : *word) {
      const State next = graph.next(state, letter);
      text += (text.empty() ? "" : " ") + valued.valuation(state, next).value();
      state = next;
    }
    facts["shortest_accepted_word"] = text;
    facts["shortest_accepted_length"] = word->size();
  }
  return facts;
}

/// The group of "name:M24/points", where a group is named.
std::optional<PermutationGroup> group_of_name(const std::string& subject) {
  constexpr std::string_view kPrefix = "name:";
  if (!subject.starts_with(kPrefix)) return std::nullopt;
  const std::string name = subject.substr(kPrefix.size(), subject.find('/') - kPrefix.size());
  return is_group_name(name) ? std::optional(named_group(name)) : std::nullopt;
}

/// The order of the group that the subject is named after, where its letters generate another one on the states.
Json order_of_name(const Subject& subject, const Json& facts) {
  const auto group = group_of_name(subject.name);
  if (!group || group->degree() > kMaxNamedDegree) return nullptr;
  Json named = exact_count(order(*group).str());
  return named == facts["order"] ? Json() : named;
}

/// Short work first.
void add_facts(const Subject& subject, const LanguageOptions& reading, Json& facts) {
  const Dfa reachable = canonical(subject.automaton);
  const Dfa minimal = minimise(subject.automaton);
  facts["subject"] = subject.name;
  if (subject.has_inferred_letters) facts["letters_inferred"] = true;
  facts["states"] = subject.automaton.states();
  facts["reachable_states"] = reachable.states();
  if (!subject.automaton.has_start()) facts["has_start"] = false;
  facts["minimal_states"] = minimal.states();
  facts["letters"] = reachable.alphabet().names();
  facts["outputs"] = std::vector<std::string>(reachable.output_names().begin(), reachable.output_names().end());
  facts["components"] = strongly_connected_components(reachable).count;
  facts["permutation_automaton"] = reachable.is_permutation_automaton();
  facts["synchronising"] = synchronisation_facts(reachable);
  if (subject.network) facts["network"] = network_facts(*subject.network, reading);
  if (reachable.is_acceptor()) facts.update(language_facts(minimal));
  if (reachable.is_permutation_automaton()) {
    facts["group"] = group_facts(reachable);
    if (Json named = order_of_name(subject, facts["group"]); !named.is_null()) facts["named_group_order"] = named;
  }
}

/// As many whole items of a list as are shown; a list that `goes_on` never ends.
std::string joined(const Json& list, bool goes_on = false) {
  std::string text;
  for (const Json& item : list) {
    if (text.size() > kShownList) return text + " …";
    text += (text.empty() ? "" : " ") + shortened(text_of(item), kShownList);
  }
  return text + (goes_on ? " …" : "");
}

std::string states_in_words(const Json& facts) {
  const std::uint64_t given = facts["states"], reachable = facts["reachable_states"], minimal = facts["minimal_states"];
  std::string text = with_thousands(given);
  if (facts.contains("has_start")) return text + ", any of which may come first";
  if (reachable < given) text += fmt::format(", {} reachable", with_thousands(reachable));
  return text + (minimal == given ? ", minimal" : fmt::format("; {} when minimised", with_thousands(minimal)));
}

std::string language_in_words(const Json& facts) {
  if (facts["empty"]) return "empty";
  std::string text = facts["universal"] ? "every word" : facts["finite"] ? "finite" : "infinite";
  const std::string word = facts["shortest_accepted_word"];
  return text + (facts["shortest_accepted_length"] == 0
                     ? "; accepts the empty word"
                     : fmt::format("; shortest word \"{}\"", shortened(word, kShownList)));
}

std::string letters_in_words(const Json& facts, const std::string& remark) {
  if (!facts.contains("letters"))
    return fmt::format("more than {} of valuations of {}",
                       counted(facts["more_letters_than"].get<std::uint64_t>(), "class", "es"),
                       counted(facts["propositions"].get<std::uint64_t>(), "proposition"));
  const Json& letters = facts["letters"];
  return (letters.empty() ? "none" : fmt::format("{}: {}", letters.size(), joined(letters))) + remark;
}

void print(const Json& facts, const std::string& remark) {
  std::vector<std::vector<std::string>> rows;
  rows.push_back({"states", states_in_words(facts)});
  rows.push_back({"letters", letters_in_words(facts, remark)});
  rows.push_back({"outputs", joined(facts["outputs"])});
  rows.push_back({"components", with_thousands(facts["components"].get<std::uint64_t>())});
  if (facts.contains("synchronising"))
    rows.push_back({"synchronising", fmt::format("{}, {}", facts["synchronising"]["answer"].get<std::string>(),
                                                 shortened(facts["synchronising"]["why"], kShownList))});
  if (facts.contains("empty")) rows.push_back({"language", language_in_words(facts)});
  if (facts.contains("words_by_length"))
    rows.push_back({"words", "of length 0, 1, 2, …: " + joined(facts["words_by_length"], true)});
  if (facts.contains("group"))
    for (const auto& row : group_rows(facts["group"])) rows.push_back(row);
  else if (facts.contains("letters") && !facts["permutation_automaton"])
    rows.push_back({"group", "some letters do not permute the states"});
  if (facts.contains("named_group_order"))
    rows.push_back(
        {"", "on the reachable states; the group of that name has order " + text_of(facts["named_group_order"])});
  if (facts.contains("network")) {
    const Json& network = facts["network"];
    rows.push_back(
        {"network", fmt::format("{} of {} ({})", network["construction"].get<std::string>(),
                                network["source"].get<std::string>(), network["theorem"].get<std::string>())});
    rows.push_back({"", fmt::format("{}, state size {}, {}", counted(network["layers"], "layer"),
                                    with_thousands(network["state_numbers"]), counted(network["weights"], "weight"))});
  }
  fmt::print("{}\n{}", title(facts["subject"].get<std::string>()), format_table(rows));
}

Json monoid_facts(const Dfa& dfa, const Algebra& algebra) {
  Json facts;
  facts["size"] = exact_count(algebra.size.str());
  facts["idempotents"] = exact_count(algebra.idempotents.str());
  for (const DClass& box : algebra.green.value().d_classes())
    facts["d_classes"].push_back({{"size", exact_count(box.size.str())},
                                  {"rank", box.rank},
                                  {"r_classes", box.r_classes},
                                  {"l_classes", box.l_classes},
                                  {"group_order", exact_count(box.group_order.str())},
                                  {"regular", box.regular},
                                  {"idempotents", box.idempotents},
                                  {"word", dfa.alphabet().format_word(box.word)},
                                  {"below", box.below}});
  return facts;
}

void print_monoid(const Dfa& dfa, const Algebra& algebra) {
  fmt::print("\ntransition monoid of {}: {} in {}, {}\n{}", dfa.has_start() ? "the minimal automaton" : "all states",
             counted(algebra.size.str(), "element"), counted(algebra.green.value().d_classes().size(), "D-class", "es"),
             counted(algebra.idempotents.str(), "idempotent"), visible_lines(egg_box_text(dfa, algebra)));
}

/// Where the automaton is too large: what is known of its group is printed, then the limit is thrown.
[[noreturn]] void print_group_alone(const InfoArguments& options, const LimitError& error) {
  const auto group = group_of_name(options.subject);
  if (!group) throw;
  const Json facts = group_facts(*group);
  if (options.json)
    print_json({{"subject", options.subject}, {"limit", error.what()}, {"group", facts}});
  else
    fmt::print("{}\n{}", title(options.subject), format_table(group_rows(facts)));
  if (options.subject.find('/') != std::string::npos) throw;
  throw LimitError(fmt::format("{}\n`krohn info {}/points` has one state for each of the {}.", error.what(),
                               options.subject, counted(group->degree(), "point")));
}

Subject load(const InfoArguments& options) {
  try {
    return load_subject(options.subject, options.reading, stderr);
  } catch (const LimitError& error) {
    print_group_alone(options, error);
  }
}

/// Adds the monoid to the facts, or prints it. The status.
int add_monoid(const InfoArguments& options, const Dfa& minimal, Json& facts) {
  AlgebraOptions algebra_options;
  algebra_options.green = options.green;
  Json monoid;
  const bool is_found = finds_all(monoid, options.json, [&] {
    const Algebra algebra = analyse(minimal, algebra_options);
    if (options.json)
      monoid = monoid_facts(minimal, algebra);
    else
      print_monoid(minimal, algebra);
  });
  if (options.json) facts["monoid"] = std::move(monoid);
  return is_found ? kDone : kUndecided;
}

int info(const InfoArguments& options) {
  auto formula = automaton_of_formula(options);
  if (const auto* valued = formula ? std::get_if<ValuedGraph>(&*formula) : nullptr) {
    const Json facts = facts_without_letters(options, *valued);
    if (options.json)
      print_json(facts);
    else
      print(facts, "");
    return kDone;
  }
  const Subject subject =
      formula ? Subject{options.subject, std::get<Dfa>(*std::move(formula)), std::nullopt, false} : load(options);
  tell_left_out(subject, options.json);
  Json facts;
  std::exception_ptr met;
  try {
    add_facts(subject, options.reading, facts);
  } catch (const LimitError& error) {
    if (!facts.contains("permutation_automaton")) throw;
    facts["limit"] = error.what();
    met = std::current_exception();
  }
  if (!options.json) print(facts, remark_on_letters(subject));
  if (met && !options.json) std::rethrow_exception(met);
  const int status = met              ? int{kUndecided}
                     : options.monoid ? add_monoid(options, minimise(subject.automaton), facts)
                                      : int{kDone};
  if (options.json) print_json(facts);
  return status;
}

}  // namespace

Work add_info(Verb& verb) {
  const auto options = std::make_shared<InfoArguments>();
  verb.add_option("LANGUAGE", options->subject, "A file, regex:…, name:…, or a .safetensors model").required();
  verb.add_flag("--monoid", options->monoid, "The transition monoid of the minimal automaton, as egg-boxes");
  add_count(verb, "--max-letters", options->max_letters,
            "Most classes of valuations that are letters; with more, facts about letters and words are left out");
  add_count(verb, "--max-classes", options->green.max_r_classes, "Most R-classes of the monoid");
  add_json_flag(verb, options->json);
  options->reading.start_is_optional = true;
  add_language_options(verb, options->reading);
  return [options] { return info(*options); };
}

}  // namespace krohn
