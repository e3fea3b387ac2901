// krohn disjoint — whether two languages have no word in common.

#include "tools/krohn/report/answer.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

constexpr VerbHelp kDisjointHelp = {
    "disjoint", "Whether two languages have no word in common",
    "disjoint LANGUAGE OTHER [--max-pairs COUNT] [--time SECONDS]",
    R"(
krohn disjoint 'regex:(ab)*' 'regex:(ba)+'
krohn disjoint name:parity 'expr:complement(name:parity)'
)",
    R"(Says whether no word is in both languages, or prints a shortest one that is. The search goes through pairs of states;
nothing is determinised.
Letters go by name and character. A language that lacks a letter of the other rejects every word with it.
Exit status: 0 disjoint, 1 not disjoint, 2 bad input, 3 undecided within --max-pairs and --time.
)"};

}  // namespace

void add_disjoint(CLI::App& app, Work& chosen) {
  add_question(app, chosen, kDisjointHelp, LanguageQuestion::kDisjoint);
}

}  // namespace krohn
