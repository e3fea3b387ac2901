// krohn decompose — the Krohn–Rhodes cascade of an automaton, by holonomy or by the chain, checked.

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "krohn/automata/cascades/cascade.h"
#include "krohn/automata/cascades/holonomy.h"
#include "krohn/automata/draw/draw.h"
#include "krohn/automata/formats/json.h"
#include "krohn/automata/monoid/algebra.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

constexpr std::uint64_t kLargestSimple = 360;

struct DecomposeArguments {
  std::string subject, method = "smaller", picture;
  LanguageOptions reading;
  HolonomyOptions holonomy;
  ChainOptions chain;
  bool minimal = false, primes = false, swaps = false, json = false, tables = false;
};

std::uint64_t total_width(const Cascade& cascade) {
  std::uint64_t total = 0;
  for (const CascadeLayer& layer : cascade.layers) total += layer.width;
  return total;
}

bool is_smaller(const Cascade& a, const Cascade& b) {
  return std::pair(total_width(a), a.layers.size()) < std::pair(total_width(b), b.layers.size());
}

/// A cascade, what a limit kept from being found, and whether its emulation was proved.
struct Result {
  Cascade cascade;
  std::vector<std::string> limits;
  std::optional<EmulationResult> check;
  ComplexityBounds complexity;
};

/// Contexts and nodes that no word reaches are null.
Json with_holes(const std::vector<Context>& numbers) {
  Json list = Json::array();
  for (const Context number : numbers) list.push_back(number == kNoContext ? Json() : Json(number));
  return list;
}

Json cascade_json(const DecomposeArguments& options, const Dfa& dfa, const Result& result) {
  const Cascade& cascade = result.cascade;
  Json facts;
  facts["subject"] = options.subject;
  facts["states"] = dfa.states();
  facts["method"] = cascade.method;
  for (const CascadeLayer& layer : cascade.layers) {
    Json row{{"width", layer.width},
             {"actions", layer.actions.size()},
             {"contexts", layer.wiring.action_of.size()},
             {"group", layer.component}};
    if (options.tables) {
      for (const Transformation& action : layer.actions) row["action_tables"].push_back(action.images());
      row["action_of"] = layer.wiring.action_of;
      row["next"] = with_holes(layer.wiring.next);
    }
    facts["layers"].push_back(std::move(row));
  }
  if (options.tables) {
    facts["initial"] = cascade.initial;
    for (const std::vector<Context>& level : cascade.readout.next) facts["readout"].push_back(with_holes(level));
  }
  facts["complexity"] = {{"at_least", result.complexity.lower},
                         {"at_least_by", result.complexity.lower_by},
                         {"at_most", result.complexity.upper},
                         {"at_most_by", result.complexity.upper_by}};
  if (result.check)
    facts["emulation"] = {{"holds", result.check->holds}, {"triples_checked", result.check->checked}};
  else
    facts["emulation"] = Json();
  facts["limits"] = result.limits;
  return facts;
}

std::string told(const DecomposeArguments& options, const Dfa& dfa, const Result& result) {
  if (options.json) return report_text(cascade_json(options, dfa, result));
  const Cascade& cascade = result.cascade;
  std::string text =
      fmt::format("{}: {}; a cascade of {} by {}\n", title(options.subject), counted(dfa.states(), "state"),
                  counted(cascade.layers.size(), "layer"), cascade.method);
  std::vector<std::vector<std::string>> rows{{"layer", "labels", "group", "actions", "contexts"}};
  for (std::size_t k = 0; k < cascade.layers.size(); ++k) {
    const CascadeLayer& layer = cascade.layers[k];
    rows.push_back({std::to_string(k + 1), std::to_string(layer.width), layer.component,
                    std::to_string(layer.actions.size()), with_thousands(layer.wiring.action_of.size())});
  }
  text += format_table(rows);
  if (result.check)
    text +=
        fmt::format("emulation proved for all label tuples ({} checked)\n", counted(result.check->checked, "triple"));
  const ComplexityBounds& bounds = result.complexity;
  text += bounds.lower == bounds.upper ? fmt::format("Krohn–Rhodes complexity {} ({})\n", bounds.lower, bounds.lower_by)
                                       : fmt::format("Krohn–Rhodes complexity at least {} ({}), at most {} ({})\n",
                                                     bounds.lower, bounds.lower_by, bounds.upper, bounds.upper_by);
  for (const std::string& limit : result.limits) text += limit + "\n";
  return text;
}

void keep_found(const DecomposeArguments& options, const Dfa& dfa, const Result& result) {
  tell_if_ended([text = told(options, dfa, result)](const std::string&) { return text; });
}

ComplexityBounds complexity_of_layers(const Cascade& cascade) {
  ComplexityBounds bounds;
  for (const CascadeLayer& layer : cascade.layers)
    bounds.upper += !layer.component.empty() && layer.component != "trivial";
  bounds.upper_by = "layers with groups";
  bounds.lower_by = "nothing better is known";
  // The groups of holonomy divide the monoid, those of the chain need not.
  if (bounds.upper > 0 && cascade.method == "holonomy") bounds.lower = 1, bounds.lower_by = "not aperiodic";
  if (bounds.upper == 0) bounds.lower_by = bounds.upper_by = "aperiodic";
  return bounds;
}

/// From the layers of the cascade, and from the monoid where that may say more and is found in time.
ComplexityBounds complexity_of(const Dfa& dfa, const Cascade& cascade) {
  ComplexityBounds bounds = complexity_of_layers(cascade);
  if (bounds.upper == bounds.lower) return bounds;
  try {
    const TimeLimit part = TimeLimit::part(0.25);
    const Waiting waiting("bounding the complexity by the monoid");
    const ComplexityBounds more = complexity_bounds(GreenStructure::of(letter_maps(dfa), dfa.states()), dfa.states());
    if (more.upper < bounds.upper) bounds.upper = more.upper, bounds.upper_by = more.upper_by;
    if (more.lower > bounds.lower) bounds.lower = more.lower, bounds.lower_by = more.lower_by;
  } catch (const LimitError&) {  // bounds are bounds
  }
  return bounds;
}

/// The smaller of both, or the one that was found.
Result smaller_of_both(const Dfa& dfa, const DecomposeArguments& options) {
  std::optional<Result> holonomy;
  std::vector<std::string> limits;
  try {
    const TimeLimit half = TimeLimit::part(0.5);
    const Waiting waiting("decomposing by holonomy");
    holonomy = Result{holonomy_decomposition(dfa, options.holonomy), {}, {}, {}};
    holonomy->complexity = complexity_of_layers(holonomy->cascade);
    keep_found(options, dfa, *holonomy);
  } catch (const LimitError& error) {
    limits.push_back(fmt::format("holonomy, in half of the time: {}", error.what()));
  }
  try {
    const Waiting waiting("decomposing by a chain of subgroups and resets");
    Cascade chain = chain_decomposition(dfa, options.chain);
    if (!holonomy || is_smaller(chain, holonomy->cascade)) return {std::move(chain), limits, {}, {}};
  } catch (const LimitError& error) {
    if (!holonomy) throw LimitError(fmt::format("{}; chain: {}", limits.front(), error.what()));
    holonomy->limits.push_back(fmt::format("chain: {}", error.what()));
  }
  return *std::move(holonomy);
}

Result decompose(const Dfa& dfa, const DecomposeArguments& options) {
  Result result = options.method == "chain"      ? Result{chain_decomposition(dfa, options.chain), {}, {}, {}}
                  : options.method == "holonomy" ? Result{holonomy_decomposition(dfa, options.holonomy), {}, {}, {}}
                                                 : smaller_of_both(dfa, options);
  result.complexity = complexity_of(dfa, result.cascade);
  keep_found(options, dfa, result);
  if (options.primes) try {
      result.cascade = prime_cascade(result.cascade, {options.holonomy.max_contexts, kLargestSimple});
    } catch (const LimitError& error) {
      result.limits.push_back(fmt::format("groups are not cut: {}", error.what()));
    }
  if (options.swaps) try {
      result.cascade = swap_cascade(result.cascade);
    } catch (const LimitError& error) {
      result.limits.push_back(fmt::format("letters are not cut: {}", error.what()));
    }
  try {
    const Waiting waiting("checking the emulation");
    result.check = check_emulation(result.cascade, dfa);
  } catch (const LimitError& error) {
    result.limits.push_back(fmt::format("emulation is not checked: {}", error.what()));
  }
  if (result.check && !result.check->holds)
    throw Error("the cascade does not emulate its automaton: " + result.check->counterexample);
  return result;
}

/// Returns the bounds of complexity of a machine whose layers were not built in time.
std::string told(const DecomposeArguments& options, State states, const HolonomyOutline& outline,
                 const std::string& limit) {
  const std::uint64_t lower = outline.heights_with_groups > 0 ? 1 : 0;
  if (options.json) {
    Json facts{{"subject", options.subject}, {"states", states}};
    facts["method"] = "holonomy";
    facts["layers"] = Json::array();
    facts["holonomy"] = {{"image_sets", outline.sets},
                         {"classes", outline.classes},
                         {"heights", outline.heights},
                         {"heights_with_groups", outline.heights_with_groups}};
    facts["complexity"] = {{"at_least", lower}, {"at_most", outline.heights_with_groups}};
    facts["emulation"] = Json();
    facts["limits"] = {limit};
    return report_text(facts);
  }
  return fmt::format(
      "{}: {}; no cascade was built\n"
      "holonomy has {} heights, of {} of {} image sets; {} with groups\n"
      "Krohn–Rhodes complexity at least {} ({}), at most {} (heights with groups)\n{}\n",
      title(options.subject), counted(states, "state"), outline.heights, counted(outline.classes, "class", "es"),
      with_thousands(outline.sets), outline.heights_with_groups, lower, lower > 0 ? "not aperiodic" : "aperiodic",
      outline.heights_with_groups, limit);
}

std::string picture_format(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(dot + 1);
}

int run_decompose(DecomposeArguments options) {
  options.chain.max_contexts = options.holonomy.max_contexts;
  const Subject subject = load_subject(options.subject, options.reading, stderr);
  tell_left_out(subject, options.json);
  const Dfa dfa = options.minimal ? minimise(subject.automaton) : canonical(subject.automaton);
  std::optional<HolonomyOutline> outline;
  options.holonomy.outline = [&](const HolonomyOutline& known) {
    outline = known;
    tell_if_ended([options, states = dfa.states(), known](const std::string& limit) {
      return told(options, states, known, limit);
    });
  };
  std::optional<Result> decomposed;
  try {
    decomposed = decompose(dfa, options);
  } catch (const LimitError& error) {
    if (!outline) throw;
    tell_if_ended({});
    print_told(told(options, dfa.states(), *outline, error.what()));
    return kUndecided;
  }
  const Result& result = *decomposed;
  if (!options.picture.empty()) {
    const std::string format = picture_format(options.picture);
    const std::string dot = to_drawn_dot(result.cascade);
    write_file(options.picture, format == "dot" ? dot : render_dot(dot, format, "dot"));
  }
  tell_if_ended({});
  print_told(told(options, dfa, result));
  return result.limits.empty() ? kDone : kUndecided;
}

}  // namespace

Work add_decompose(Verb& verb) {
  const auto options = std::make_shared<DecomposeArguments>();
  verb.add_option("LANGUAGE", options->subject, "A file, regex:…, name:…, or a .safetensors model").required();
  verb.add_option("--method", options->method, "Which decomposition").one_of({"holonomy", "chain", "smaller"});
  verb.add_flag("--primes", options->primes,
                "Cut groups into simple ones: cyclic of prime order, and others of up to 360 elements");
  verb.add_flag("--swaps", options->swaps, "Cut letters into resets and single swaps of labels, in more layers");
  verb.add_flag("--minimal", options->minimal, "Minimise first");
  verb.add_option("--draw", options->picture, "Draw the cascade: .svg, .pdf, .png or .dot").type_name("FILE");
  add_count(verb, "--max-sets", options->holonomy.max_sets, "Most image sets");
  add_count(verb, "--max-contexts", options->holonomy.max_contexts, "Most contexts over all layers");
  add_json_flag(verb, options->json);
  verb.add_flag("--tables", options->tables, "With --json: every action, the wiring and the readout");
  options->reading.start_is_optional = true;
  add_language_options(verb, options->reading);
  return [options] { return run_decompose(*options); };
}

}  // namespace krohn
