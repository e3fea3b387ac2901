#include "krohn/automata/formats/format_draft.h"

#include <fmt/format.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "krohn/groups/base/error.h"

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
  Dfa dfa = Dfa::moore(draft.alphabet, std::move(table), draft.initial.front(), std::move(outputs), draft.output_names)
                .with_state_names(std::move(names));
  return draft.has_start ? std::move(dfa) : std::move(dfa).without_start();
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

namespace {

/// The empty word as OpenFst, Kaldi, MLRegTest, foma, pyfoma, HFST and mata write it, and people.
constexpr std::array<std::string_view, 10> kEpsilons = {
    "<eps>", "<EPS>", "<epsilon>", "<EPSILON>", "@0@", "@_EPSILON_SYMBOL_@", "4294967295", "ε", "ϵ", "λ"};

bool is_epsilon(std::string_view label) {
  return std::find(kEpsilons.begin(), kEpsilons.end(), label) != kEpsilons.end();
}

bool is_greek(std::string_view label) {
  const auto character = single_code_point(label);
  return character && *character >= 0x370 && *character <= 0x3FF;
}

/// "eps", "\epsilon", "&lambda;": a word for the empty word, whatever stands around it.
bool is_word_for_epsilon(std::string_view label) {
  if (label.size() < 3 || label.size() > 20) return false;
  std::string word;
  for (const char c : label)
    if (std::isalpha(static_cast<unsigned char>(c)) != 0)
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (std::string_view("<>[]{}()$\\&;@_#").find(c) == std::string_view::npos)
      return false;
  for (const std::string_view known :
       {"eps", "epsilon", "varepsilon", "epsilonsymbol", "lambda", "emptyword", "emptystring"})
    if (word == known) return true;
  return false;
}

/// A flag diacritic of foma and HFST, such as `@P.CASE.NOM@`: no letter, but a condition on the rest of the path.
bool is_flag(std::string_view label) {
  return label.size() > 4 && label.front() == '@' && label.back() == '@' && label[2] == '.' &&
         std::string_view("PNRDCUE").find(label[1]) != std::string_view::npos;
}

/// Why the label is neither a letter nor the empty word; otherwise nothing.
std::string_view no_letter(std::string_view label) {
  if (EpsilonNames::is_any_letter(label))
    return "any letter, or any that the file does not name, in files of foma, HFST and mata; write such arcs letter by "
           "letter";
  if (is_flag(label)) return "a flag diacritic of foma or HFST, a condition on the word; have them eliminated first";
  return {};
}

}  // namespace

EpsilonNames::EpsilonNames(const LanguageOptions& options, std::string_view where)
    : where_(where),
      declared_(options.epsilon || options.no_epsilon),
      asked_(declared_),
      all_letters_(options.no_epsilon) {
  if (options.epsilon && options.no_epsilon)
    throw InputError("--epsilon", "not with --no-epsilon: either a name is the empty word, or none is");
  if (options.epsilon) names_.push_back(*options.epsilon);
}

void EpsilonNames::declare(const std::vector<std::string>& names) {
  if (asked_) return;
  declared_ = true;
  names_.insert(names_.end(), names.begin(), names.end());
}

bool EpsilonNames::contains(std::string_view label, const std::function<void(const std::string&)>& fail) {
  if (all_letters_) return false;
  if (declared_ && std::find(names_.begin(), names_.end(), label) != names_.end()) return true;
  if (declared_ && !asked_) return false;
  if (const std::string_view why = no_letter(label); !why.empty())
    fail(fmt::format("{} is {}. Where it is a letter, say --no-epsilon", in_quotes(label), why));
  if (declared_) return false;
  if (is_word_for_epsilon(label) && !is_epsilon(label))
    fail(fmt::format("{} may be the empty word or a letter: say --epsilon {} or --no-epsilon", in_quotes(label),
                     in_quotes(label)));
  if (!is_epsilon(label)) return false;
  if (is_greek(label)) greek_ = label;
  return true;
}

void EpsilonNames::check_letters(const std::vector<std::string>& letters) const {
  const auto other = std::find_if(letters.begin(), letters.end(), is_greek);
  if (greek_.empty() || other == letters.end()) return;
  throw InputError(where_, fmt::format("{} may be the empty word or a letter, as {} is one: say --epsilon {} or "
                                       "--no-epsilon",
                                       in_quotes(greek_), in_quotes(*other), in_quotes(greek_)));
}

bool EpsilonNames::is_any_letter(std::string_view name) {
  return name == "@_IDENTITY_SYMBOL_@" || name == "@_UNKNOWN_SYMBOL_@" || name == "@_DEFAULT_SYMBOL_@" ||
         name == "4294967294";
}

bool EpsilonNames::may_be_no_letter(std::string_view name) {
  return is_epsilon(name) || is_word_for_epsilon(name) || !no_letter(name).empty();
}

Alphabet alphabet_of_names(const std::vector<std::string>& names, std::string_view where) {
  try {
    return Alphabet::from_names(names);
  } catch (const InputError& error) {
    throw InputError(where, error.what());
  }
}

bool names_suffice(const Alphabet& alphabet) {
  try {
    return Alphabet::from_names(alphabet.names()) == alphabet;
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

}  // namespace krohn
