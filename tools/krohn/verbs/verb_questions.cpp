#include "tools/krohn/report/verdict.h"
#include "tools/krohn/verb.h"

namespace krohn {

// krohn disjoint — whether two languages have no word in common.

void add_disjoint(CLI::App& app, Work& chosen) { add_question(app, chosen, "disjoint", LanguageQuestion::kDisjoint); }

// krohn empty — whether a language has no word.

void add_empty(CLI::App& app, Work& chosen) { add_question(app, chosen, "empty", LanguageQuestion::kEmpty); }

// krohn equal — whether two languages have the same words.

void add_equal(CLI::App& app, Work& chosen) { add_question(app, chosen, "equal", LanguageQuestion::kEqual); }

// krohn included — whether one language lies within another.

void add_included(CLI::App& app, Work& chosen) { add_question(app, chosen, "included", LanguageQuestion::kIncluded); }

}  // namespace krohn
