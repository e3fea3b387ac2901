// krohn audit — what the weights and the config of a published model permit, what they never can, and what fades.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/audit/audit.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

constexpr std::size_t kAuditColumns = 100;

/// e⁻ʳ: "0.95", and near to 1 what is missing there.
std::string decay_text(double rate, bool is_reached) {
  if (rate == kNoBound) return "0";
  if (rate <= 0) return is_reached ? "1" : "below 1";
  return rate < 1e-3 ? fmt::format("1 − {:.3g}", -std::expm1(-rate)) : fmt::format("{:.4g}", std::exp(-rate));
}

/// A number, or null for none.
nlohmann::ordered_json number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

nlohmann::ordered_json range_json(const HeadRange& range) {
  return {{"slowest_rate", number(range.slowest)},
          {"fastest_rate", number(range.fastest)},
          {"least_eigenvalue", number(range.lowest)},
          {"flip_rate", number(range.flip)},
          {"horizon", number(horizon(range.slowest))}};
}

nlohmann::ordered_json audit_json(const std::string& folder, const Audit& audit) {
  nlohmann::ordered_json json{{"checkpoint", folder},
                              {"model_type", audit.model_type},
                              {"architecture", audit.architecture},
                              {"source", audit.source},
                              {"config_only", !audit.has_weights},
                              {"layers", audit.layers},
                              {"recurrent_layers", audit.recurrent.size()},
                              {"all", range_json(audit.all)},
                              {"flags", audit.flags},
                              {"never", audit.never},
                              {"fades", audit.fades}};
  json["by_layer"] = nlohmann::ordered_json::array();
  for (const AuditedLayer& layer : audit.recurrent) {
    nlohmann::ordered_json row = range_json(layer.all);
    row["layer"] = layer.index;
    for (const HeadRange& head : layer.heads) row["heads"].push_back(range_json(head));
    json["by_layer"].push_back(std::move(row));
  }
  return json;
}

void print_line(const std::string& text) { fmt::print("  {}\n", wrapped(text, kAuditColumns, "    ")); }

void print_title(const std::string& folder, const Audit& audit) {
  fmt::print("{}: {} ({}), {} of {}, {}\n", visible(folder), audit.architecture, audit.model_type,
             audit.recurrent.size(), counted(audit.layers, "layer"),
             audit.has_weights ? "by weights and config" : "by the config alone");
}

/// A row of a table of ranges, after the cells that name what has the range.
std::vector<std::string> range_row(std::vector<std::string> cells, const HeadRange& range) {
  cells.push_back(decay_text(range.fastest, true));
  cells.push_back(decay_text(range.slowest, range.fastest <= 0));
  cells.push_back(lowest_text(range));
  cells.push_back(horizon(range.slowest) == kNoBound ? "no limit" : tokens_text(horizon(range.slowest)));
  return cells;
}

void report_audit(const std::string& folder, const Audit& audit) {
  const auto line = print_line;
  print_title(folder, audit);
  std::vector<std::vector<std::string>> rows = {
      {"layer", "heads", "decay from", "to", "least eigenvalue", "2^-24 left after"}};
  for (const AuditedLayer& layer : audit.recurrent)
    rows.push_back(range_row({std::to_string(layer.index), std::to_string(layer.heads.size())}, layer.all));
  fmt::print("{}", format_table(rows));
  for (const std::string& flag : audit.flags) line("ignored: " + flag);
  for (const std::string& never : audit.never) line("never: " + never);
  for (const std::string& fading : audit.fades) line("fades: " + fading);
  if (audit.never.empty()) line("no language is excluded");
  if (audit.recurrent.size() < audit.layers)
    line(fmt::format("about the recurrent layers alone; not judged: {} of attention",
                     counted(audit.layers - audit.recurrent.size(), "layer")));
  line("formula: " + audit.source);
}

/// The sentences of one that the other has not.
std::vector<std::string> alone(const std::vector<std::string>& own, const std::vector<std::string>& other) {
  std::vector<std::string> made;
  std::ranges::copy_if(own, std::back_inserter(made),
                       [&](const std::string& text) { return std::ranges::find(other, text) == other.end(); });
  return made;
}

nlohmann::ordered_json comparison_json(const std::array<std::string, 2>& folders, const std::array<Audit, 2>& audits,
                                       const AuditComparison& found) {
  nlohmann::ordered_json json{{"checkpoints", folders},
                              {"config_only", !audits[0].has_weights},
                              {"same_shape", found.is_same_shape},
                              {"heads", found.heads},
                              {"differing", found.differing}};
  if (found.differing > 0)
    json["first"] = {{"layer", found.head.layer},
                     {"head", found.head.head},
                     {"ranges", {range_json(found.head.first), range_json(found.head.second)}}};
  for (const std::size_t i : {0, 1})
    json["alone"].push_back({{"flags", alone(audits[i].flags, audits[1 - i].flags)},
                             {"never", alone(audits[i].never, audits[1 - i].never)},
                             {"fades", alone(audits[i].fades, audits[1 - i].fades)}});
  return json;
}

void report_comparison(const std::array<std::string, 2>& folders, const std::array<Audit, 2>& audits,
                       const AuditComparison& found) {
  for (const std::size_t i : {0, 1}) print_title(folders[i], audits[i]);
  if (!found.is_same_shape)
    return print_line("they differ in which layers are recurrent, or in how many heads those have");
  if (!found.differs())
    return print_line(fmt::format("the ranges of {} are the same, to the last bit", counted(found.heads, "head")));
  print_line(fmt::format("{} of {} differ in range, first head {} of layer {}, both counted from 0:", found.differing,
                         counted(found.heads, "head"), found.head.head, found.head.layer));
  fmt::print("{}", format_table({{"", "decay from", "to", "least eigenvalue", "2^-24 left after"},
                                 range_row({folders[0]}, found.head.first),
                                 range_row({folders[1]}, found.head.second)}));
  if ((found.head.first.lowest < 0) != (found.head.second.lowest < 0))
    print_line(fmt::format("{} permits negative eigenvalues in this head, and {} does not",
                           visible(folders[found.head.first.lowest < 0 ? 0 : 1]),
                           visible(folders[found.head.first.lowest < 0 ? 1 : 0])));
  bool is_same = true;
  for (const std::size_t i : {0, 1})
    for (const auto& [kind, sentences] : {std::pair{"ignored", &Audit::flags}, {"never", &Audit::never}})
      for (const std::string& text : alone(audits[i].*sentences, audits[1 - i].*sentences)) {
        print_line(fmt::format("{} alone: {}: {}", visible(folders[i]), kind, text));
        is_same = is_same && &(audits[i].*sentences) != &audits[i].never;
      }
  if (is_same) print_line("no language is excluded in one model and permitted in the other");
}

struct AuditArguments {
  std::string folder, other;
  bool json = false;
};

int run_audit(const AuditArguments& options) {
  const Audit audit = audit_checkpoint(options.folder);
  if (options.other.empty()) {
    if (options.json)
      print_json(audit_json(options.folder, audit));
    else
      report_audit(options.folder, audit);
    return kDone;
  }
  const std::array<std::string, 2> folders{options.folder, options.other};
  const std::array<Audit, 2> audits{audit, audit_checkpoint(options.other)};
  if (audits[0].has_weights != audits[1].has_weights)
    throw InputError(folders[audits[0].has_weights ? 1 : 0],
                     "has no weights, and the other checkpoint has; compare weights with weights, or configs alone");
  const AuditComparison found = compare_audits(audits[0], audits[1]);
  if (options.json)
    print_json(comparison_json(folders, audits, found));
  else
    report_comparison(folders, audits, found);
  return found.differs() ? kRefuted : kDone;
}

}  // namespace

Work add_audit(Verb& verb) {
  const auto options = std::make_shared<AuditArguments>();
  verb.add_option("CHECKPOINT", options->folder, "A folder with config.json and .safetensors weights").required();
  verb.add_option("OTHER", options->other, "Another one, to compare head by head");
  add_json_flag(verb, options->json);
  return [options] { return run_audit(*options); };
}

}  // namespace krohn
