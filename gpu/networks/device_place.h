// gpu/networks/device_place.h — proofs and tests on a CUDA device (simulate/prove/place.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "krohn/simulate/prove/place.h"

namespace krohn {

/// A CUDA device where it can, the processor where it cannot, after `note` was told why; when the device is insisted
/// on, a SystemError that says why. A search takes the device's memory for its limit.
class DevicePlace final : public ProvingPlace {
 public:
  DevicePlace(bool insists, std::function<void(const std::string&)> note) : insists_(insists), note_(std::move(note)) {}

  Certificate search_pairs(const Network& network, const CertifyOptions& options) const override;
  SampleReport sample(const Network& network, ArithmeticName arithmetic, const SampleOptions& options) const override {
    return sample_from(0, network, arithmetic, options);
  }
  std::optional<RandomFailure> first_failure(
      const ReadModel& model, const RandomTest& asked,
      const std::function<void(std::uint64_t, std::uint64_t)>& told) const override;
  /// Samples of the words from `first` on (simulate/evaluate/lanes/sample.h).
  SampleReport sample_from(std::uint64_t first, const Network& network, ArithmeticName arithmetic,
                           const SampleOptions& options) const;

 private:
  bool insists_;
  std::function<void(const std::string&)> note_;
};

}  // namespace krohn
