// groups/recognise.h — the name of a permutation group up to isomorphism, where users know one.
#pragma once

#include <string>

#include "groups/permutation_group.h"

namespace krohn {

/// "trivial", "Z_6", "S_5", "A_4", … when the isomorphism type is certain; otherwise "order 96". Never a guess.
std::string recognised_name(const PermutationGroup& group);

}  // namespace krohn
