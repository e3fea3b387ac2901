// krohn disjoint — whether two languages have no word in common.

#include "tools/krohn/report/answer.h"
#include "tools/krohn/verb.h"

namespace krohn {
void add_disjoint(CLI::App& app, Work& chosen) {
  add_question(app, chosen, "disjoint", LanguageQuestion::kDisjoint);
}

}  // namespace krohn
