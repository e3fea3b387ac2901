// groups/names/named_group.h — groups by name, in both directions, and sets of their elements to be the letters of a
// word problem.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/groups/permutations/permutation_group.h"
#include "krohn/groups/permutations/stabiliser_chain.h"

namespace krohn {

/// The group of that name, with its standard generators. Upper and lower case, spaces and "_" do not matter.
///
///   S5, A5          symmetric and alternating group on n points: (1 2), (1 2 … n); 3-cycles for A_n
///   Z6, C6          cyclic, on m points; elements are named by residues
///   D4              the dihedral group of *order 2n* on n points (n = 1: on 2; n = 2: V4 on 4)
///   V4              {1, (1 2)(3 4), (1 3)(2 4), (1 4)(2 3)}
///   Q8, Q16, Q12    (generalised) quaternion or dicyclic group of that *order*, a multiple of 4, in its regular action
///   F20, F21        Frobenius group of that *order* p·d, p prime, d a divisor of p−1, on p points: x ↦ ax + b, a^d = 1
///   AGL(1,p)        x ↦ ax + b on p points
///   PSL(2,p), PGL(2,p)   on the p+1 points of the projective line
///   GL(3,2)         PSL(2,7) on the 7 points of the Fano plane
///   M11 M12 M22 M23 M24  Mathieu groups on that many points
///   Rubik           the six face turns of Rubik's cube on its 48 moving stickers
///   G x H, G^k, G wr H   direct product on disjoint points, power, wreath product (imprimitive); brackets group
///
/// Throws InputError with near misses and the column, LimitError for parameters above 10^6 and degrees above 10^7.
PermutationGroup named_group(std::string_view name);

/// True when `named_group` would read the name as an expression of groups it knows (it may still refuse a parameter).
bool is_group_name(std::string_view name);

/// One line about each kind of group that has a name.
struct NamedGroupInfo {
  std::string pattern;
  std::string summary;
  std::string example;
};
std::vector<NamedGroupInfo> named_groups();

// The name of a permutation group up to isomorphism, where users know one.

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

// Sets of elements of a group to be the letters of its word problem.

struct GeneratingSetOptions {
  std::uint64_t max_elements = 1'000'000;  ///< of "all"; LimitError beyond
};

/// Elements of `group` by the name of the set. Every set lists an element once, in lexicographic order of images (the
/// identity first) except "standard" and explicit lists, which keep their order.
///
///   standard             the group's own generators
///   all                  every element (Grazzi's S_5 and Z_60)
///   transpositions       the swaps (i j) that lie in the group
///   adjacent             (1 2), (2 3), …, (n−1 n)
///   swaps                the identity and the transpositions (Grazzi's "S_5 only swaps")
///   3-cycles             the 3-cycles that lie in the group
///   swaps and 3-cycles   elements that move at most three points, the identity included (Grazzi's third S_5 task)
///   (1 2),(1 2 3)        explicit cycles, or names of elements ("1,59" in Z60, "i,j" in Q8), in the group
///
/// The set need not generate the group. Throws InputError for an unknown name (with near misses), an element outside
/// the group, or a set that is empty in this group; LimitError.
std::vector<NamedPermutation> generating_set(const PermutationGroup& group, std::string_view name,
                                             const GeneratingSetOptions& options = {});

/// The names above, without the explicit form.
std::vector<std::string> generating_set_names();

}  // namespace krohn
