// One certificate by ranks: the finding of one process, whichever share is at fault.
#include "krohn/simulate/many/ranked_check.h"

#include <doctest/doctest.h>

#include "krohn/groups/error.h"
#include "krohn/simulate/many/many_place.h"
#include "tests/simulate/check/sample_certificates.h"
#include "tests/simulate/many/thread_ranks.h"

using namespace krohn;
using namespace krohn::hand_built;
using namespace krohn::test;

namespace {

constexpr unsigned kSizes[] = {1, 2, 3, 4, 7};

void check_as_alone(const Certificate& certificate, const Network& network) {
  const Recheck alone = recheck(certificate, network);
  for (const unsigned size : kSizes) {
    CAPTURE(size);
    on_ranks(size, [&](Ranks& ranks) {
      const Recheck found = recheck_on_ranks(ranks, certificate, network, {});
      const std::uint64_t mine[] = {found.established == alone.established && found.finding == alone.finding};
      for (const std::uint64_t same : ranks.gather(mine))
        if (ranks.rank() == 0) CHECK_MESSAGE(same == 1, found.finding << ", alone: " << alone.finding);
    });
  }
}

/// The numbers of shares, of so many, by which the certificate is not established.
std::vector<std::uint64_t> against(const Certificate& certificate, const Network& network, std::uint64_t shares) {
  std::vector<std::uint64_t> found;
  for (std::uint64_t share = 0; share < shares; ++share)
    if (!recheck(certificate, network, {.share = share, .shares = shares}).established) found.push_back(share);
  return found;
}

/// Exactly one share sees a fault that is in one item alone, however many shares there are, and the first items are the
/// first share's.
void check_faults(const Network& network, std::size_t items, const std::function<Certificate(std::size_t)>& faulty) {
  for (std::uint64_t shares = 1; shares <= items + 2; ++shares) {
    std::uint64_t last = 0;
    for (std::size_t item = 0; item < items; ++item) {
      CAPTURE(shares);
      CAPTURE(item);
      const auto found = against(faulty(item), network, shares);
      REQUIRE(found.size() == 1);
      REQUIRE(found[0] >= last);
      last = found[0];
    }
  }
}

}  // namespace

TEST_CASE("a certificate of each kind is found by ranks to be what one process finds") {
  for (const auto& [name, network, certificate] : sample_certificates()) {
    CAPTURE(name);
    check_as_alone(certificate, network);
  }
}

TEST_CASE("every pair, tuple and word is in exactly one share") {
  int kinds = 0;
  for (const auto& [name, network, certificate] : sample_certificates()) {
    CAPTURE(name);
    if (const auto* pairs = std::get_if<ReachedPairs>(&certificate.proof); pairs != nullptr && name == "pairs close") {
      ++kinds;
      check_faults(network, pairs->list.size(), [&](std::size_t item) {
        Certificate faulty = certificate;
        std::get<ReachedPairs>(faulty.proof).list[item].next[0] = UINT32_MAX - 1;
        return faulty;
      });
    }
    if (const auto* closed = std::get_if<ClosedCodewords>(&certificate.proof);
        closed != nullptr && !closed->by_induction) {
      ++kinds;
      check_faults(network, closed->tuples.size(), [&](std::size_t item) {
        Certificate faulty = certificate;
        std::get<ClosedCodewords>(faulty.proof).tuples[item].next[0] = UINT32_MAX;
        return faulty;
      });
    }
  }
  // Words that fail late, each in its own: modulo 60 in bf16.
  const Network coarse = rotation(60, {7, 0});
  for (const std::uint64_t words : {1u, 2u, 9u})
    for (const std::uint64_t length : {50u, 300u, 900u}) {
      const Certificate sampled = sampled_certificate(Precision::kBf16, {4, words, length});
      const auto alone = recheck(sampled, coarse);
      for (std::uint64_t shares = 1; shares <= words + 2; ++shares)
        CHECK(against(sampled, coarse, shares).empty() == alone.established);
      kinds += words == 9 && length == 900 && !alone.established;
    }
  CHECK(kinds == 3);
}

TEST_CASE("a fault in any place is reported as by one process, by whatever rank it is found") {
  for (const auto& [name, network, certificate] : sample_certificates()) {
    if (name != "pairs close" && name != "open" && name != "refuted") continue;
    CAPTURE(name);
    const auto list_of = [](Certificate& of) -> std::vector<ReachedPair>& {
      if (auto* run = std::get_if<FailingRun>(&of.proof)) return run->shorter;
      return std::get<ReachedPairs>(of.proof).list;
    };
    Certificate copy = certificate;
    const std::size_t pairs = list_of(copy).size();
    REQUIRE(pairs > 1);
    for (std::size_t item = 0; item < pairs; item += std::max<std::size_t>(1, pairs / 5)) {
      Certificate faulty = certificate;
      list_of(faulty)[item].state ^= 1;
      REQUIRE(!recheck(faulty, network).established);
      check_as_alone(faulty, network);
      list_of(faulty)[pairs - 1].state ^= 1;
      check_as_alone(faulty, network);
    }
  }
}

TEST_CASE("a share that is none is refused, and a limit of one rank is everybody's") {
  const Network network = rotation(5, {1, 2});
  const Certificate sampled = sampled_certificate(Precision::kFp32, {7, 3, 100});
  CHECK_THROWS_AS(recheck(sampled, network, {.share = 1, .shares = 1}), InputError);
  CHECK_THROWS_AS(recheck(sampled, network, {.share = 0, .shares = 0}), InputError);
  CHECK_THROWS_AS(on_ranks(3, [&](Ranks& ranks) { recheck_on_ranks(ranks, sampled, network, {.max_letters = 299}); }),
                  LimitError);
  CHECK_NOTHROW(on_ranks(3, [&](Ranks& ranks) { recheck_on_ranks(ranks, sampled, network, {.max_letters = 300}); }));
}

TEST_CASE("the ranks are sent the certificate and the model, and find what rank 0 finds") {
  for (const auto& [name, network, certificate] : sample_certificates()) {
    if (!has_shares(certificate)) continue;
    CAPTURE(name);
    on_ranks(3, [&, &network = network, &certificate = certificate](Ranks& ranks) {
      if (ranks.rank() != 0) {
        serve(ranks);
        return;
      }
      const Recheck alone = recheck(certificate, network), found = check_on_ranks(ranks, certificate, network, {});
      CHECK(found.established);
      CHECK(found.finding == alone.finding);
      release(ranks, 0);
    });
  }
}
