// automata/syntax/regex.h — regular expressions: text to automaton, and automaton to text.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/operations/operations.h"

namespace krohn {

struct RegexOptions {
  /// The letters; unset: the coarsest classes of the characters and tokens that the expression names
  /// (docs/languages.md).
  std::optional<Alphabet> alphabet;
  /// The words in which the expression matches somewhere; its letters are all of Unicode unless `alphabet` says
  /// otherwise.
  bool search = false;
  std::uint64_t max_states = 10'000'000;          ///< of any automaton on the way
  std::uint64_t max_expression_size = 5'000'000;  ///< nodes after unfolding {m,n}
};

/// The minimal canonical automaton of a regular expression, matched against the whole word. Syntax: docs/languages.md.
/// Throws InputError as "regex:COLUMN: …", also past `max_expression_size`; LimitError past `max_states`.
Dfa parse_regex(std::string_view expression, const RegexOptions& options = {});

/// The same language without determinising what does not shrink by it: an expression whose minimal automaton would be
/// far larger than itself stays nondeterministic (`settled`).
Automaton parse_regex_as_it_is(std::string_view expression, const RegexOptions& options = {});

// Short regular expressions of automata.

/// Terms over one alphabet, each kept once: equal numbers are equal terms. Everything that builds one applies the laws
/// that never lengthen the text: units, idempotence, x|x* = x*, (x*|y)* = (x|y)*, xx* = x+, common factors at both
/// ends of a union.
class RegexTerms {
 public:
  using Id = std::uint32_t;
  static constexpr Id kNothing = 0, kEmptyWord = 1;
  enum class Kind : std::uint8_t { kNothing, kEmptyWord, kLetters, kConcatenation, kUnion, kStar, kPlus, kOptional };

  explicit RegexTerms(Alphabet alphabet);

  Id letters(std::vector<Letter> letters);
  Id concatenation(std::span<const Id> parts);
  Id concatenation(Id left, Id right) { return concatenation(std::vector<Id>{left, right}); }
  Id union_of(std::span<const Id> parts);
  Id union_of(Id left, Id right) { return union_of(std::vector<Id>{left, right}); }
  Id star(Id part);
  Id plus(Id part);
  Id optional(Id part);

  Kind kind(Id id) const { return nodes_[id].kind; }
  /// The operands; of kLetters the letters.
  std::span<const std::uint32_t> parts(Id id) const { return nodes_[id].parts; }
  bool accepts_empty(Id id) const { return nodes_[id].accepts_empty; }
  /// Bytes of the text, saturated at 2^40. Repetitions that the text abbreviates are counted written out.
  std::uint64_t length(Id id) const { return nodes_[id].length; }

  /// The term for the words backwards.
  Id reversed(Id id);

  /// The text as parse_regex reads it.
  std::string text(Id id) const;
  /// Thompson's construction. Parts that occur often are copied.
  Nfa automaton(Id id) const;

  const Alphabet& alphabet() const { return alphabet_; }

 private:
  struct Node {
    Kind kind;
    std::vector<std::uint32_t> parts;
    bool accepts_empty = false;
    std::uint64_t length = 0;
  };

  Id number(Kind kind, std::vector<std::uint32_t> parts);
  std::vector<Id> factors(Id id) const;
  Id join(std::vector<Id> alternatives, bool at_front);
  void strip_into(Id id, std::vector<Id>& parts);
  std::string letters_text(std::span<const Letter> letters, bool& is_union) const;
  std::string text_within(Id id, int strength) const;

  Alphabet alphabet_;
  std::vector<Node> nodes_;
  std::map<std::pair<Kind, std::vector<std::uint32_t>>, Id> known_;
};

/// One character as an expression writes it, and a set of them as a class.
std::string regex_character(char32_t character);
std::string regex_class(const CharacterSet& characters);

struct RegexOfOptions {
  std::uint64_t max_length = 2000;  ///< bytes of the text; LimitError beyond, naming `--longest`
  std::uint64_t orders = 800;       ///< orders of elimination to try at most, all of them where that suffices
  std::uint64_t changes = 4'000;    ///< shorter expressions to test for equality at most
  double seconds = 5;               ///< for both together, as long as there is an expression at all
};

/// A short regular expression of the language, as parse_regex reads it without an alphabet; not a shortest one, which
/// is PSPACE-hard to find. States are eliminated in many orders, of the minimal automaton and of that of the words
/// backwards, and the best result is shortened while some smaller expression made of its own parts has the same minimal
/// automaton. Before it is returned it is parsed again and proved
/// equal to the automaton twice, by automata and by derivatives (left out past 10^5 pairs).
/// Letters are written as they are: `.` never occurs. Throws InputError unless the automaton is an acceptor.
std::string regex_of(const Dfa& dfa, const RegexOfOptions& options = {});

// Comparison of an automaton with an expression, by another road than the one that makes automata of expressions.

/// A shortest word that one accepts and the other does not, over the common refinement of the two alphabets; nothing
/// when there is none. Brzozowski's derivatives (1964), equal up to associative, commutative and idempotent unions and
/// intersections, which are finitely many, beside the states of the automaton: no automaton of the expression is made.
/// Throws InputError as parse_regex, and when the automaton is no acceptor; LimitError past `max_pairs` pairs.
std::optional<Word> word_against_regex(const Dfa& automaton, std::string_view expression,
                                       std::uint64_t max_pairs = 1'000'000);

}  // namespace krohn
