#include "simulate/certify.h"

namespace krohn {

Certificate certify(const Network& network, const CertifyOptions& options) {
  if (std::optional<Certificate> closed = certify_closed_codewords(network, options)) return *std::move(closed);
  return certify_reachable_set(network, options);
}

}  // namespace krohn
