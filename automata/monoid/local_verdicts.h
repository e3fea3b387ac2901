// automata/monoid/local_verdicts.h — verdicts that need the elements of the monoid one by one: those about the
// semigroup η(Σ⁺), its local monoids eSe, and the stamp.
#pragma once

#include <cstdint>
#include <vector>

#include "krohn/automata/monoid/algebra.h"

namespace krohn {

struct LocalVerdicts {
  std::vector<Verdict> verdicts;
  std::uint64_t stability_index = 0;  ///< 0: unknown
};

/// Locally testable, definite, reverse definite, generalised definite, nilpotent and quasi-aperiodic, in that order;
/// all unknown when the monoid, of `size` elements, is larger than `max_elements`. O(idempotents · elements · word
/// length), and O(local monoid²) for each idempotent.
LocalVerdicts local_verdicts(const Dfa& dfa, const Integer& size, std::uint64_t max_elements);

}  // namespace krohn
