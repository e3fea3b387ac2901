// tools/krohn/report/answer.h — questions about one or two languages: asked, answered with a shortest word, printed.
#pragma once

#include <optional>
#include <string>

#include "krohn/automata/questions/questions.h"
#include "tools/krohn/verb.h"

namespace krohn {

enum class LanguageQuestion { kEqual, kIncluded, kDisjoint, kEmpty };

struct QuestionArguments {
  std::string first, second;  ///< the second is empty where there is one language only
  LanguageOptions reading;
  QuestionLimits limits;
  double seconds = 300;
  bool json = false;
};

/// LANGUAGE, OTHER where there are two, and the options that all these verbs share.
void add_question_options(Verb& verb, QuestionArguments& options, bool two_languages);

/// Reads the languages, asks, prints. The status: 0 yes, 1 no.
int ask(LanguageQuestion question, const QuestionArguments& options);

}  // namespace krohn
