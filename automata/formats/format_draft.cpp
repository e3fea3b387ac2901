#include "krohn/automata/formats/format_draft.h"

#include <fmt/format.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <charconv>

#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"

namespace krohn {

namespace {

constexpr State kNoTarget = UINT32_MAX;
constexpr std::uint64_t kMaxTableEntries = std::uint64_t{1} << 28;

std::string name_of(const Draft& draft, State state) {
  return in_quotes(draft.state_names.empty() ? std::to_string(state) : draft.state_names[state]);
}

bool is_acceptor(const Draft& draft) {
  return draft.output_names.size() == 2 && draft.output_names[0] == "reject" && draft.output_names[1] == "accept";
}

void require_table_size(std::uint64_t states, std::uint64_t letters, std::string_view where) {
  if (letters != 0 && states > kMaxTableEntries / letters)
    throw LimitError(
        fmt::format("{}: {} × {} letters need a table of more than 2^28 entries; the limit protects "
                    "the memory. Use fewer letters, for example character classes",
                    where, counted(states, "state"), letters));
}

/// The first thing that keeps a draft from being deterministic: an ε-move, or two arcs on one letter.
struct Conflict {
  Draft::Arc arc;
  State other = kNoTarget;
};

std::string describe(const Draft& draft, const Conflict& conflict) {
  if (conflict.arc.letter == kEpsilon)
    return fmt::format("state {} has an ε-move to {}", name_of(draft, conflict.arc.source),
                       name_of(draft, conflict.arc.target));
  return fmt::format("state {} has two arcs on letter {} (to {} and to {})", name_of(draft, conflict.arc.source),
                     in_quotes(draft.alphabet.name(conflict.arc.letter)), name_of(draft, conflict.other),
                     name_of(draft, conflict.arc.target));
}

/// Fills the table, kNoTarget where no arc is. Stops at the first conflict. An arc given twice is one arc.
std::optional<Conflict> fill_table(const Draft& draft, std::vector<State>& table) {
  for (const Draft::Arc& arc : draft.arcs) {
    if (arc.letter == kEpsilon) return Conflict{arc, kNoTarget};
    State& entry = table[std::size_t{arc.source} * draft.alphabet.size() + arc.letter];
    if (entry != kNoTarget && entry != arc.target) return Conflict{arc, entry};
    entry = arc.target;
  }
  return std::nullopt;
}

std::string unused_name(const std::vector<std::string>& names) {
  std::string name = "sink";
  while (std::find(names.begin(), names.end(), name) != names.end()) name += '\'';
  return name;
}

/// Sends missing arcs to one more, rejecting, state.
Dfa complete(const Draft& draft, std::vector<State> table, std::string_view where) {
  std::vector<Output> outputs = draft.outputs;
  std::vector<std::string> names = draft.state_names;
  const auto missing = std::find(table.begin(), table.end(), kNoTarget);
  if (missing != table.end()) {
    const auto at = static_cast<std::size_t>(missing - table.begin());
    if (!is_acceptor(draft))
      throw InputError(where,
                       fmt::format("state {} has no arc on letter {}; a machine with outputs needs one on every "
                                   "letter",
                                   name_of(draft, static_cast<State>(at / draft.alphabet.size())),
                                   in_quotes(draft.alphabet.name(static_cast<Letter>(at % draft.alphabet.size())))));
    const State sink = draft.states();
    outputs.push_back(0);
    if (!names.empty()) names.push_back(unused_name(names));
    table.resize(table.size() + draft.alphabet.size(), sink);
    std::replace(table.begin(), table.end(), kNoTarget, sink);
  }
  return Dfa::moore(draft.alphabet, std::move(table), draft.initial.front(), std::move(outputs), draft.output_names)
      .with_state_names(std::move(names));
}

}  // namespace

Nfa to_nfa(const Draft& draft, std::string_view where) {
  if (!is_acceptor(draft))
    throw InputError(where, "a machine with outputs cannot be read as a nondeterministic acceptor");
  Nfa nfa(draft.alphabet);
  for (const Output output : draft.outputs) nfa.add_state(output == 1);
  for (const State state : draft.initial) nfa.add_initial(state);
  for (const Draft::Arc& arc : draft.arcs) nfa.add_arc(arc.source, arc.letter, arc.target);
  return nfa;
}

Automaton to_automaton(const Draft& draft, std::string_view where) {
  if (draft.states() == 0) throw InputError(where, "no states");
  if (draft.initial.empty()) throw InputError(where, "no initial state");
  if (draft.initial.size() > 1) return to_nfa(draft, where);
  require_table_size(std::uint64_t{draft.states()} + 1, draft.alphabet.size(), where);
  std::vector<State> table;
  table.reserve(std::size_t{draft.states() + 1} * draft.alphabet.size());
  table.assign(std::size_t{draft.states()} * draft.alphabet.size(), kNoTarget);
  const auto conflict = fill_table(draft, table);
  if (!conflict) return complete(draft, std::move(table), where);
  if (!is_acceptor(draft))
    throw InputError(where, describe(draft, *conflict) + "; a machine with outputs must be deterministic");
  table = {};
  return to_nfa(draft, where);
}

Dfa to_dfa(const Draft& draft, std::string_view where, const DeterminiseOptions& options) {
  Automaton automaton = to_automaton(draft, where);
  if (auto* dfa = std::get_if<Dfa>(&automaton)) return std::move(*dfa);
  return determinise(std::get<Nfa>(automaton), options);
}

std::uint32_t NameTable::intern(std::string_view name) {
  const auto [entry, is_new] = index_.try_emplace(std::string(name), size());
  if (is_new) names_.emplace_back(name);
  return entry->second;
}

std::optional<std::uint32_t> NameTable::find(std::string_view name) const {
  const auto entry = index_.find(std::string(name));
  return entry == index_.end() ? std::nullopt : std::optional(entry->second);
}

Alphabet alphabet_of_names(const std::vector<std::string>& names, std::string_view where) {
  try {
    return Alphabet::from_names(names);
  } catch (const InputError& error) {
    throw InputError(where, error.what());
  }
}

bool names_suffice(const Alphabet& alphabet) {
  std::vector<std::string> names;
  for (const Symbol& symbol : alphabet.symbols()) names.push_back(symbol.name);
  try {
    return Alphabet::from_names(names) == alphabet;
  } catch (const InputError&) {  // two names that would become one character
    return false;
  }
}

std::string position_in(std::string_view text, std::size_t offset, std::string_view where) {
  const std::string_view before = text.substr(0, offset);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::string_view last_line = before.substr(before.rfind('\n') + 1);  // npos + 1 is 0
  const auto column = std::count_if(last_line.begin(), last_line.end(), [](char c) { return (c & 0xC0) != 0x80; }) + 1;
  return fmt::format("{}:{}:{}", where, line, column);
}

std::string_view checked_text(std::string_view text, std::string_view where) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos)
    throw InputError(where, "the file is empty; an automaton is expected");
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t start = i;
    UChar32 character = 0;
    U8_NEXT(bytes, i, text.size(), character);
    if (character == 0) throw InputError(position_in(text, start, where), "a NUL byte; this is not a text file");
    if (character < 0)
      throw InputError(position_in(text, start, where),
                       fmt::format("byte 0x{:02X} is not valid UTF-8; convert the file to UTF-8", bytes[start]));
  }
  return text;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace krohn
