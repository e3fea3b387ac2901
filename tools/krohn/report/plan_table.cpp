#include "tools/krohn/report/classification.h"

#include <fmt/format.h>
#include <unistd.h>

#include <functional>

#include "krohn/automata/cascades/cascade.h"
#include "krohn/automata/formats/json.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/names/named_group.h"
#include "krohn/groups/permutations/stabilisers.h"
#include "krohn/groups/structure/composition.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "tools/krohn/report/output.h"

namespace krohn {
namespace {

constexpr std::size_t kListedLayers = 6;
constexpr std::size_t kRemarkWidth = 60;

std::string precisions(const std::vector<Precision>& formats) {
  return fmt::format("{}", fmt::join(names_of(formats), " "));
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

std::vector<std::string> names_of(const std::vector<Precision>& formats) {
  std::vector<std::string> names;
  for (const Precision format : formats) names.push_back(to_string(format));
  return names;
}

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
  json["exact_in"] = names_of(row.exact_in);
  if (row.wraps_in) json["exact_in"].push_back(to_string(*row.wraps_in));
  json["locked_in"] = names_of(row.locked_in);
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
  nlohmann::ordered_json json{{"every_order", names_of(kept.every_order)},
                              {"sequential", names_of(kept.sequential)},
                              {"not_proved", names_of(kept.promised_only)}};
  if (!kept.limit.empty()) json["limit"] = kept.limit;
  return json;
}

namespace {

constexpr Point kMaxGroupDegree = 2'000;
constexpr Point kMaxStructureDegree = 200;
constexpr std::uint64_t kMaxClassElements = 10'000;
constexpr std::size_t kShownClasses = 12;

PermutationGroup group_of_letters(const Dfa& dfa) {
  std::vector<Permutation> generators;
  for (Letter letter = 0; letter < dfa.letters(); ++letter)
    generators.push_back(dfa.letter_map(letter).to_permutation());
  return PermutationGroup::from_generators(dfa.states(), std::move(generators));
}

/// The same group by few generators: a word problem may have a letter for every element.
PermutationGroup by_few_generators(const PermutationGroup& group) {
  std::vector<Permutation> kept;
  StabiliserChain chain(PermutationGroup::from_generators(group.degree(), {}));
  for (const NamedPermutation& next : group.generators()) {
    if (chain.contains(next.value)) continue;
    kept.push_back(next.value);
    chain = StabiliserChain(PermutationGroup::from_generators(group.degree(), kept));
  }
  return PermutationGroup::from_generators(group.degree(), std::move(kept));
}

/// A fact that may meet a limit.
Json or_null(const std::function<Json()>& fact) {
  try {
    return fact();
  } catch (const LimitError&) {
    return nullptr;
  }
}

Json orders(const std::vector<PermutationGroup>& series) {
  Json result;
  for (const PermutationGroup& term : series) result.push_back(exact_count(order(term).str()));
  return result;
}

Json texts(const std::vector<Integer>& numbers) {
  Json result = Json::array();
  for (const Integer& number : numbers) result.push_back(exact_count(number.str()));
  return result;
}

Json classes(const PermutationGroup& group) {
  Json result;
  for (const ConjugacyClass& each : conjugacy_classes(group, kMaxClassElements))
    result.push_back({{"representative", to_string(each.representative)},
                      {"size", each.size},
                      {"element_order", each.element_order}});
  return result;
}

void add_structure(Json& facts, const PermutationGroup& group) {
  facts["name"] = recognised_name(group);
  facts["primitive"] = is_primitive(group);
  const auto derived = derived_series(group);
  const auto central = lower_central_series(group);
  facts["solvable"] = is_trivial(derived.back());
  facts["nilpotent"] = is_trivial(central.back());
  facts["perfect"] = derived.size() == 1;
  facts["simple"] = or_null([&] { return Json(is_simple(group)); });
  facts["derived_series"] = orders(derived);
  facts["lower_central_series"] = orders(central);
  facts["centre"] = or_null([&] { return exact_count(order(centre(group)).str()); });
  facts["abelian_invariants"] = or_null([&] { return texts(abelian_invariants(group)); });
  facts["composition_factors"] = or_null([&] { return Json(to_string(composition_factors(group))); });
  facts["conjugacy_classes"] = or_null([&] { return classes(group); });
}

std::string joined(const Json& list, const char* between) {
  std::string text;
  for (const Json& item : list) text += (text.empty() ? "" : between) + text_of(item);
  return text;
}

std::string properties(const Json& facts) {
  std::string text = "order " + text_of(facts["order"]);
  // Groups without a name are called by their order and factors, which stand here and in the next row.
  if (facts.contains("name") && !facts["name"].get_ref<const std::string&>().starts_with("order "))
    text += fmt::format(" ({})", facts["name"].get<std::string>());
  for (const char* property : {"abelian", "nilpotent", "solvable", "perfect", "simple", "transitive", "primitive"})
    if (facts.contains(property) && facts[property] == true) text += std::string(", ") + property;
  return text;
}

std::string classes_in_words(const Json& list) {
  std::string sizes;
  for (std::size_t i = 0; i < std::min(list.size(), kShownClasses); ++i)
    sizes += fmt::format("{}{}", i ? ", " : "", list[i]["size"].get<std::uint64_t>());
  return fmt::format("{}, of {}{} {}", counted(list.size(), "conjugacy class", "es"), sizes,
                     list.size() > kShownClasses ? ", …" : "", sizes == "1" ? "element" : "elements");
}

}  // namespace

std::string text_of(const Json& fact) {
  if (fact.is_null()) return "not decided";
  return fact.is_string() ? fact.get<std::string>() : fact.dump();
}

Json group_facts(const PermutationGroup& group) {
  Json facts;
  facts["degree"] = group.degree();
  facts["order"] = exact_count(order(group).str());
  facts["abelian"] = is_abelian(group);
  facts["transitive"] = is_transitive(group);
  if (group.degree() <= kMaxStructureDegree) add_structure(facts, by_few_generators(group));
  return facts;
}

Json group_facts(const Dfa& dfa) {
  if (dfa.states() <= kMaxGroupDegree) return group_facts(group_of_letters(dfa));
  return {{"degree", dfa.states()}, {"limit", fmt::format("the order is computed up to {} states", kMaxGroupDegree)}};
}

std::vector<std::vector<std::string>> group_rows(const Json& facts) {
  if (facts.contains("limit")) return {{"group", facts["limit"]}};
  std::vector<std::vector<std::string>> rows{{"group", properties(facts)}};
  if (!facts.contains("derived_series")) return rows;
  rows.push_back(
      {"", fmt::format("composition factors {}; G/G' = {}",
                       facts["composition_factors"] == "" ? "none" : text_of(facts["composition_factors"]),
                       facts["abelian_invariants"].empty() ? "1" : "Z_" + joined(facts["abelian_invariants"], "×Z_"))});
  rows.push_back(
      {"", fmt::format("derived series {}; lower central series {}; centre {}", joined(facts["derived_series"], " > "),
                       joined(facts["lower_central_series"], " > "), text_of(facts["centre"]))});
  if (!facts["conjugacy_classes"].is_null()) rows.push_back({"", classes_in_words(facts["conjugacy_classes"])});
  return rows;
}

}  // namespace krohn
