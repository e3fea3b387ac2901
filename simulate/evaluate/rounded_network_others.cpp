// Networks whose products are fused with sums, or whose sums are in another format: outside the loops that run for
// hours.

#include "krohn/simulate/arithmetic/rounded_operations.h"
#include "krohn/simulate/evaluate/rounded_network_definitions.h"

namespace krohn {

#define KROHN_ROUNDED(A)          \
  template class RoundedLayer<A>; \
  template class RoundedNetwork<A>;
KROHN_OTHER_ARITHMETICS(KROHN_ROUNDED) KROHN_ROUNDED(RoundedOperations)

}  // namespace krohn
