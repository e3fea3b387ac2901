// krohn included — whether one language lies within another.

#include "tools/krohn/report/answer.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

constexpr VerbHelp kIncludedHelp = {
    "included", "Whether every word of a language is one of another",
    "included LANGUAGE OTHER [--max-pairs COUNT] [--time SECONDS]",
    R"(
krohn included 'regex:(a|b)*abb' 'regex:(a|b)*b'
krohn included zp.att 'expr:zp.att | name:parity'
)",
    R"(Says whether every word of LANGUAGE is a word of OTHER, or prints a shortest one that is not. OTHER is never determinised as
a whole: the search keeps pairs of a state and a subset, and of these only the ones that no other pair covers (antichains).
Letters go by name and character. A language that lacks a letter of the other rejects every word with it.
Exit status: 0 included, 1 not included, 2 bad input, 3 undecided within --max-pairs and --time; then it says up to which
length every word is.
)"};

}  // namespace

void add_included(CLI::App& app, Work& chosen) {
  add_question(app, chosen, kIncludedHelp, LanguageQuestion::kIncluded);
}

}  // namespace krohn
