#include "tools/krohn/report/listed_certificate.h"

namespace krohn {

bool has_file(const Certificate& certificate) {
  return certificate.order.is_sequential() && !std::holds_alternative<std::monostate>(certificate.proof);
}

}  // namespace krohn
