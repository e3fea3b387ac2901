#include "tools/krohn/report/plan_table.h"

#include <fmt/format.h>
#include <unistd.h>

#include "krohn/automata/formats/json.h"
#include "krohn/groups/base/messages.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "tools/krohn/report/table.h"

namespace krohn {
namespace {

constexpr std::size_t kListedLayers = 6;
constexpr std::size_t kRemarkWidth = 60;

std::string precisions(const std::vector<Precision>& precisions) {
  std::vector<std::string> names;
  for (const Precision precision : precisions) names.push_back(to_string(precision));
  return fmt::format("{}", fmt::join(names, " "));
}

/// Precisions in brackets are exact letter after letter only.
std::string exact_column(const PlanRow& row) {
  if (row.wraps_in) return to_string(*row.wraps_in);
  if (row.exact_in.empty() && row.locked_in.empty()) return "none";
  if (row.locked_in.empty()) return precisions(row.exact_in);
  const std::string locked = fmt::format("({})", precisions(row.locked_in));
  return row.exact_in.empty() ? locked : precisions(row.exact_in) + " " + locked;
}

std::string alphabets(const PlanRow& row) {
  const std::size_t shown = std::min(row.alphabet_sizes.size(), kListedLayers);
  const std::vector<std::size_t> first(row.alphabet_sizes.begin(),
                                       row.alphabet_sizes.begin() + static_cast<std::ptrdiff_t>(shown));
  return fmt::format("{}{}", fmt::join(first, ","), shown < row.alphabet_sizes.size() ? ",…" : "");
}

std::vector<std::string> table_row(const PlanRow& row) {
  const std::string mark = row.chosen ? "→" : " ";
  // A file or a pager has room for all of it.
  const std::string remark = isatty(STDOUT_FILENO) == 1 ? shortened(row.reason, kRemarkWidth) : row.reason;
  if (!row.possible) return {mark, row.construction, "", "", "", "", "", "", remark};
  return {mark,
          row.construction,
          std::to_string(row.layers),
          std::to_string(row.state_numbers),
          row.reflections < 0 ? "-" : std::to_string(row.reflections),
          alphabets(row),
          fmt::format("{:.3g}", row.margin),
          row.snap_every > 0 ? "(by snaps)" : exact_column(row),
          remark};
}

}  // namespace

std::string plan_table(const std::vector<PlanRow>& plans) {
  std::vector<std::vector<std::string>> rows = {
      {" ", "construction", "layers", "state", "reflections", "actions", "margin", "exact in", "remark"}};
  for (const PlanRow& row : plans) rows.push_back(table_row(row));
  return format_table(rows, "");
}

std::string exactness(const PlanRow& row) {
  if (row.snap_every > 0)
    return fmt::format(
        "not linear: every {} the state snaps to the nearest codeword; `krohn verify` proves that "
        "this comes in time",
        counted(row.snap_every, "letter"));
  if (row.wraps_in) return fmt::format("exact for words of every length in {}", to_string(*row.wraps_in));
  if (row.exact_in.empty() && row.locked_in.empty())
    return "bit-exact in no precision by its construction: `krohn verify` says how far it holds";
  if (row.exact_in.empty())
    return fmt::format("exact for words of every length in {}, letter after letter", precisions(row.locked_in));
  return fmt::format("exact for words of every length in {}", precisions(row.exact_in));
}

nlohmann::ordered_json plan_to_json(const PlanRow& row) {
  nlohmann::ordered_json json;
  json["construction"] = row.construction;
  json["theorem"] = row.theorem;
  json["possible"] = row.possible;
  json["chosen"] = row.chosen;
  json["reason"] = row.reason;
  if (!row.possible) return json;
  json["layers"] = row.layers;
  json["state_numbers"] = row.state_numbers;
  json["reflections_per_token"] =
      row.reflections < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(row.reflections);
  json["alphabet_sizes"] = row.alphabet_sizes;
  json["exact_in"] = nlohmann::ordered_json::array();
  for (const Precision precision : row.exact_in) json["exact_in"].push_back(to_string(precision));
  if (row.wraps_in) json["exact_in"].push_back(to_string(*row.wraps_in));
  json["locked_in"] = nlohmann::ordered_json::array();
  for (const Precision precision : row.locked_in) json["locked_in"].push_back(to_string(precision));
  if (row.snap_every > 0) json["snap_every"] = row.snap_every;
  json["margin"] = row.margin;
  return json;
}

std::vector<std::string> in_words(const KeptPromise& kept) {
  std::vector<std::string> lines;
  const auto exact = [&](const std::vector<Precision>& formats, const std::string& how) {
    if (!formats.empty())
      lines.push_back(fmt::format("exact for words of every length in {}{}", precisions(formats), how));
  };
  exact(kept.every_order, ": proved, in every association of letters");
  exact(kept.sequential, ", letter after letter: proved");
  exact(kept.promised_only, fmt::format(" by its construction, which was not proved within {}", kept.limit));
  if (!lines.empty()) return lines;
  if (kept.right_up_to == UINT64_MAX)
    return {"bit-exact in no precision by its construction, but proved for words of every length in fp64"};
  return {fmt::format(
      "bit-exact in no precision by its construction; in fp64 correct on all words of up to {}: `krohn verify` "
      "says how far it holds",
      counted(kept.right_up_to, "letter"))};
}

nlohmann::ordered_json kept_to_json(const KeptPromise& kept) {
  const auto names = [](const std::vector<Precision>& formats) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Precision precision : formats) list.push_back(to_string(precision));
    return list;
  };
  nlohmann::ordered_json json{{"every_order", names(kept.every_order)},
                              {"sequential", names(kept.sequential)},
                              {"not_proved", names(kept.promised_only)}};
  if (!kept.limit.empty()) json["limit"] = kept.limit;
  return json;
}

}  // namespace krohn
