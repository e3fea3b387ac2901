// automata/classes/classes.h — the classes that a language lies in: strictly local, testable, piecewise, star-free, …
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "krohn/automata/classes/class_tests.h"
#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/monoid/algebra.h"

namespace krohn {

/// Every class here is closed under leaving out letters and under letters that act as others do, with the
/// same parameters; so what holds of the reduced automaton holds of the given one.
struct ReducedAutomaton {
  Dfa dfa;                                 ///< minimal; its letters act differently in pairs
  std::vector<std::vector<Letter>> alike;  ///< per letter of `dfa`: all letters of the given automaton that act so
};

/// `dfa` is minimal. O(n · letters · log letters).
ReducedAutomaton reduce(const Dfa& dfa);

/// Without the letters that move no state: a language has a property on some tier exactly when it has it on the letters
/// that move a state, for every larger tier has letters that mean nothing (Lambert & Rogers 2020). `reduced` itself
/// when there is no such letter.
ReducedAutomaton on_tier(const ReducedAutomaton& reduced);

/// One class with its answer for one language.
struct ClassVerdict {
  std::string name;     ///< "SL", "TLTT", …
  std::string meaning;  ///< "forbidden factors of at most k letters, ends included"
  Answer answer = Answer::kUnknown;
  /// With kYes, the least parameters: {"k", 3}, {"t", 2}. Of k and t together, t is 1 with the least k for that where
  /// the language is locally testable; otherwise k is the least for any t, and t the least for this k. Empty where they
  /// are not determined, which `remark` says.
  std::vector<std::pair<std::string, std::uint64_t>> parameters;
  std::optional<std::vector<Letter>> tier;  ///< with kYes: the letters that count; others mean nothing
  /// With kYes, what defines the language, over one letter for all that act alike: `data_name` is "forbidden factors",
  /// "forbidden subsequences", or "required" ones, of which a word must have some.
  std::string data_name;
  ListedWords data;
  std::string witness;  ///< with kNo: words, which were checked by running them, or what it follows from
  std::string remark;   ///< the reason of a yes; the limit that was met when an answer or a parameter is missing
};

struct ClassOptions {
  std::uint64_t max_elements = 20'000;  ///< of the syntactic monoid, where it is needed at all
  std::size_t most_listed = 20;         ///< factors or subsequences
};

/// All classes, in the order of `class_names`. `dfa` is a minimal acceptor, `algebra` says what is known of its monoid.
/// Strictly local, strictly piecewise, piecewise testable and locally testable languages are recognised on the
/// automaton; the monoid is enumerated only for thresholds, dot-depth one and orders of local testability of languages
/// that may be star-free. A limit leaves one answer open, not the others; a TimeLimit likewise.
std::vector<ClassVerdict> language_classes(const Dfa& dfa, const Algebra& algebra, const ClassOptions& options = {});

/// Decides what `algebra` left open and follows from the classes.
void complete(Algebra& algebra, const std::vector<ClassVerdict>& classes);

/// "SL_3", "LTT_{2,3}".
std::string name_with_parameters(const ClassVerdict& verdict);

/// Returns a verdict as one line: the defining words, the witness, or why it is open.
std::string explanation(const ClassVerdict& verdict);

// Answers of the literature for transformers, each with its source.

/// One family of transformers, or a class of languages named for them, with its answer for one language. The answers
/// are the theorems' of the source; nothing is built or proved here.
struct TransformerVerdict {
  std::string family;
  Answer answer = Answer::kUnknown;
  std::string source;
  std::string reason;
};

/// `dfa` is a minimal acceptor, `algebra` that of its syntactic monoid.
std::vector<TransformerVerdict> transformers(const Dfa& dfa, const Algebra& algebra);

/// Two states of one strongly connected component that a letter takes to one of them all; nothing when there are none.
/// There are some exactly when two idempotents of the monoid share an R-class.
std::string merging_inside_component(const Dfa& dfa);

}  // namespace krohn
