// groups/permutations/product_replacement.h — nearly random elements of a group known by generators only.
#pragma once

#include <vector>

#include "krohn/groups/permutations/permutation.h"
#include "krohn/groups/random.h"

namespace krohn {

/// Product replacement (Celler, Leedham-Green, Murray, Niemeyer, O'Brien 1995): a walk on generating tuples whose
/// accumulator soon looks like a random element. Nothing that is proved rests on how random it is.
class ProductReplacement {
 public:
  /// `generators` not empty, all of one degree.
  ProductReplacement(std::vector<Permutation> generators, Random& random);

  /// The next element. Two products of permutations.
  const Permutation& next();

 private:
  std::vector<Permutation> pool_;
  Permutation accumulator_;
  Random& random_;
};

}  // namespace krohn
