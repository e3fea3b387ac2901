// simulate/prove/steps.h — what a checker needs beside a proof's outline: every tuple of labels, every pair, with what
// comes next. Proofs find these and do not keep them; files and self-checks need them.
#pragma once

#include <cstdint>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {

struct StepLimits {
  std::uint64_t max_steps = 1'000'000;
  std::uint64_t max_bytes = std::uint64_t{1} << 30;
};

/// The certificate with its steps listed (docs/certificate-file.md); as it was where none are needed. Throws LimitError
/// past a limit. O(steps · letters · cost of a letter).
Certificate with_steps(Certificate certificate, const Network& network, const StepLimits& limits = {});

}  // namespace krohn
