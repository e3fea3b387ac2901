// automata/classes/class_tests.h — the tests behind classes.h: on the automaton, by factors and by subsequences, and on
// the syntactic semigroup.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/monoid/stamp.h"

namespace krohn {

/// The least k of at least 1, or why there is none.
struct ClassOrder {
  std::optional<std::uint64_t> k;
  std::string witness;  ///< without a k: words, checked by running them
};

/// `dfa` is minimal. By suffix substitution closure, a language is SL_k exactly when any k−1 letters take all states
/// from which something is accepted to one such state at most (Caron 2000; Edlefsen et al. 2008): the longest path
/// among the pairs of such states. O(n² · letters). Throws LimitError past 4,000 states.
ClassOrder strictly_local_order(const Dfa& dfa);

/// A finite set of words, listed as far as a limit allows.
struct ListedWords {
  std::vector<std::string> words;  ///< shortest first
  std::uint64_t count = 0;         ///< all of them, as far as 2^63 goes
  std::uint64_t longest = 0;       ///< letters
  bool complete = true;            ///< whether `words` has them all
};

/// Minimal forbidden words as paths. A node is what words that lead to it have in common: the letters that end a
/// forbidden word there (the alphabet's size: the end of the word), and those that go on to nodes with some.
class ForbiddenWords {
 public:
  struct Node {
    std::vector<std::pair<Letter, std::size_t>> next;
    std::vector<Letter> forbidden;
    std::uint64_t words = 0, length = 0;  ///< through here, at most UINT64_MAX; letters of the longest, from here on
  };
  struct Path {
    Word letters;
    bool from_start;  ///< ⋊ stands before it
    std::size_t node;
  };

  /// The number of a node that `fill` makes. Throws LimitError saying what the search for `words` met too many of.
  std::size_t begin(const char* words, const char* what);
  void fill(std::size_t node, Node made) { nodes_[node] = std::move(made); }
  const Node& operator[](std::size_t node) const { return nodes_[node]; }
  static void forbid(Node& made, Letter letter);
  void go_on(Node& made, Letter letter, std::size_t to) const;
  /// Appends the forbidden words along the paths, the shortest first, up to `most` words in all.
  void list(std::vector<Path> paths, const Alphabet& alphabet, std::size_t most, ListedWords& result) const;
  static std::string text(const Alphabet& alphabet, const Path& path, bool to_end = false);
  static void add(std::uint64_t& sum, std::uint64_t more) { sum = sum + more < sum ? UINT64_MAX : sum + more; }

 private:
  std::vector<Node> nodes_;
};

/// The factors that no accepted word between ⋊ and ⋉ has, while all their own factors occur. `dfa` is minimal and
/// strictly local. Throws LimitError past 200,000 pairs of sets of states.
ListedWords minimal_forbidden_factors(const Dfa& dfa, std::size_t most_listed);

// LT: the languages that the ends of a word and the set of its factors of some
// length decide (McNaughton & Papert 1971), decided on the automaton.

/// Why the language is not locally testable, with words that were checked by running them; nothing when it is. `dfa` is
/// minimal. Trahtman's form of Kim, McNaughton & McCloskey 1991: of states p ≠ q that a word x keeps, where q is
/// reached from p, p is not reached from q, and every word s leads from both or from neither to a state that reaches q.
/// O(n³ · letters). Throws LimitError where the pairs of states have more than 50 million arcs.
std::optional<std::string> local_violation(const Dfa& dfa);

// LTT_{k,t}: the ends of k−1 letters and the number of every factor of k letters,
// as far as t, decide.

struct ThresholdOrder {
  std::uint64_t k = 1, t = 1;
};

/// The least k for which the language is LTT_{k,t} with some t, and the least such t. `dfa` is minimal and locally
/// threshold testable. On the graph whose vertices are the words of k−1 letters, by the pairs of states that words lead
/// to (docs/MATH.md). Throws LimitError where that graph becomes too large before k is found.
ThresholdOrder threshold_order(const Dfa& dfa);

// Strictly piecewise and piecewise testable languages.

// SP_k: the languages that a set of forbidden subsequences of at most k letters
// defines: those closed under leaving out letters (Rogers et al. 2010).

/// A word that is accepted, and one that is not though it has fewer letters of it: the language is not closed under
/// subsequences. Nothing when it is. `dfa` is minimal. O(n² · letters), 8n² bytes. Throws LimitError past 4,000 states.
std::optional<std::string> lost_subsequence(const Dfa& dfa);

/// The words that no accepted word has as a subsequence, while all their own subsequences occur. `dfa` is minimal and
/// its language closed under subsequences: then it is SP_k for the length k of the longest of these words, and k at
/// least 1. Throws LimitError past 200,000 sets of states.
ListedWords minimal_forbidden_subsequences(const Dfa& dfa, std::size_t most_listed);

/// Why the language is not piecewise testable: a cycle of several states, or a state and two letters between which the
/// order matters for ever; nothing when it is. `dfa` is minimal. Klíma & Polák 2013: no cycles, and confluent.
/// O(n · letters² · depth).
std::optional<std::string> piecewise_violation(const Dfa& dfa);

/// The least k of at least 1 for a language that is piecewise testable: one more than the greatest r + l for which some
/// state q, letter a with q ≠ q·a, word x to q and word y that tells q from q·a have x ~_r xa and y ~_l ay (Simon's
/// lemma: exactly then xy and xay have the same subsequences of r + l letters). coNP-hard in general (Masopust &
/// Thomazo 2017): LimitError past 200,000 vectors of such numbers.
std::uint64_t piecewise_order(const Dfa& dfa);

/// The letters on a longest way through the automaton: never less than `piecewise_order` (Klíma & Polák 2013).
std::uint64_t automaton_depth(const Dfa& dfa);

// Tests on the syntactic semigroup, where no algorithm on the automaton is known or fast: thresholds, dot-depth one,
// and the order of local testability.

/// Why an aperiodic language is not locally threshold testable: idempotents e and f and a, b, c with
/// e·a·f·b·e·c·f ≠ e·c·f·b·e·a·f (Thérien & Weiss 1985; Beauquier & Pin 1989), checked by running the words; nothing
/// when it is.
std::optional<std::string> threshold_violation(const SyntacticSemigroup& semigroup);

/// Why the language is not of dot-depth one: idempotents e and f and a, b, c, d against Knast's identity (1983)
/// (eafbe)^ω eafde (ecfde)^ω = (eafbe)^ω (ecfde)^ω, checked by running the words; nothing when it is.
std::optional<std::string> dot_depth_one_violation(const SyntacticSemigroup& semigroup);

/// True if the ends of k−1 letters and the set of the factors of k letters decide. By Simon's lemma on graphs whose
/// vertices are the words x of k−1 letters, exactly when loops at every x are idempotent and commute; loops of fewer
/// letters than x, which only periodic x have, are read off their period (docs/MATH.md).
bool is_locally_testable_of_order(const SyntacticSemigroup& semigroup, std::uint64_t k);

/// True if the ends of k−1 letters and the sequences of factors of k letters decide: by Knast's theorem on graphs whose
/// vertices are the words of k−1 letters (docs/MATH.md). Throws LimitError past two million products.
bool is_dot_depth_one_of_width(const SyntacticSemigroup& semigroup, std::uint64_t k);

/// A shortest word that is accepted from one of the states only, if there is one.
std::optional<Word> telling_word(const Dfa& dfa, State p, State q);

}  // namespace krohn
