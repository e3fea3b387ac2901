#include "krohn/simulate/audit/audit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/constructions/files/strict_json.h"
#include "krohn/groups/atomic_file.h"
#include "krohn/groups/error.h"
#include "krohn/groups/float_environment.h"
#include "krohn/simulate/audit/delta_rules.h"
#include "krohn/simulate/audit/diagonal_rules.h"

namespace krohn {
namespace {

constexpr std::uint64_t kLargestConfig = 1 << 24;

std::vector<AuditRule> all_rules() {
  std::vector<AuditRule> rules = delta_rules();
  rules.insert(rules.end(), diagonal_rules().begin(), diagonal_rules().end());
  return rules;
}

AuditRule rule_of(const nlohmann::json& config, const std::string& where) {
  const auto type = config.find("model_type");
  const std::string name = type != config.end() && type->is_string() ? type->get<std::string>() : "";
  for (const AuditRule& rule : all_rules())
    if (rule.model_type == name) return rule;
  throw InputError(where, fmt::format("\"model_type\" is {}; known are {}", in_quotes(name),
                                      fmt::join(audited_model_types(), ", ")));
}

bool is_true(const nlohmann::json& config, std::string_view name) {
  const auto found = config.find(name);
  return found != config.end() && found->is_boolean() && found->get<bool>();
}

void tell_flags(Audit& audit, const AuditRule& rule, const nlohmann::json& config) {
  for (const char* flag : {"allow_neg_eigval", "linear_allow_neg_eigval"})
    if (is_true(config, flag) && rule.negative_flag != flag)
      audit.flags.push_back(
          fmt::format("\"{}\" is set, and this class does not read it: eigenvalues stay as below", flag));
  if (rule.model_type == "delta_net" && is_true(config, "allow_neg_eigval"))
    audit.flags.emplace_back(
        "\"allow_neg_eigval\" of a DeltaNet config was ignored by flash-linear-attention until April 2026 (its issue "
        "832): a model trained before that has eigenvalues in [0, 1], whatever its config says");
}

/// Python writes infinity as `Infinity`, which is no JSON; as a limit it is one that no double passes.
std::string without_infinities(std::string text) {
  constexpr std::string_view kInfinity = "Infinity", kGreatest = "1.7e308";
  bool is_in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_in_text && text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      is_in_text = !is_in_text;
    else if (!is_in_text && std::string_view(text).substr(i).starts_with(kInfinity))
      text.replace(i, kInfinity.size(), kGreatest);
  }
  return text;
}

/// What is proved of every input.
void tell_never(Audit& audit, const AuditRule& rule) {
  if (audit.recurrent.empty()) return;
  if (rule.is_diagonal)
    audit.never.push_back(fmt::format(
        "counting one letter among others modulo {}, in words of every length, in any rounding, token by token: "
        "{} factor of a state is {}, and rounding keeps the order of numbers (docs/MATH.md §4, Monotone steps)",
        audit.all.lowest >= 0 ? "2, its parity, or any other number" : "a number that is no power of two",
        audit.all.lowest >= 0 ? "no" : "every", audit.all.lowest >= 0 ? "negative" : "real"));
  else if (audit.all.lowest >= 0)
    audit.never.emplace_back(
        "parity of words of every length, where matrices are multiplied exactly: no eigenvalue is negative or complex "
        "(Grazzi et al. 2025, Theorem 1); of steps that round nothing is said (docs/MATH.md §4, Monotone steps)");
}

double tokens_for(double halvings, double rate) {
  return rate <= 0 ? kNoBound : std::ceil(halvings * 0x1.62e42fefa39efp-1 / rate);
}

/// "fp32: 721072, fp16: 85164; in bf16 it rounds to 1": how long from a format's greatest number to its least normal
/// one.
std::string range_in_words(double rate, const char* one) {
  struct Format {
    const char* name;
    int digits, binades;
  };
  std::string lasts, rounds;
  for (const Format& format : {Format{"fp32", 24, 254}, {"bf16", 8, 254}, {"fp16", 11, 30}}) {
    std::string& list = -std::expm1(-rate) <= std::ldexp(1, -format.digits - 1) ? rounds : lasts;
    if (!list.empty()) list += ", ";
    list += &list == &rounds ? format.name : fmt::format("{} in {}", tokens_for(format.binades, rate), format.name);
  }
  if (!lasts.empty()) lasts = ", and from the greatest number of a format to its least normal one it takes " + lasts;
  return lasts + (rounds.empty() ? "" : fmt::format("; it rounds to {} in {}", one, rounds));
}

/// How fast states shrink; what of it can still be read is a matter of the read-out.
void tell_fading(Audit& audit) {
  if (audit.recurrent.empty()) return;
  if (audit.all.slowest > 0)
    audit.fades.push_back(fmt::format(
        "a state that is not written again, as no decay reaches 1: over the reals at most 2^-24 of it is left after {} "
        "tokens{}. That is no limit to what can be read: norms and large weights tell it apart until it is 0, which, "
        "rounded to nearest with subnormal numbers, a decay above 1/2 never makes of it",
        horizon(audit.all.slowest), range_in_words(audit.all.slowest, "1")));
  if (audit.all.flip > 0 && audit.all.flip < kNoBound)
    audit.fades.push_back(fmt::format(
        "a sign that changes with every token, as the most negative eigenvalue is {:.9g}: over the reals at "
        "most 2^-24 of such a part of a state is left after {} tokens{}",
        audit.all.lowest, horizon(audit.all.flip), range_in_words(audit.all.flip, "-1")));
}

}  // namespace

std::vector<std::string> audited_model_types() {
  std::vector<std::string> names;
  for (const AuditRule& rule : all_rules()) names.emplace_back(rule.model_type);
  return names;
}

double horizon(double rate) { return tokens_for(24, rate); }

Audit audit_checkpoint(const std::string& folder) {
  const FloatEnvironment environment;
  const std::string path = (std::filesystem::path(folder) / "config.json").string();
  if (!std::filesystem::is_regular_file(path))
    throw InputError(folder, "has no config.json; an audit takes the folder of a published model");
  const nlohmann::json config = parse_strict_json(without_infinities(read_text_file(path, kLargestConfig)), path);
  if (!config.is_object()) throw InputError(path, "not a JSON object");
  const AuditRule rule = rule_of(config, path);
  refuse_adapter(folder);
  const CheckpointTensors tensors(folder);
  AuditInput input{config, tensors, false, folder};
  if (!rule.negative_flag.empty())
    input.negative = input.flag(std::string(rule.negative_flag).c_str(), rule.is_negative);
  Audit audit{std::string(rule.model_type),
              std::string(rule.name),
              std::string(rule.source),
              !tensors.empty(),
              input.count("num_hidden_layers", 0),
              tensors.bytes(),
              {},
              {kNoBound, 0, 1, kNoBound},
              {},
              {},
              {}};
  if (audit.layers == 0) input.refuse("num_hidden_layers", "is missing");
  for (std::uint64_t layer = 0; layer < audit.layers; ++layer) {
    if (!rule.is_recurrent(input, layer)) continue;
    AuditedLayer made{layer, rule.heads(input, layer), {kNoBound, 0, 1, kNoBound}};
    for (const HeadRange& head : made.heads) made.all = united(made.all, head);
    audit.all = united(audit.all, made.all);
    audit.recurrent.push_back(std::move(made));
  }
  tell_flags(audit, rule, config);
  tell_never(audit, rule);
  tell_fading(audit);
  return audit;
}

}  // namespace krohn
