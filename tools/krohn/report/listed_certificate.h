// tools/krohn/report/listed_certificate.h — outcomes of `krohn verify` with their steps, ready to be written.
#pragma once

#include "krohn/groups/error.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/steps.h"

namespace krohn {

/// Whether the outcome can be written down for `krohn check`.
bool has_file(const Certificate& certificate);

/// With all its steps, of a network or of what reads letters. That no shorter word fails may take more of them than a
/// refutation is worth: past `beside_word` it is no longer claimed. Throws LimitError past `limits`.
template <class Subject>
Certificate listed_certificate(const Certificate& certificate, const Subject& subject, const StepLimits& limits,
                               const StepLimits& beside_word) {
  if (!certificate.is_shortest()) return with_steps(certificate, subject, limits);
  try {
    return with_steps(certificate, subject, beside_word);
  } catch (const LimitError&) {
    Certificate longer = certificate;
    std::get<Refuted>(longer.claim).shortest = false;
    return longer;
  }
}

}  // namespace krohn
