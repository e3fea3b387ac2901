// groups/names/recognise.h — the name of a permutation group up to isomorphism, where users know one.
#pragma once

#include <string>

#include "krohn/groups/permutations/permutation_group.h"
#include "krohn/groups/permutations/stabiliser_chain.h"

namespace krohn {

/// The isomorphism type, implied by what was computed and never guessed:
///
///   trivial, Z_6, V_4, Z_2×Z_4, Z_2^3   abelian groups by their invariant factors
///   S_5, A_4                            also in other actions, such as S_5 on 6 points
///   D_4, Q_8                            dihedral of order 2n; quaternion, generalised or dicyclic, of that order
///   AGL(1,5), F_21                      x ↦ ax + b on Z_p, and its subgroups of order p·d
///   PSL(2,7), PGL(2,7), SL(2,3), M_11   and other simple groups by their order
///   S_4×Z_2, S_3 wr S_2                 direct and wreath products of these, when the parts are certain
///
/// Otherwise "order 96 with composition factors Z_2^5, Z_3", or "order n" when those are not decided within the limits.
/// A group with several names has the one that stands first: S_3, not D_3; D_6, not S_3×Z_2. Throws LimitError when
/// the order itself is out of reach.
std::string recognised_name(const PermutationGroup& group, const StabiliserChainOptions& options = {});

}  // namespace krohn
