// simulate/prove/place.h — where the long work of a proof or a test runs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/verify.h"

namespace krohn {

/// This process, on the processor. Floors above bring others (a CUDA device), which give the same answers, digit for
/// digit, and fall back on this one for what they cannot do.
class ProvingPlace {
 public:
  virtual ~ProvingPlace() = default;
  /// certify_reachable_set.
  virtual Certificate search_pairs(const Network& network, const CertifyOptions& options) const;
  /// simulate/evaluate/evaluate.h's test on random words.
  virtual SampleReport sample(const Network& network, ArithmeticName arithmetic, const SampleOptions& options) const;
  /// simulate/prove/random_words.h's test of what reads letters; `told` of the letters so far, and of how many.
  virtual std::optional<RandomFailure> first_failure(
      const ReadModel& model, const RandomTest& asked,
      const std::function<void(std::uint64_t, std::uint64_t)>& told) const;
};

}  // namespace krohn
