// krohn included — whether one language lies within another.

#include "tools/krohn/report/answer.h"
#include "tools/krohn/verb.h"

namespace krohn {
void add_included(CLI::App& app, Work& chosen) {
  add_question(app, chosen, "included", LanguageQuestion::kIncluded);
}

}  // namespace krohn
