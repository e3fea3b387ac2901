// krohn elements — what the letters do to the states: the transformation semigroup, element by element.

#include <fmt/format.h>

#include <memory>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/monoid/algebra.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/groups/transformations/transformation_monoid.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

struct ElementsArguments {
  std::string subject;
  LanguageOptions reading;
  std::optional<std::string> word;
  std::uint64_t max_elements = 100'000;
  std::string limit;  ///< that ended the enumeration, where it is not complete
  bool idempotents = false, relations = false, minimal = false, json = false;
};

using Element = TransformationMonoid::Element;

std::string or_epsilon(const std::string& word) { return word.empty() ? "ε" : visible(word); }

std::string word_text(const Dfa& dfa, const TransformationMonoid::Word& word) {
  return dfa.alphabet().format_word(Word(word.begin(), word.end()));
}

Json image_of(const Dfa& dfa, const Transformation& map) {
  Json image = Json::array();
  for (State state = 0; state < dfa.states(); ++state) image.push_back(map[state]);
  return image;
}

/// True if a word of at least one letter acts as the empty one.
bool identity_is_reached(const TransformationMonoid& monoid) {
  for (Element e = 0; e < monoid.size(); ++e)
    for (std::uint32_t letter = 0; letter < monoid.generators(); ++letter)
      if (monoid.right(e, letter) == 0) return true;
  return false;
}

/// The least i and p with x^i = x^(i+p), counting from 1.
std::pair<std::uint64_t, std::uint64_t> index_and_period(const TransformationMonoid& monoid, Element x) {
  std::vector<Element> powers{x};
  while (true) {
    const Element next = monoid.product(powers.back(), x);
    for (std::size_t i = 0; i < powers.size(); ++i)
      if (powers[i] == next) return {i + 1, powers.size() - i};
    powers.push_back(next);
  }
}

int print_element(const ElementsArguments& options, const Dfa& dfa, const TransformationMonoid& monoid) {
  if (!monoid.complete()) throw LimitError(options.limit);
  Element element = 0;
  for (const Letter letter : dfa.alphabet().parse_word(*options.word)) element = monoid.right(element, letter);
  const auto [index, period] = index_and_period(monoid, element);
  const Json image = image_of(dfa, monoid.element(element));
  if (options.json) {
    print_json({{"word", *options.word},
                {"shortest_word", word_text(dfa, monoid.word(element))},
                {"index", index},
                {"period", period},
                {"idempotent", monoid.is_idempotent(element)},
                {"image", image}});
    return kDone;
  }
  fmt::print("{}", format_table({{"word", or_epsilon(*options.word)},
                                 {"shortest", or_epsilon(word_text(dfa, monoid.word(element)))},
                                 {"index", fmt::format("{}, period {}{}", index, period,
                                                       monoid.is_idempotent(element) ? ": idempotent" : "")},
                                 {"image", image.dump()}}));
  return kDone;
}

int print_relations(const ElementsArguments& options, const Dfa& dfa, const TransformationMonoid& monoid) {
  if (!monoid.complete()) throw LimitError(options.limit);
  Json list = Json::array();
  for (const Relation& relation : complete_presentation(monoid)) {
    const std::string left = word_text(dfa, relation.left), right = word_text(dfa, relation.right);
    list.push_back({left, right});
    if (!options.json) fmt::print("{} = {}\n", or_epsilon(left), or_epsilon(right));
  }
  if (options.json) print_json({{"subject", options.subject}, {"relations", list}});
  return kDone;
}

int print_elements(const ElementsArguments& options, const Dfa& dfa, const TransformationMonoid& monoid) {
  if (options.idempotents && !monoid.complete()) throw LimitError(options.limit);
  Json list = Json::array();
  std::vector<std::vector<std::string>> rows;
  for (Element e = 0; e < monoid.size(); ++e) {
    const bool idempotent = monoid.complete() && monoid.is_idempotent(e);
    if (options.idempotents && !idempotent) continue;
    const std::string word = word_text(dfa, monoid.word(e));
    const Json image = image_of(dfa, monoid.element(e));
    if (options.json)
      list.push_back({{"word", word}, {"idempotent", idempotent}, {"image", image}});
    else
      rows.push_back({or_epsilon(word), image.dump(), idempotent ? "idempotent" : ""});
  }
  const bool reached = monoid.complete() && identity_is_reached(monoid);
  if (options.json) {
    print_json({{"subject", options.subject},
                {"states", dfa.states()},
                {"complete", monoid.complete()},
                {"monoid_size", monoid.size()},
                {"identity_in_semigroup", reached},
                {"elements", list}});
  } else {
    fmt::print("{}", format_table(rows));
    if (monoid.complete())
      fmt::print("  {} of {}, {} idempotent; the identity is {} of a word of letters\n",
                 counted(monoid.size(), "element"), counted(dfa.states(), "state"),
                 with_thousands(monoid.idempotents()), reached ? "also the action" : "not the action");
  }
  if (!monoid.complete()) throw LimitError(options.limit);
  return kDone;
}

int elements(ElementsArguments options) {
  const Subject subject = load_subject(options.subject, options.reading, stderr);
  const Dfa dfa = options.minimal ? minimise(subject.automaton) : subject.automaton;
  TransformationMonoid::Options limits;
  limits.max_elements = options.max_elements;
  limits.ends_with_time = true;
  const TransformationMonoid monoid = [&] {
    const TimeLimit most = TimeLimit::part(0.8);  // the rest is for printing them
    Progress progress("enumerating elements");
    limits.progress = [&progress](std::uint64_t found) { progress.update(found); };
    TransformationMonoid found = TransformationMonoid::enumerate(letter_maps(dfa), dfa.states(), limits);
    options.limit = TimeLimit::met();
    return found;
  }();
  options.limit =
      monoid.size() > options.max_elements
          ? fmt::format("more than {} elements; raise --max-elements", with_thousands(options.max_elements))
          : fmt::format("{} is used up, with {} elements; allow more", options.limit, with_thousands(monoid.size()));
  if (options.word) return print_element(options, dfa, monoid);
  return options.relations ? print_relations(options, dfa, monoid) : print_elements(options, dfa, monoid);
}

}  // namespace

Work add_elements(Verb& verb) {
  const auto options = std::make_shared<ElementsArguments>();
  verb.add_option("LANGUAGE", options->subject, "A file, regex:…, name:…, expr:…, or a .safetensors model").required();
  verb.add_flag("--idempotents", options->idempotents, "Only elements with e·e = e");
  verb.add_option("--word", options->word, "The element of this word");
  verb.add_flag("--relations", options->relations, "A complete presentation");
  verb.add_flag("--minimal", options->minimal, "Of the minimal automaton");
  add_count(verb, "--max-elements", options->max_elements, "Most elements");
  add_json_flag(verb, options->json);
  options->reading.start_is_optional = true;
  add_language_options(verb, options->reading);
  return [options] { return elements(*options); };
}

}  // namespace krohn
