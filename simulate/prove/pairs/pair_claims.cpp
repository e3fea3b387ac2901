#include "krohn/simulate/prove/pairs/pair_claims.h"

#include <fmt/format.h>

#include <utility>
#include "krohn/groups/counted.h"

namespace krohn {
namespace {

Certificate begin_certificate(const CertifyOptions& options, Claim claim, std::uint64_t pairs) {
  Certificate certificate;
  certificate.claim = std::move(claim);
  certificate.arithmetic = options.arithmetic;
  certificate.form = options.form;
  certificate.method = "closed reachable set";
  certificate.pairs = pairs;
  return certificate;
}

}  // namespace

Certificate proved_by_pairs(const CertifyOptions& options, std::uint64_t pairs, std::uint64_t depth) {
  Certificate certificate = begin_certificate(options, Proved{}, pairs);
  certificate.proof = ReachedPairs{pairs, depth};
  certificate.evidence = fmt::format(
      "words reach {} of an automaton state and a network state, all by words of at most {}, and the "
      "network is right on every one",
      counted(pairs, "pair"), counted(depth, "letter"));
  return certificate;
}

Certificate refuted_by_pairs(const CertifyOptions& options, std::uint64_t pairs, Word word, const FailingRun& run) {
  const std::string evidence = fmt::format("breadth-first search met a wrong answer after {} and {}",
                                           counted(word.size(), "letter"), counted(pairs, "pair"));
  Certificate certificate = begin_certificate(options, Refuted{std::move(word), /*shortest=*/true}, pairs);
  certificate.evidence = evidence;
  certificate.proof = run;
  return certificate;
}

Certificate proved_up_to_depth(const CertifyOptions& options, std::uint64_t pairs, std::uint64_t length,
                               std::uint64_t complete, std::string limit) {
  Certificate certificate = begin_certificate(options, ProvedUpTo{length}, pairs);
  certificate.proof = ReachedPairs{complete, length - 1};
  certificate.evidence = fmt::format("the network is right on all words of up to {}; the search over {} did not end",
                                     counted(length, "letter"), counted(pairs, "pair"));
  certificate.limit = std::move(limit);
  return certificate;
}

}  // namespace krohn
