// krohn equal — whether two languages have the same words.

#include "tools/krohn/report/answer.h"
#include "tools/krohn/verb.h"

namespace krohn {
void add_equal(CLI::App& app, Work& chosen) { add_question(app, chosen, "equal", LanguageQuestion::kEqual); }

}  // namespace krohn
