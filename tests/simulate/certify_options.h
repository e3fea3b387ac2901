// tests/simulate/certify_options.h — what proofs are asked for, in one line.
#pragma once

#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {

/// In an arithmetic, with all else as usual.
inline CertifyOptions in(ArithmeticName arithmetic, std::uint64_t max_pairs = 20'000'000, Order order = {},
                         Form form = Form::kStructured) {
  CertifyOptions options;
  options.arithmetic = arithmetic;
  options.max_pairs = max_pairs;
  options.order = order;
  options.form = form;
  return options;
}

}  // namespace krohn
