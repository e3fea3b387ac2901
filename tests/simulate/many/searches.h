// tests/simulate/many/searches.h — searches of pairs on threads as ranks, and all that is said of one.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <variant>

#include "krohn/simulate/many/ranks.h"
#include "tests/simulate/certify_options.h"
#include "tests/simulate/many/thread_ranks.h"

namespace krohn::test {

/// Everything that is said of a search.
inline std::string text_of(const Certificate& certificate) {
  std::string text = to_string(certificate.claim) + "; " + certificate.evidence + "; limit: " + certificate.limit +
                     "; pairs: " + std::to_string(certificate.pairs) +
                     "; length: " + std::to_string(certificate.length());
  if (const Word* word = certificate.failing_word())
    for (const Letter letter : *word) text += " " + std::to_string(letter);
  if (const auto* run = std::get_if<FailingRun>(&certificate.proof))
    text += "; " + std::to_string(run->expected) + " given " + (run->given ? std::to_string(*run->given) : "none");
  if (const auto* pairs = std::get_if<ReachedPairs>(&certificate.proof))
    text += "; " + std::to_string(pairs->pairs) + " by depth " + std::to_string(pairs->depth);
  return text;
}

/// The result on rank 0, after a check that the others have the same.
inline std::string search(unsigned size, const Network& network, const CertifyOptions& options,
                          const KeptSearch& kept) {
  std::string text;
  on_ranks(size, [&](Ranks& ranks) {
    CertifyOptions mine = options;
    if (ranks.rank() != 0) mine.progress = {};
    const Certificate certificate = search_pairs_on_ranks(ranks, network, mine, kept);
    const std::uint64_t hash[] = {std::hash<std::string>()(text_of(certificate))};
    for (const std::uint64_t other : ranks.gather(hash))
      if (ranks.rank() == 0) CHECK(other == hash[0]);
    if (ranks.rank() == 0) text = text_of(certificate);
  });
  return text;
}

}  // namespace krohn::test
