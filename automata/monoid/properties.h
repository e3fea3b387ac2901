// automata/monoid/properties.h — the properties that a classification decides, what they say of a language, and which
// follow from which.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/monoid/algebra.h"
#include "krohn/groups/base/error.h"

namespace krohn {

struct Property {
  const char* name;
  const char* meaning;
};

/// In the order of the table that people see. The last speaks of acceptors only.
inline constexpr std::array kProperties{
    Property{"group", "every letter permutes the states; a group language"},
    Property{"aperiodic", "star-free; first-order definable"},
    Property{"2-groups only", "all subgroups are 2-groups"},
    Property{"solvable groups", "all subgroups are solvable"},
    Property{"commutative", "the order of letters does not matter"},
    Property{"R-trivial", "no state is entered again once it was left"},
    Property{"L-trivial", "the reversed language is R-trivial"},
    Property{"J-trivial", "piecewise testable"},
    Property{"DA", "unambiguous; two-variable first-order definable"},
    Property{"locally testable", "decided by which factors of a length occur"},
    Property{"definite", "decided by a suffix of bounded length"},
    Property{"reverse definite", "decided by a prefix of bounded length"},
    Property{"generalised definite", "decided by a prefix and a suffix of bounded length"},
    Property{"nilpotent", "finite or cofinite when accepted words are asked for"},
    Property{"quasi-aperiodic", "aperiodic with a position signal"},
    Property{"right regular idempotents",
             "efe = fe: without it no one layer of contractions with finitely many values"},
    Property{"synchronising", "some word takes every state to the same"},
    Property{"finite", "accepts finitely many words"}};

/// Yes without a witness, no with one.
Verdict decided(std::string_view property, std::string witness);

/// Unknown, and why.
Verdict undecided(std::string_view property, std::string why);

/// Returns the verdict of `decide`; unknown, and why, where it meets a limit: what was found before stays.
template <class Decide>
Verdict decided_in_time(std::string_view property, Decide&& decide) {
  try {
    return decide();
  } catch (const LimitError& error) {
    return undecided(property, error.what());
  }
}

/// Decides what is unknown and follows from what is known: an aperiodic monoid has 2-groups only, a language that is
/// not aperiodic is not locally testable, … The witness of a no so drawn is that of the property it follows from.
void draw_conclusions(std::vector<Verdict>& verdicts);

/// The verdicts of `analyse`, decided as far as the automaton alone and the first elements of its monoid decide them:
/// group, commutative, R-trivial, definite and finite always; aperiodic and 2-groups only where a short word acts with
/// a cycle; right regular idempotents where short words cross; and what follows. The others are unknown, with `limit`
/// as the reason. All states of `dfa` must be reachable. O(states² · letters + 20,000 elements).
std::vector<Verdict> partial_verdicts(const Dfa& dfa, const std::string& limit);

/// The verdict "definite": whether no word that is not empty returns to the pair of states that it started from.
/// O(states² · letters); unknown, with `limit`, past 4,000 states.
Verdict definite(const Dfa& dfa, const std::string& limit);

/// The witness against "R-trivial": a state that is left and entered again; empty when there is none. O(n · letters).
std::string returning_state(const Dfa& dfa);

/// A witness against "aperiodic": a letter, or a word of one of the first elements of the monoid, that acts with a
/// cycle; empty when there is none among them. All states have to be reachable. O(20,000 elements).
std::string early_cycle(const Dfa& dfa);

/// The witness against "group", "commutative" and "finite"; empty when there is none.
std::string merging_letter(const Dfa& dfa);
std::string non_commuting_letters(const Dfa& dfa);
std::string endless_words(const Dfa& dfa);

struct Synchronisation {
  Answer answer = Answer::kUnknown;
  Word word;                    ///< with kYes: takes every state to the same; it was run
  bool is_shortest = false;     ///< no shorter word does
  State first = 0, second = 0;  ///< with kNo: two states that no word takes to one
  std::string limit;            ///< with kUnknown
};

/// Decides by the graph of pairs (Černý 1964; Eppstein 1990): a word exists exactly when every two states meet. The
/// word is a shortest one where a breadth-first search over sets of states ends within `max_sets` sets, otherwise that
/// of Eppstein's greedy algorithm. All states count. O(states² · letters) for the answer; unknown where that is more
/// than 2^27 pairs × letters and no letter alone takes every state to one.
Synchronisation synchronise(const Dfa& dfa, std::uint64_t max_sets = std::uint64_t{1} << 18);

/// "by \"baaab\", 5 letters, no shorter word does", "no word takes states 1 and 2 to one", or the limit.
std::string in_words(const Dfa& dfa, const Synchronisation& found);

/// The verdict "synchronising".
Verdict synchronising(const Dfa& dfa);

}  // namespace krohn
