// krohn equal — whether two languages have the same words.

#include "tools/krohn/report/answer.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

constexpr VerbHelp kEqualHelp = {
    "equal", "Whether two languages are equal, or a shortest word that tells",
    "equal LANGUAGE OTHER [--max-pairs COUNT] [--time SECONDS]",
    R"(
krohn equal 'regex:(a|b)*abb' 'regex:(a*b*)*abb'
krohn equal tcp.dot tcp.dot
krohn equal name:parity 'expr:~~name:parity' --json
)",
    R"(Compares two languages, or the outputs of two machines over the same letters, word by word for words of every length.
Where they differ, it prints a shortest word on which they do. Files and expressions that are nondeterministic are
compared without determinising them: pairs of subsets are made as the search meets them, up to congruence.
Letters go by name and character. A language that lacks a letter of the other rejects every word with it.
Exit status: 0 equal, 1 not equal, 2 bad input, 3 undecided within --max-pairs and --time; then it says up to which
length the two agree.
)"};

}  // namespace

void add_equal(CLI::App& app, Work& chosen) { add_question(app, chosen, kEqualHelp, LanguageQuestion::kEqual); }

}  // namespace krohn
