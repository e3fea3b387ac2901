// automata/monoid/properties.h — the properties that a classification decides, what they say of a language, and which
// follow from which.
#pragma once

#include <array>
#include <vector>

#include "krohn/automata/monoid/algebra.h"

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

/// Decides what is unknown and follows from what is known: an aperiodic monoid has 2-groups only, a language that is
/// not aperiodic is not locally testable, … The witness of a no so drawn is that of the property it follows from.
void draw_conclusions(std::vector<Verdict>& verdicts);

}  // namespace krohn
