#include "tools/krohn/shards/list_summary.h"

#include "tools/krohn/report/check_summary.h"
#include "tools/krohn/report/class_summary.h"

namespace krohn {
namespace {

template <class Summary>
ListSummary summarised(const std::vector<std::string>& lines) {
  Summary summary;
  for (const std::string& line : lines) summary.add(line);
  return {summary.text(), summary.status()};
}

}  // namespace

ListSummary summary_of(const std::string& kind, const std::vector<std::string>& lines) {
  if (kind == "classify") return summarised<ClassSummary>(lines);
  if (kind == "check") return summarised<CheckSummary>(lines);
  return {};  // a table and training say what came out themselves, from their folders
}

}  // namespace krohn
