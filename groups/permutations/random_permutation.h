// groups/permutations/random_permutation.h — permutations drawn from a seed, the same on every machine.
#pragma once

#include "krohn/groups/permutations/permutation.h"
#include "krohn/groups/random.h"

namespace krohn {

/// A uniformly random permutation of {0, …, degree−1}.
Permutation random_permutation(Point degree, Random& random);

}  // namespace krohn
