// tests/simulate/prove/judged_claims.h — what both certificates claim of a network, held against the outcome of a
// search that shares no code with them.
#pragma once

#include <doctest/doctest.h>

#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/pairs/pair_search.h"
#include "tests/simulate/proving.h"
#include "tests/simulate/replayed_search.h"

namespace krohn {

/// The outcomes of changed networks.
struct Tally {
  std::uint64_t valid = 0;
  std::uint64_t proved_by_codewords = 0, proved_by_search = 0, refuted = 0, open = 0;
};

/// Checks both certificates of one changed network against the truth, which was found with the same limit.
inline void judge(const Network& network, ArithmeticName arithmetic, Form form, std::uint64_t max_pairs,
                  const ReplayedSearch& truth, Tally& tally) {
  const CertifyOptions options = in(arithmetic, max_pairs, {}, form);
  const auto codewords = certify_closed_codewords(network, options);
  const Certificate search = certify_reachable_set(network, options);
  ++tally.valid;
  tally.proved_by_codewords += codewords.has_value();
  tally.proved_by_search += search.is<Proved>();
  tally.refuted += search.is<Refuted>();
  tally.open += search.is<ProvedUpTo>() && !codewords;
  if (codewords) CHECK_FALSE(truth.failing_word);
  if (codewords) CHECK(!search.is<Refuted>());
  if (search.is<Proved>()) CHECK(truth.ended);
  if (truth.failing_word) {
    const bool beyond = search.is<ProvedUpTo>() && search.length() < truth.failing_word->size();
    CHECK((beyond || search.is<Refuted>()));
  }
  if (!search.is<Refuted>()) return;
  REQUIRE(truth.failing_word);
  CHECK(search.failing_word()->size() == truth.failing_word->size());
}

}  // namespace krohn
