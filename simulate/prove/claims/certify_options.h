// simulate/prove/claims/certify_options.h — in which arithmetic, form and order a network is asked about, and how hard.
#pragma once

#include <cstdint>
#include <functional>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/arithmetic/form.h"
#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {

class ProvingPlace;

struct CertifyOptions {
  ArithmeticName arithmetic = Precision::kFp32;
  Form form = Form::kStructured;
  Order order{};
  bool any_order = false;  ///< only what holds in any order (simulate/prove/any_order.h)
  std::uint64_t max_pairs = 20'000'000;
  std::uint64_t max_bytes = std::uint64_t{4} << 30;  ///< of the pairs and their table
  double max_seconds = 0;                            ///< in all; 0: no limit but those around (groups/time_limit.h)
  std::function<void(std::uint64_t)> progress;       ///< pairs so far; may throw Interrupted
  /// Letters so far, and of how many, in search of long failing words; may throw Interrupted.
  std::function<void(std::uint64_t, std::uint64_t)> long_progress = {};
  std::uint64_t long_letters = 1'000'000;  ///< read in search of long failing words, where little else is proved
  std::uint64_t seed = 1;                  ///< of random words among them
  const ProvingPlace* place = nullptr;     ///< where long work runs; nullptr: here
};

}  // namespace krohn
