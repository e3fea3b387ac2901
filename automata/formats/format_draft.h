// automata/formats/format_draft.h — an automaton as a file gives it: named, perhaps partial, perhaps nondeterministic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/automata/syntax/language_options.h"

namespace krohn {

/// The result of every reader. States are numbered as the file numbers or first names them, so that a complete
/// deterministic file comes back state for state.
struct Draft {
  struct Arc {
    State source = 0;
    Letter letter = kEpsilon;
    State target = 0;
  };

  Alphabet alphabet;
  std::vector<Arc> arcs;
  std::vector<State> initial;
  std::vector<Output> outputs;  ///< one per state
  std::vector<std::string> output_names = {"reject", "accept"};
  std::vector<std::string> state_names;  ///< empty, or one per state
  bool has_start = true;                 ///< false: a semigroup, `Dfa::without_start`

  State states() const { return static_cast<State>(outputs.size()); }
};

/// The automaton with ε-moves and all. Throws InputError for a machine with outputs: only acceptors can be
/// nondeterministic.
Nfa to_nfa(const Draft& draft, std::string_view where);

/// The complete deterministic automaton. A deterministic draft keeps its numbering and its names; an acceptor that
/// lacks arcs gets one more state, a rejecting sink. A nondeterministic acceptor goes through the subset construction.
/// `where` names the file in errors. O(states · letters + arcs) when deterministic. Throws InputError when there is no
/// initial state or a machine with outputs is partial or nondeterministic, LimitError when the table would have more
/// than 2^28 entries or the subsets are too many.
Dfa to_dfa(const Draft& draft, std::string_view where, const DeterminiseOptions& options = {});

/// The same without determinising: a nondeterministic acceptor stays one.
Automaton to_automaton(const Draft& draft, std::string_view where);

/// Names in order of their first appearance, found again in O(1) expected.
class NameTable {
 public:
  std::uint32_t intern(std::string_view name);
  std::optional<std::uint32_t> find(std::string_view name) const;
  std::uint32_t size() const { return static_cast<std::uint32_t>(names_.size()); }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> index_;
};

/// Tells the empty word from letters where arcs bear names: programs write `<eps>`, `@0@`, `4294967295`, … for it, and
/// other names for any letter at all. One for each file that is read.
class EpsilonNames {
 public:
  /// Throws InputError when both a name and none are asked for.
  EpsilonNames(const LanguageOptions& options, std::string_view where);

  /// These names alone are the empty word, as the file itself says. Options go before it.
  void declare(const std::vector<std::string>& names);
  bool are_declared() const { return declared_; }

  /// True if the label is the empty word. Calls `fail`, which must throw, with a message for a label that may be or
  /// may not be, and for one that stands for any letter or a condition.
  bool contains(std::string_view label, const std::function<void(const std::string& message)>& fail);

  /// Throws InputError when a Greek letter was read as the empty word and other Greek letters are letters.
  void check_letters(const std::vector<std::string>& letters) const;

  /// True for names that need care to be read as letters: the others that `contains` calls the empty word or refuses.
  static bool may_be_no_letter(std::string_view name);
  /// True for the names by which foma, HFST and mata mean any letter.
  static bool is_any_letter(std::string_view name);

 private:
  std::string_view where_;
  std::vector<std::string> names_;         ///< where `declared_`: all
  bool declared_ = false, asked_ = false;  ///< by the file or the user; by the user
  bool all_letters_ = false;
  std::string greek_;  ///< met as the empty word
};

/// `Alphabet::from_names` with the file named in errors.
Alphabet alphabet_of_names(const std::vector<std::string>& names, std::string_view where);

/// True when `Alphabet::from_names` of the names alone gives this alphabet back: no classes, no odd tokens.
bool names_suffice(const Alphabet& alphabet);

/// "where:line:column" of a byte of the text; columns count code points, from 1.
std::string position_in(std::string_view text, std::size_t offset, std::string_view where);

/// The text without a byte order mark. Throws InputError when there is nothing but white space, at the first byte that
/// is not UTF-8, and at a NUL.
std::string_view checked_text(std::string_view text, std::string_view where);

}  // namespace krohn
