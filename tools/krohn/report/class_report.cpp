#include "tools/krohn/report/class_report.h"

#include <fmt/format.h>

#include "krohn/automata/classes/reduced_automaton.h"
#include "krohn/automata/formats/json.h"
#include "tools/krohn/report/json_output.h"
#include "tools/krohn/report/table.h"

namespace krohn {
namespace {

constexpr std::size_t kColumns = 90;

Json names(const std::vector<Letter>& letters, const Alphabet& alphabet) {
  Json result = Json::array();
  for (const Letter letter : letters) result.push_back(alphabet.name(letter));
  return result;
}

}  // namespace

Json classes_to_json(const std::vector<ClassVerdict>& classes, const Alphabet& alphabet) {
  Json rows = Json::array();
  for (const ClassVerdict& verdict : classes) {
    Json row{{"class", verdict.name}, {"meaning", verdict.meaning}, {"answer", to_string(verdict.answer)}};
    for (const auto& [name, value] : verdict.parameters) row[name] = value;
    if (verdict.tier) row["tier"] = names(*verdict.tier, alphabet);
    if (verdict.answer == Answer::kYes && !verdict.data_name.empty())
      row["defined_by"] = {{"what", verdict.data_name},
                           {"words", verdict.data.words},
                           {"count", exact_count(std::to_string(verdict.data.count))},
                           {"complete", verdict.data.complete}};
    if (!verdict.witness.empty()) row["witness"] = verdict.witness;
    if (!verdict.remark.empty()) row["remark"] = verdict.remark;
    rows.push_back(std::move(row));
  }
  return rows;
}

Json letters_alike(const Dfa& minimal) {
  const ReducedAutomaton reduced = reduce(minimal);
  Json letters = Json::object();
  for (Letter letter = 0; letter < reduced.dfa.letters(); ++letter)
    if (reduced.alike[letter].size() > 1)
      letters[reduced.dfa.alphabet().name(letter)] = names(reduced.alike[letter], minimal.alphabet());
  return letters;
}

Json transformers_to_json(const std::vector<TransformerVerdict>& rows) {
  Json result = Json::array();
  for (const TransformerVerdict& row : rows)
    result.push_back(
        {{"family", row.family}, {"answer", to_string(row.answer)}, {"source", row.source}, {"reason", row.reason}});
  return result;
}

std::vector<std::vector<std::string>> class_rows(const std::vector<ClassVerdict>& classes, const Alphabet& alphabet) {
  std::vector<std::vector<std::string>> rows;
  for (const ClassVerdict& verdict : classes) {
    std::string why = explanation(verdict);
    if (verdict.tier && verdict.tier->size() < alphabet.size()) {
      std::string tier;
      for (const Letter letter : *verdict.tier) tier += (tier.empty() ? "" : ", ") + alphabet.name(letter);
      why = fmt::format("on the tier {{{}}}{}{}", tier, why.empty() ? "" : "; ", why);
    }
    rows.push_back({name_with_parameters(verdict), to_string(verdict.answer), shortened(why, kColumns)});
  }
  return rows;
}

}  // namespace krohn
