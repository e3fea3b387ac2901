// gpu/networks/device_place.h — proofs and tests of networks on a CUDA device (simulate/prove/place.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "krohn/constructions/network/network.h"
#include "krohn/gpu/device/place.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/pairs/pair_search.h"
#include "krohn/simulate/prove/place.h"

namespace krohn {

/// A CUDA device where it can, the processor where it cannot, after `note` was told why; when the device is insisted
/// on, a SystemError that says why. A search of more pairs than the device's memory holds is begun again by
/// `processor`, which must outlive this; null: a ProvingPlace.
class DevicePlace final : public ProvingPlace {
 public:
  DevicePlace(bool insists, std::function<void(const std::string&)> note, const ProvingPlace* processor = nullptr)
      : insists_(insists), note_(std::move(note)), processor_(processor) {}

  Certificate search_pairs(const Network& network, const CertifyOptions& options) const override;
  SampleReport sample(const Network& network, ArithmeticName arithmetic, const SampleOptions& options) const override {
    return sample_from(0, network, arithmetic, options);
  }
  std::optional<RandomFailure> first_failure(
      const ReadModel& model, const RandomTest& asked,
      const std::function<void(std::uint64_t, std::uint64_t)>& told) const override;
  WordReading word_reading(const ReadModel& model, unsigned threads) const override;
  /// Samples of the words from `first` on (simulate/evaluate/lanes/sample.h).
  SampleReport sample_from(std::uint64_t first, const Network& network, ArithmeticName arithmetic,
                           const SampleOptions& options) const;

 private:
  bool insists_;
  std::function<void(const std::string&)> note_;
  const ProvingPlace* processor_;
};

// The closed reachable set of simulate/prove/certify.h, searched on a CUDA device.

/// The share of a device's free bytes that pairs may take beside the work on them: seven eighths, less the work.
/// Throws NoDevice where that leaves nothing.
std::uint64_t bytes_for_pairs(std::uint64_t free, std::uint64_t work);

/// The certificate of certify_reachable_set, equal in claim, counts and failing word, for up to 2^31 − 2 pairs. The
/// memory for options.max_pairs, or as many as options.max_bytes and the device hold, is taken at once: a record, its
/// parent and at most 16 bytes of table for each. Throws InputError for an arithmetic or a network that devices do not
/// have; SystemError when there is no device, or it fails.
Certificate search_pairs(Place place, const Network& network, const CertifyOptions& options);

/// The certificate of a search, or where memory ended it before options.max_pairs or the time did, that of `further`;
/// not where that proves less.
Certificate past_memory(Certificate found, const CertifyOptions& options, const std::function<Certificate()>& further);

// The test of a network on random words of simulate/evaluate/evaluate.h, on a CUDA device.

/// The report of `sample_from` (simulate/evaluate/lanes/sample.h), equal in every number, for any number of words: they
/// are read side by side, each letter by letter in the sequential order, and compared with the automaton at every
/// letter where they are read; what comes back is a few numbers for every word and length. `options.threads` is not
/// used. On the processor the same functions run word by word. Throws as `sample`; InputError for another order, or an
/// arithmetic or a network that devices do not have; SystemError when there is no device, or it fails.
SampleReport sample_words(Place place, const Network& network, ArithmeticName arithmetic, const SampleOptions& options,
                          std::uint64_t first = 0);

// Random words in the orders that compose letters: by a parallel scan over affine maps or in chunks of reflections, the
// blocks of many words at a time, layer after layer.

/// The report of `sample_from` (simulate/evaluate/lanes/sample.h) in options.order, equal in every number: the products
/// are made side by side, but each is the one that the order names. Words of up to 2^19 letters are read side by side,
/// as many as a device works on at once, longer ones one after another. Memory: a map for every 64 letters, or for
/// every chunk; with several layers 12 bytes a letter too. Throws as `sample`; InputError for several lengths, the
/// sequential order, an arithmetic or a network that devices do not have; SystemError when there is no device, or it
/// fails.
SampleReport sample_words_in_order(Place place, const Network& network, ArithmeticName arithmetic,
                                   const SampleOptions& options, std::uint64_t first = 0);

}  // namespace krohn
