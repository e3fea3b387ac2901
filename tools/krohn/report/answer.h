// tools/krohn/report/answer.h — questions about one or two languages: asked, answered with a shortest word, printed.
#pragma once

#include "tools/krohn/verb.h"

namespace krohn {

enum class LanguageQuestion { kEqual, kIncluded, kDisjoint, kEmpty };

/// The verb that asks it: LANGUAGE, OTHER where there are two, and the options that all these verbs share. It prints
/// the answer; its status is 0 for yes, 1 for no.
void add_question(CLI::App& app, Work& chosen, const std::string& name, LanguageQuestion question);

}  // namespace krohn
