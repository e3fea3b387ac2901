// krohn empty — whether a language has no word.

#include "tools/krohn/report/answer.h"
#include "tools/krohn/verb.h"

namespace krohn {
void add_empty(CLI::App& app, Work& chosen) { add_question(app, chosen, "empty", LanguageQuestion::kEmpty); }

}  // namespace krohn
