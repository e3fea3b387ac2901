#include "tools/krohn/report/check_summary.h"

#include <fmt/format.h>

#include "krohn/automata/formats/json.h"
#include "krohn/groups/error.h"
#include "tools/krohn/report/count.h"
#include "tools/krohn/report/json_output.h"
#include "tools/krohn/verb.h"

namespace krohn {

void CheckSummary::add(std::string_view line) {
  const Json found = Json::parse(line, nullptr, false);
  if (!found.is_object() || !found.contains("certificate") || !found.contains("status") ||
      !found["status"].is_number_integer())
    throw InputError("no line of `krohn check`");
  ++certificates_;
  switch (found["status"].get<int>()) {
    case kDone:
      ++established_;
      break;
    case kRefuted:
      ++not_established_;
      break;
    case kUndecided:
      ++open_;
      break;
    default:
      ++unreadable_;
  }
}

int CheckSummary::status() const {
  return unreadable_ > 0 ? kBadInput : not_established_ > 0 ? kRefuted : open_ > 0 ? kUndecided : kDone;
}

std::string CheckSummary::text() const {
  return fmt::format("{}: {} established, {} not established, {} undecided within the limits, {} not read\n",
                     counted(certificates_, "certificate"), with_thousands(established_),
                     with_thousands(not_established_), with_thousands(open_), with_thousands(unreadable_));
}

}  // namespace krohn
