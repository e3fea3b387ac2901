#include "tools/krohn/report/answer.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/operations/product.h"
#include "krohn/automata/questions/questions.h"
#include "krohn/simulate/prove/claims/claim_text.h"
#include "tools/krohn/models/operand.h"
#include "tools/krohn/report/json_output.h"
#include "tools/krohn/report/table.h"

namespace krohn {
namespace {

constexpr std::size_t kColumns = 100;

struct QuestionArguments {
  std::string first, second;  ///< the second is empty where there is one language only
  LanguageOptions reading;
  QuestionLimits limits;
  bool json = false;
};

/// How a question is put and what its answers are.
struct Wording {
  const char *name, *yes, *no;
};

Wording wording(LanguageQuestion question, bool has_outputs) {
  switch (question) {
    case LanguageQuestion::kEqual:
      return {"equal", has_outputs ? "equal: the same output after every word" : "equal: the same words", "not equal"};
    case LanguageQuestion::kIncluded:
      return {"included", "included: every word of the first is one of the second", "not included"};
    case LanguageQuestion::kDisjoint:
      return {"disjoint", "disjoint: no word is in both", "not disjoint"};
    case LanguageQuestion::kEmpty:
      return {"empty", "empty: no word at all", "not empty"};
  }
  return {};
}

DecidingWord answer_to(LanguageQuestion question, const Automaton& a, const Automaton& b,
                       const QuestionLimits& limits) {
  switch (question) {
    case LanguageQuestion::kEqual:
      return distinguishing_word(a, b, limits);
    case LanguageQuestion::kIncluded:
      return excess_word(a, b, limits);
    case LanguageQuestion::kDisjoint:
      return common_word(a, b, limits);
    case LanguageQuestion::kEmpty:
      break;
  }
  return accepted_word(a, limits);
}

/// What a machine with outputs says of the word, over the common letters.
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

int ask(LanguageQuestion question, const QuestionArguments& options) {
  const bool two = question != LanguageQuestion::kEmpty;
  const Automaton a = load_operand(options.first, options.reading);
  const Automaton b = two ? load_operand(options.second, options.reading) : a;
  const AlphabetRefinement common = refine(alphabet_of(a), alphabet_of(b));
  const DecidingWord answer = answer_to(question, a, b, options.limits);
  const bool outputs = has_outputs(a) || has_outputs(b);
  const Wording words = wording(question, outputs);
  if (options.json) {
    Json json{{"question", words.name}, {"first", options.first}};
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
  std::string text = answer.word ? words.no : words.yes;
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
      if (!remark.empty()) fmt::print("  {}\n", wrapped(remark, kColumns, "    "));
  return answer.word ? kRefuted : kDone;
}

}  // namespace

void add_question(CLI::App& app, Work& chosen, const std::string& name, LanguageQuestion question) {
  const auto options = std::make_shared<QuestionArguments>();
  Verb verb = add_verb(app, name);
  const std::string kinds = "A file, regex:…, name:…, expr:…, or a .safetensors model";
  verb.add_option("LANGUAGE", options->first, kinds).required();
  if (question != LanguageQuestion::kEmpty) verb.add_option("OTHER", options->second, "The same").required();
  add_count(verb, "--max-pairs", options->limits.max_pairs, "Most pairs of states or subsets to meet");
  add_json_flag(verb, options->json);
  add_language_options(verb, options->reading);
  verb.callback([options, question, &chosen] { chosen = [options, question] { return ask(question, *options); }; });
}

}  // namespace krohn
