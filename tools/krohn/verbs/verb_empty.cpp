// krohn empty — whether a language has no word.

#include <memory>

#include "tools/krohn/report/answer.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

constexpr VerbHelp kEmptyHelp = {"empty", "Whether a language has no word at all", "empty LANGUAGE",
                                 R"(
krohn empty 'regex:[]'
krohn empty 'expr:name:parity & complement(name:parity)'
)",
                                 R"(Says whether a language has no word, or prints a shortest one.
Exit status: 0 empty, 1 not empty, 2 bad input, 3 undecided within --max-pairs and --time.
)"};

}  // namespace

void add_empty(CLI::App& app, Work& chosen) {
  const auto options = std::make_shared<QuestionArguments>();
  Verb verb = add_verb(app, kEmptyHelp);
  add_question_options(verb, *options, /*two_languages=*/false);
  verb.callback([options, &chosen] { chosen = [options] { return ask(LanguageQuestion::kEmpty, *options); }; });
}

}  // namespace krohn
