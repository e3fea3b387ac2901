// krohn audit — what the weights and the config of a published model permit, what they never can, and what fades.

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/groups/base/messages.h"
#include "krohn/simulate/audit/audit.h"
#include "tools/krohn/report/json_output.h"
#include "tools/krohn/report/table.h"
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

std::string tokens_text(double tokens) {
  if (tokens == kNoBound) return "no limit";
  return tokens < 1e15 ? with_thousands(static_cast<std::uint64_t>(tokens)) : fmt::format("{:.3g}", tokens);
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

void report_audit(const std::string& folder, const Audit& audit) {
  const auto line = [](const std::string& text) { fmt::print("  {}\n", wrapped(text, kAuditColumns, "    ")); };
  fmt::print("{}: {} ({}), {} of {}, {}\n", visible(folder), audit.architecture, audit.model_type,
             audit.recurrent.size(), counted(audit.layers, "layer"),
             audit.has_weights ? "by weights and config" : "by the config alone");
  const bool is_delta = audit.all.lowest < 0;
  std::vector<std::vector<std::string>> rows = {
      {"layer", "heads", "decay from", "to", "least eigenvalue", "2^-24 left after"}};
  for (const AuditedLayer& layer : audit.recurrent) {
    const HeadRange& all = layer.all;
    rows.push_back({std::to_string(layer.index), std::to_string(layer.heads.size()), decay_text(all.fastest, true),
                    decay_text(all.slowest, all.fastest <= 0),
                    is_delta && all.flip < 1e-3 && all.flip > 0 ? fmt::format("−1 + {:.3g}", -std::expm1(-all.flip))
                                                                : fmt::format("{:.4g}", all.lowest),
                    tokens_text(horizon(all.slowest))});
  }
  fmt::print("{}", format_table(rows));
  for (const std::string& flag : audit.flags) line("ignored: " + flag);
  for (const std::string& never : audit.never) line("never: " + never);
  for (const std::string& fading : audit.fades) line("fades: " + fading);
  if (audit.never.empty()) line("no language is excluded");
  if (audit.recurrent.size() < audit.layers)
    line(fmt::format("said of the recurrent layers alone; {} others attend, and are not judged",
                     audit.layers - audit.recurrent.size()));
  line("formula: " + audit.source);
}

}  // namespace

void add_audit(CLI::App& app, Work& chosen) {
  struct Arguments {
    std::string folder;
    bool json = false;
  };
  const auto options = std::make_shared<Arguments>();
  Verb verb = add_verb(app, "audit");
  verb.add_option("CHECKPOINT", options->folder, "A folder with config.json and .safetensors weights").required();
  add_json_flag(verb, options->json);
  verb.callback([options, &chosen] {
    chosen = [options] {
      const Audit audit = audit_checkpoint(options->folder);
      if (options->json)
        print_json(audit_json(options->folder, audit));
      else
        report_audit(options->folder, audit);
      return int{kDone};
    };
  });
}

}  // namespace krohn
