#include "krohn/gpu/networks/device_place.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/gpu/device/on_device.h"
#include "krohn/gpu/networks/pair_search.h"
#include "krohn/gpu/networks/sample_words.h"
#include "krohn/gpu/operations/operation_words.h"
#include "krohn/simulate/evaluate/lanes/sample.h"

namespace krohn {

Certificate DevicePlace::search_pairs(const Network& network, const CertifyOptions& options) const {
  CertifyOptions there = options;
  there.max_bytes = UINT64_MAX;  // the device's memory is the limit
  return on_device(
      insists_, note_, [&] { return krohn::search_pairs(Place::kDevice, network, there); },
      [&] { return ProvingPlace::search_pairs(network, options); });
}

std::optional<RandomFailure> DevicePlace::first_failure(
    const ReadModel& model, const RandomTest& asked,
    const std::function<void(std::uint64_t, std::uint64_t)>& told) const {
  // One word takes a device longer than the processor, which reads a letter in a tenth of the time.
  constexpr std::uint64_t kManyWords = 128;
  const auto here = [&] { return ProvingPlace::first_failure(model, asked, told); };
  if (asked.words < kManyWords) {
    if (insists_)
      note_(fmt::format("words of a model are read on a device side by side, from --words {} on", kManyWords));
    return here();
  }
  return on_device(
      insists_, note_, [&] { return krohn::first_failure(Place::kDevice, model, asked, told); }, here);
}

SampleReport DevicePlace::sample_from(std::uint64_t first, const Network& network, ArithmeticName arithmetic,
                                      const SampleOptions& options) const {
  // A device is worth it for many words side by side, or for one that is read by a scan.
  constexpr std::uint64_t kManyWords = 1024, kManyLetters = 10'000'000;
  const std::uint64_t length = options.lengths.empty() ? 0 : *std::ranges::max_element(options.lengths);
  const bool many = options.words >= kManyWords || !options.order.is_sequential();
  const bool pays = many && length > kManyLetters / std::max<std::uint64_t>(options.words, 1);
  if (!pays && !insists_) return krohn::sample_from(first, network, arithmetic, options);
  return on_device(
      insists_, note_,
      [&] {
        return options.order.is_sequential()
                   ? sample_words(Place::kDevice, network, arithmetic, options, first)
                   : sample_words_in_order(Place::kDevice, network, arithmetic, options, first);
      },
      [&] { return krohn::sample_from(first, network, arithmetic, options); });
}

}  // namespace krohn
