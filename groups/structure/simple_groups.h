// groups/structure/simple_groups.h — finite simple groups by their order.
#pragma once

#include <string>

#include "krohn/groups/permutations/permutation_group.h"
#include "krohn/groups/permutations/stabiliser_chain.h"

namespace krohn {

/// The name of a group that is known to be simple: "Z_5", "A_5", "PSL(2,7)", "M_11", "Sz(8)". By the classification the
/// order determines a simple group, except 20160, where A_8 and PSL(3,4) are told apart by an element of order 15, and
/// the orders of PSp(2n,q) and Ω(2n+1,q), n ≥ 3, q odd, none of which is in the table. Otherwise "simple of order n".
/// Names of isomorphic groups: A_5, PSL(2,7), A_6, A_8, PSU(4,2) rather than PSL(2,4), GL(3,2), PSL(2,9), PSL(4,2),
/// PSp(4,3).
std::string simple_group_name(const PermutationGroup& group, const Integer& order);

/// Is n the order of some nonabelian simple group times itself, j ≥ 1 times, as far as divisibility tells? Such an
/// order is a multiple of 4 with three different primes at least (Burnside). May say yes wrongly, never no.
bool may_be_power_of_simple_order(Point n);

}  // namespace krohn
