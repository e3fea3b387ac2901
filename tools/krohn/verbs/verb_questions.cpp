// krohn equal, included, disjoint, empty — questions about one language or two; the status is 0 for yes, 1 for no.

#include <fmt/format.h>

#include <memory>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/automata/operations/questions.h"
#include "krohn/groups/base/error.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

constexpr std::size_t kAnswerColumns = 100;

struct QuestionArguments {
  std::string first, second;  ///< the second is empty where there is one language only
  LanguageOptions reading;
  QuestionLimits limits;
  bool json = false;
};

/// How a question is put, what its answers are, and who gives them.
struct LanguageQuestion {
  const char *name, *yes, *no;
  DecidingWord (*decide)(const Automaton& a, const Automaton& b, const QuestionLimits& limits);
  bool is_about_two = true;
};

constexpr LanguageQuestion kEqual{"equal", "equal: the same words", "not equal", distinguishing_word},
    kIncluded{"included", "included: every word of the first is one of the second", "not included", excess_word},
    kDisjoint{"disjoint", "disjoint: no word is in both", "not disjoint", common_word},
    kEmpty{"empty", "empty: no word at all", "not empty",
           [](const Automaton&a, const Automaton&, const QuestionLimits&limits) { return accepted_word(a, limits); },
           false};

/// The answer of a machine with outputs to the word, over the common letters.
std::string output_of(const Automaton& automaton, const std::vector<std::optional<Letter>>& letters, const Word& word) {
  const Dfa& dfa = std::get<Dfa>(automaton);
  State state = dfa.initial();
  for (const Letter letter : word) state = dfa.next(state, letters[letter].value());
  return dfa.output_names()[dfa.output(state)];
}

bool has_outputs(const Automaton& automaton) {
  const Dfa* dfa = std::get_if<Dfa>(&automaton);
  return dfa != nullptr && !dfa->is_acceptor();
}

/// "; b.dot has no letter \"c\"", where that is so: it rejects all words with one.
std::string lacking(const std::string& name, const Alphabet& merged,
                    const std::vector<std::optional<Letter>>& letters) {
  std::string missing;
  for (Letter letter = 0; letter < letters.size(); ++letter)
    if (!letters[letter]) missing += (missing.empty() ? "" : " ") + merged.name(letter);
  return missing.empty() ? ""
                         : fmt::format("{} has no letter {}, and rejects words with one", name, shortened(missing, 60));
}

int ask(const LanguageQuestion& question, const QuestionArguments& options) {
  const bool two = question.is_about_two;
  const Automaton a = load_operand(options.first, options.reading);
  const Automaton b = two ? load_operand(options.second, options.reading) : a;
  const AlphabetRefinement common = refine(alphabet_of(a), alphabet_of(b));
  const DecidingWord answer = question.decide(a, b, options.limits);
  const bool outputs = has_outputs(a) || has_outputs(b);
  if (options.json) {
    Json json{{"question", question.name}, {"first", options.first}};
    if (two) json["second"] = options.second;
    json["answer"] = !answer.word;
    if (answer.word) {
      json["word"] = common.merged.format_word(*answer.word);
      json["word_length"] = answer.word->size();
      if (outputs) {
        json["outputs"] = {output_of(a, common.in_a, *answer.word), output_of(b, common.in_b, *answer.word)};
      } else if (two) {
        json["in_first"] = answer.in_first;
        json["in_second"] = answer.in_second;
      }
    }
    json["pairs"] = answer.pairs;
    print_json(json);
    return answer.word ? kRefuted : kDone;
  }
  std::string text = answer.word                       ? question.no
                     : outputs && &question == &kEqual ? "equal: the same output after every word"
                                                       : question.yes;
  if (answer.word) {
    const std::string word = quoted_word(common.merged, *answer.word);
    const std::string first = visible(options.first), second = visible(options.second);
    if (outputs)
      text += fmt::format(": on {} the outputs are {} of {} and {} of {}", word,
                          in_quotes(output_of(a, common.in_a, *answer.word)), first,
                          in_quotes(output_of(b, common.in_b, *answer.word)), second);
    else if (!two)
      text += fmt::format(": {} is in {}", word, first);
    else if (answer.in_first && answer.in_second)
      text += fmt::format(": {} is in both", word);
    else
      text += fmt::format(": {} is in {} and not in {}", word, answer.in_first ? first : second,
                          answer.in_first ? second : first);
  }
  fmt::print("{}\n", text);
  if (two && !outputs)
    for (const std::string& remark :
         {lacking(options.first, common.merged, common.in_a), lacking(options.second, common.merged, common.in_b)})
      if (!remark.empty()) fmt::print("  {}\n", wrapped(remark, kAnswerColumns, "    "));
  return answer.word ? kRefuted : kDone;
}

/// LANGUAGE, OTHER where there are two, and the options that all these verbs share.
Work add_question(Verb& verb, const LanguageQuestion& question) {
  const auto options = std::make_shared<QuestionArguments>();
  const std::string kinds = "A file, regex:…, name:…, expr:…, or a .safetensors model";
  verb.add_option("LANGUAGE", options->first, kinds).required();
  if (question.is_about_two) verb.add_option("OTHER", options->second, "The same").required();
  add_count(verb, "--max-pairs", options->limits.max_pairs, "Most pairs of states or subsets to meet");
  add_json_flag(verb, options->json);
  add_language_options(verb, options->reading);
  return [options, &question] { return ask(question, *options); };
}

}  // namespace

Work add_equal(Verb& verb) { return add_question(verb, kEqual); }
Work add_included(Verb& verb) { return add_question(verb, kIncluded); }
Work add_disjoint(Verb& verb) { return add_question(verb, kDisjoint); }
Work add_empty(Verb& verb) { return add_question(verb, kEmpty); }

}  // namespace krohn
