// simulate/check/recheck.h — establishes a certificate anew. The re-checker shares no code with what made the
// certificate: it has its own arithmetic (recheck_arithmetic.h), evaluation (recheck_network.h), searches and
// inductions, all of them the plainest that will do. Only the readers of the two files and the data structures are
// common.
#pragma once

#include <cstdint>
#include <string>

#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {

struct RecheckOptions {
  std::uint64_t max_letters = 1'000'000'000;  ///< read in one random word, or in all of them
  /// For pairs, tuples of labels and sampled words, which say nothing of each other, only this of so many shares is
  /// looked at, and all else as ever. A claim is established when it is by every share; the first share by which it is
  /// not finds what the whole finds.
  std::uint64_t share = 0, shares = 1;
  std::string advice = "raise --max-letters";  ///< the advice of a LimitError of max_letters
};

/// True if the evidence has shares: the rest of it is small.
bool has_shares(const Certificate& certificate);

/// The outcome of a certificate: established, or the reason why it is not, as a sentence.
struct Recheck {
  bool established = false;
  std::string finding;
};

/// Establishes the claim, and every figure of its evidence, for this model; the certificate was read for it
/// (parse_certificate compares the hashes). `established` false: the claim does not follow, whether or not it is true.
/// Throws LimitError past a limit.
Recheck recheck(const Certificate& certificate, const CheckedModel& model, const RecheckOptions& options = {});

}  // namespace krohn
