// krohn empty — whether a language has no word.

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

void add_empty(CLI::App& app, Work& chosen) { add_question(app, chosen, kEmptyHelp, LanguageQuestion::kEmpty); }

}  // namespace krohn
