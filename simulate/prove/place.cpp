#include "krohn/simulate/prove/place.h"

#include "krohn/simulate/prove/pairs/pair_search.h"
#include "krohn/simulate/prove/random_words.h"

namespace krohn {

Certificate ProvingPlace::search_pairs(const Network& network, const CertifyOptions& options) const {
  return certify_reachable_set(network, options);
}

SampleReport ProvingPlace::sample(const Network& network, ArithmeticName arithmetic,
                                  const SampleOptions& options) const {
  return krohn::sample(network, arithmetic, options);
}

std::optional<RandomFailure> ProvingPlace::first_failure(
    const ReadModel& model, const RandomTest& asked,
    const std::function<void(std::uint64_t, std::uint64_t)>& told) const {
  const std::uint64_t all = asked.words * asked.length;
  return krohn::first_failure(model.reader, model.tracked, asked, [&](std::uint64_t letters) {
    if (told) told(letters, all);
  });
}

}  // namespace krohn
