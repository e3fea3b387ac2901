// constructions/build/build_integral.h — group automata by integer matrices: exact without keys or roots, but with norm
// above 1 and no Householder form.
#pragma once

#include "krohn/constructions/actions/based_action.h"
#include "krohn/constructions/network/network.h"

namespace krohn {

/// Abelian transition groups by powers of companion matrices: letter w of a factor Z_q, q = p^a, is C^w for the
/// companion matrix C of the cyclotomic polynomial Φ_q, and y is the class of x^y in Z[x]/Φ_q. Dimension Σ φ(p^a),
/// entries 0, ±1. Throws InputError when the transition group is not abelian, LimitError past 512 dimensions or 4096
/// states.
Network build_integral_cyclotomic(const Dfa& automaton);

/// Permutations of n points in n − 1 dimensions, the standard representation of S_n: point i < n is e_i and point n is
/// −(e_1 + … + e_{n−1}), so that all points sum to 0. On the action of build_permutation_base when there is one smaller
/// than the states (each component then saves one dimension). Throws InputError when a letter is no bijection or there
/// is one state only, LimitError past 512 dimensions or 4096 states.
Network build_integral_standard(const Dfa& automaton);
Network build_integral_standard(const Dfa& automaton, const BasedAction& action);

}  // namespace krohn
