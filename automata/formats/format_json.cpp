#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/formats.h"
#include "krohn/automata/formats/json.h"
#include "krohn/groups/base/error.h"

namespace krohn {

namespace {

using nlohmann::json;

constexpr std::string_view kFormatName = "krohn automaton";
constexpr std::uint64_t kVersion = 1;

/// The part of the library's message that says what was wrong, without its exception number.
std::string reason(const std::string& message) {
  const std::size_t colon = message.find(": ");
  return visible(cut_short(colon == std::string::npos ? message : message.substr(colon + 2), 120));
}

const json& require(const json& object, const char* key, json::value_t type, std::string_view where) {
  const auto found = object.find(key);
  if (found == object.end()) throw InputError(where, fmt::format("the field \"{}\" is missing", key));
  if (found->type() != type)
    throw InputError(
        where, fmt::format("the field \"{}\" must be {}, not {}", key, json(type).type_name(), found->type_name()));
  return *found;
}

/// A number below `limit`. `what` describes it for the message.
std::uint32_t to_index(const json& value, std::uint64_t limit, const std::string& what, std::string_view where) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= limit)
    throw InputError(
        where,
        fmt::format("{} is {}; a whole number below {} is expected", what,
                    value.is_structured() ? value.type_name() : cut_short(value.dump(-1, ' ', true), 60), limit));
  return value.get<std::uint32_t>();
}

std::string to_name(const json& value, const std::string& what, std::string_view where) {
  if (!value.is_string())
    throw InputError(where, fmt::format("{} is {}; a string is expected", what, value.type_name()));
  return value.get<std::string>();
}

std::vector<std::string> to_names(const json& array, const char* field, std::string_view where) {
  std::vector<std::string> names;
  names.reserve(array.size());
  for (const json& value : array)
    names.push_back(to_name(value, fmt::format("\"{}\"[{}]", field, names.size()), where));
  return names;
}

// --- Alphabets

Symbol to_symbol(const json& value, const std::string& what, std::string_view where) {
  if (value.is_string()) return Alphabet::from_names(std::vector{value.get<std::string>()})[0];
  if (!value.is_object() || value.size() != 2)
    throw InputError(where, what + " must be a string or an object with \"name\" and \"characters\"");
  Symbol symbol;
  symbol.name = require(value, "name", json::value_t::string, where).get<std::string>();
  for (const json& range : require(value, "characters", json::value_t::array, where)) {
    if (!range.is_array() || range.size() != 2) throw InputError(where, what + ": a range is [first, last]");
    symbol.characters.push_back({to_index(range[0], std::uint64_t{kLastCodePoint} + 1, what, where),
                                 to_index(range[1], std::uint64_t{kLastCodePoint} + 1, what, where)});
  }
  return symbol;
}

Alphabet to_alphabet(const json& array, std::string_view where) {
  std::vector<Symbol> symbols;
  symbols.reserve(array.size());
  try {
    for (const json& value : array)
      symbols.push_back(to_symbol(value, fmt::format("\"alphabet\"[{}]", symbols.size()), where));
    return Alphabet::from_symbols(std::move(symbols));
  } catch (const InputError& error) {
    if (std::string_view(error.what()).starts_with(where)) throw;
    throw InputError(where, error.what());
  }
}

json from_symbol(const Symbol& symbol) {
  if (Alphabet::from_names(std::vector{symbol.name})[0] == symbol) return symbol.name;
  json ranges = json::array();
  for (const CodePointRange& range : symbol.characters)
    ranges.push_back({static_cast<std::uint32_t>(range.first), static_cast<std::uint32_t>(range.last)});
  return {{"name", symbol.name}, {"characters", std::move(ranges)}};
}

// --- Reading

void read_header(const json& file, std::string_view where) {
  if (!file.is_object()) throw InputError(where, fmt::format("the file holds {}, not an object", file.type_name()));
  const auto format = file.find("format");
  if (format == file.end() || *format != kFormatName)
    throw InputError(where, fmt::format("not an automaton of krohn: \"format\" must be \"{}\"", kFormatName));
  const auto version = file.find("version");
  if (version == file.end() || !version->is_number_unsigned() || *version != kVersion)
    throw InputError(where, fmt::format("\"version\" must be {}; a newer krohn may read this file", kVersion));
}

/// A field that is not known may change what the others mean, or be one of them misspelt.
void refuse_unknown_fields(const json& file, std::string_view where) {
  constexpr std::array<std::string_view, 11> kFields = {"format",      "version",     "alphabet",     "states",
                                                        "initial",     "accepting",   "output_names", "outputs",
                                                        "state_names", "transitions", "comment"};
  for (const auto& [field, value] : file.items())
    if (std::ranges::find(kFields, field) == kFields.end())
      throw InputError(where, fmt::format("the field {} is not known; the fields are {}. Remarks go into \"comment\"",
                                          in_quotes(field), fmt::join(kFields, ", ")));
}

void read_outputs(const json& file, Draft& draft, std::string_view where) {
  const bool accepts = file.contains("accepting");
  if (accepts == file.contains("outputs"))
    throw InputError(where, "give either \"accepting\" or \"outputs\" with \"output_names\"");
  if (accepts) {
    for (const json& state : require(file, "accepting", json::value_t::array, where))
      draft.outputs[to_index(state, draft.states(), "an accepting state", where)] = 1;
    return;
  }
  draft.output_names = to_names(require(file, "output_names", json::value_t::array, where), "output_names", where);
  const std::set<std::string> distinct(draft.output_names.begin(), draft.output_names.end());
  if (distinct.size() != draft.output_names.size()) throw InputError(where, "\"output_names\" has a name twice");
  const json& outputs = require(file, "outputs", json::value_t::array, where);
  if (outputs.size() != draft.states())
    throw InputError(
        where, fmt::format("\"outputs\" has {} entries for {}", outputs.size(), counted(draft.states(), "state")));
  for (State state = 0; state < draft.states(); ++state)
    draft.outputs[state] =
        to_index(outputs[state], draft.output_names.size(), fmt::format("the output of state {}", state), where);
  if (draft.output_names == std::vector<std::string>{"accept", "reject"}) {  // an acceptor's, in the other order
    std::ranges::reverse(draft.output_names);
    for (auto& output : draft.outputs) output = 1 - output;
  }
}

void read_target(const json& value, State source, Letter letter, Draft& draft, std::string_view where) {
  const auto what = [&] {
    return fmt::format("the target of state {} on {}", source, in_quotes(draft.alphabet.name(letter)));
  };
  if (value.is_null()) return;
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() < draft.states()) {  // without making `what`: the common case
    draft.arcs.push_back({source, letter, value.get<State>()});
    return;
  }
  if (!value.is_array()) to_index(value, draft.states(), what(), where);
  for (const json& target : value)
    draft.arcs.push_back({source, letter, to_index(target, draft.states(), what(), where)});
}

void read_transitions(const json& rows, Draft& draft, std::string_view where) {
  draft.arcs.reserve(rows.size() * draft.alphabet.size());
  for (State source = 0; source < draft.states(); ++source) {
    const json& row = rows[source];
    if (!row.is_array() || row.size() != draft.alphabet.size())
      throw InputError(where, fmt::format("row {} of \"transitions\" must list {}, one per letter", source,
                                          counted(draft.alphabet.size(), "target")));
    for (Letter letter = 0; letter < draft.alphabet.size(); ++letter)
      read_target(row[letter], source, letter, draft, where);
  }
}

// --- Writing

std::string dump(const json& value, json::error_handler_t handler = json::error_handler_t::strict) {
  try {
    return value.dump(-1, ' ', false, handler);
  } catch (const json::exception& error) {
    throw InputError("", std::string("cannot write JSON: ") + error.what());
  }
}

void append_row(std::string& text, std::span<const State> row) {
  const char* separator = "";
  text += '[';
  for (const State target : row) {
    text += separator + fmt::format_int(target).str();
    separator = ", ";
  }
  text += ']';
}

std::string outputs_text(const Dfa& dfa) {
  if (!dfa.is_acceptor())
    return fmt::format("  \"output_names\": {},\n  \"outputs\": [{}],\n",
                       write_json_strings({dfa.output_names().begin(), dfa.output_names().end()}),
                       fmt::join(dfa.outputs(), ", "));
  std::vector<State> accepting;
  for (State state = 0; state < dfa.states(); ++state)
    if (dfa.accepts(state)) accepting.push_back(state);
  return fmt::format("  \"accepting\": [{}],\n", fmt::join(accepting, ", "));
}

}  // namespace

json parse_strict_json(std::string_view text, std::string_view place, bool is_part) {
  constexpr int kMaxDepth = 8;
  constexpr std::size_t kMaxValues = std::size_t{1} << 26;  // two bytes of text may take 32 of memory
  std::size_t values = 0;
  std::vector<std::set<std::string>> open;
  const auto watch = [&](int depth, json::parse_event_t event, const json& parsed) {
    if (depth > kMaxDepth) throw InputError(place, fmt::format("JSON nested deeper than {} levels", kMaxDepth));
    if (++values > kMaxValues)
      throw LimitError(
          fmt::format("{}: JSON of more than {} values; the limit protects the memory", place, kMaxValues));
    if (event == json::parse_event_t::object_start) open.emplace_back();
    if (event == json::parse_event_t::object_end) open.pop_back();
    if (event == json::parse_event_t::key && !open.back().insert(parsed.get<std::string>()).second)
      throw InputError(place, fmt::format("the key {} is given twice in one object",
                                          in_quotes(parsed.get_ref<const std::string&>())));
    return true;
  };
  // The parser takes a zero byte for the end of its input.
  if (text.find('\0') != std::string::npos) throw InputError(place, "a zero byte in JSON");
  try {
    return json::parse(text, watch);
  } catch (const json::parse_error& error) {
    const std::size_t offset = error.byte == 0 ? 0 : std::min(error.byte, text.size() + 1) - 1;
    throw InputError(is_part ? fmt::format("{}, column {}", place, offset + 1) : position_in(text, offset, place),
                     "not valid JSON: " + reason(error.what()));
  } catch (const json::out_of_range&) {
    throw InputError(place, "a number in JSON that is too large for any format");
  }
}

Draft read_json(std::string_view text, std::string_view where) {
  const json file = parse_strict_json(checked_text(text, where), where);
  read_header(file, where);
  refuse_unknown_fields(file, where);
  Draft draft;
  draft.alphabet = to_alphabet(require(file, "alphabet", json::value_t::array, where), where);
  const json& rows = require(file, "transitions", json::value_t::array, where);
  const auto states = require(file, "states", json::value_t::number_unsigned, where).get<std::uint64_t>();
  if (states != rows.size())
    throw InputError(where,
                     fmt::format("\"states\" is {}, but \"transitions\" has {}", states, counted(rows.size(), "row")));
  draft.outputs.resize(rows.size());
  draft.initial = {to_index(require(file, "initial", json::value_t::number_unsigned, where), draft.states(),
                            "the initial state", where)};
  read_outputs(file, draft, where);
  if (file.contains("state_names"))
    draft.state_names = to_names(require(file, "state_names", json::value_t::array, where), "state_names", where);
  if (!draft.state_names.empty() && draft.state_names.size() != draft.states())
    throw InputError(where,
                     fmt::format("{} state names for {}", draft.state_names.size(), counted(draft.states(), "state")));
  read_transitions(rows, draft, where);
  return draft;
}

std::string write_json(const Dfa& dfa) {
  std::string text = fmt::format(
      "{{\n  \"format\": \"{}\",\n  \"version\": {},\n  \"alphabet\": {},\n  \"states\": {},\n  \"initial\": {},\n{}",
      kFormatName, kVersion, write_json_alphabet(dfa.alphabet()), dfa.states(), dfa.initial(), outputs_text(dfa));
  if (!dfa.state_names().empty())
    text += fmt::format("  \"state_names\": {},\n",
                        dump(std::vector<std::string>(dfa.state_names().begin(), dfa.state_names().end()),
                             json::error_handler_t::replace));
  text += "  \"transitions\": [";
  for (State state = 0; state < dfa.states(); ++state) {
    text += state == 0 ? "\n    " : ",\n    ";
    append_row(text, dfa.row(state));
  }
  return text + "\n  ]\n}\n";
}

std::string write_json_alphabet(const Alphabet& alphabet) {
  json symbols = json::array();
  for (const Symbol& symbol : alphabet.symbols()) symbols.push_back(from_symbol(symbol));
  return dump(symbols);
}

Alphabet read_json_alphabet(std::string_view text, std::string_view where) {
  const json array = parse_strict_json(text, where);
  if (!array.is_array()) throw InputError(where, "an alphabet is a JSON array");
  return to_alphabet(array, where);
}

std::string write_json_strings(const std::vector<std::string>& strings) { return dump(strings); }

std::vector<std::string> read_json_strings(std::string_view text, std::string_view where) {
  const json array = parse_strict_json(text, where);
  if (!array.is_array()) throw InputError(where, "a JSON array of strings is expected");
  return to_names(array, "array", where);
}

}  // namespace krohn

template void nlohmann::json::json_value::destroy(nlohmann::detail::value_t);
template nlohmann::json::json_value::json_value(nlohmann::detail::value_t);
template nlohmann::json::basic_json(const nlohmann::json&);
template nlohmann::json::basic_json(std::initializer_list<nlohmann::detail::json_ref<nlohmann::json>>, bool,
                                    nlohmann::detail::value_t);
template const char* nlohmann::json::type_name() const noexcept;
template std::string nlohmann::json::dump(int, char, bool, nlohmann::detail::error_handler_t) const;
template void nlohmann::detail::serializer<nlohmann::json>::dump(const nlohmann::json&, bool, bool, unsigned, unsigned);

template void nlohmann::ordered_json::json_value::destroy(nlohmann::detail::value_t);
template nlohmann::ordered_json::json_value::json_value(nlohmann::detail::value_t);
template nlohmann::ordered_json::basic_json(const nlohmann::ordered_json&);
template nlohmann::ordered_json::basic_json(std::initializer_list<nlohmann::detail::json_ref<nlohmann::ordered_json>>,
                                            bool, nlohmann::detail::value_t);
template const char* nlohmann::ordered_json::type_name() const noexcept;
template std::string nlohmann::ordered_json::dump(int, char, bool, nlohmann::detail::error_handler_t) const;
template void nlohmann::detail::serializer<nlohmann::ordered_json>::dump(const nlohmann::ordered_json&, bool, bool,
                                                                         unsigned, unsigned);
