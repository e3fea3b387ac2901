// tools/krohn/report/class_report.h — the classes of a language, for programs and for people.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "krohn/automata/classes/classes.h"
#include "krohn/automata/classes/transformers.h"

namespace krohn {

/// One object a class: its answer, least parameters, tier, defining words, witness and remark, as far as there are.
nlohmann::ordered_json classes_to_json(const std::vector<ClassVerdict>& classes, const Alphabet& alphabet);

/// The letters that stand for others which act alike, with those: defining words are written with them.
nlohmann::ordered_json letters_alike(const Dfa& minimal);

nlohmann::ordered_json transformers_to_json(const std::vector<TransformerVerdict>& rows);

/// Name with parameters, answer, and why: for format_table.
std::vector<std::vector<std::string>> class_rows(const std::vector<ClassVerdict>& classes, const Alphabet& alphabet);

}  // namespace krohn
