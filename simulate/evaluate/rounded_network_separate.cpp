#include "krohn/simulate/evaluate/rounded_network_definitions.h"

namespace krohn {

#define KROHN_SEPARATE(A)         \
  template class RoundedLayer<A>; \
  template class RoundedNetwork<A>;
KROHN_FORMATS(KROHN_SEPARATE)

}  // namespace krohn
