// tools/krohn/report/class_stream.h — many languages classified side by side, a line of JSON for each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "krohn/automata/classes/classes.h"
#include "krohn/automata/language.h"

namespace krohn {

struct StreamOptions {
  std::vector<std::string> subjects;
  std::string output;  ///< of the lines; empty: standard output. One that is there already is continued.
  LanguageOptions reading;
  AlgebraOptions algebra;
  double seconds = 60;   ///< for each language
  unsigned threads = 0;  ///< 0: every core
  bool witnesses = false;
  std::string said;  ///< all options that decide what the lines say, as text; every line has it
};

/// The languages in a folder and below it: files whose names end as those of a format do, in order.
std::vector<std::string> languages_in(const std::string& folder);

/// The line of one language. Whatever keeps it from being classified stands in the line as its "error". Callable from
/// any thread.
std::string class_line(const std::string& subject, const StreamOptions& options);

/// The lines as they are ready, and a summary in the end, to standard error when the lines go to standard output.
/// Returns the exit status: bad input when a language could not be read, undecided when an answer is open.
int classify_stream(const StreamOptions& options);

}  // namespace krohn
