// tools/krohn/shards/list_summary.h — what all the lines of a list come to.
#pragma once

#include <string>
#include <vector>

namespace krohn {

struct ListSummary {
  std::string text;  ///< lines, each with its break; may be empty
  int status = 0;    ///< the exit status that the verb would have had for the whole list
};

/// `kind` is the verb that made the lines. Throws InputError for a line that it does not make.
ListSummary summary_of(const std::string& kind, const std::vector<std::string>& lines);

}  // namespace krohn
