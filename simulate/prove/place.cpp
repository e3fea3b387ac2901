#include "krohn/simulate/prove/place.h"

#include "krohn/simulate/prove/pairs/pair_search.h"

namespace krohn {

Certificate ProvingPlace::search_pairs(const Network& network, const CertifyOptions& options) const {
  return certify_reachable_set(network, options);
}

SampleReport ProvingPlace::sample(const Network& network, ArithmeticName arithmetic,
                                  const SampleOptions& options) const {
  return krohn::sample(network, arithmetic, options);
}

}  // namespace krohn
