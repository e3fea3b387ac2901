#include "krohn/gpu/networks/pair_search.h"

#include <doctest/doctest.h>

#include <set>

#include "krohn/gpu/device/device.h"
#include "krohn/gpu/device/on_device.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/prove/pairs/certify_reachable.h"
#include "tests/simulate/formed_networks.h"
#include "tests/simulate/random_networks.h"

using namespace krohn;
using namespace krohn::formed_networks;

namespace {

/// Claim, counts, words and evidence are those of the search on the processor.
std::string check_search(const Network& network, ArithmeticName arithmetic, std::uint64_t max_pairs) {
  CAPTURE(to_string(arithmetic));
  CertifyOptions options;
  options.arithmetic = arithmetic;
  options.max_pairs = max_pairs;
  const Certificate expected = certify_reachable_set(network, options);
  const Certificate found = search_pairs(Place::kProcessor, network, options);
  CHECK((found.claim == expected.claim));
  CHECK(found.pairs == expected.pairs);
  CHECK(found.evidence == expected.evidence);
  CHECK(found.limit == expected.limit);
  CHECK((found.proof == expected.proof));
  return to_string(found.claim);
}

}  // namespace

TEST_CASE("the search by kernels is the search one by one: known closures") {
  struct Case {
    std::uint32_t m;
    ArithmeticName arithmetic;
    std::uint64_t pairs;  ///< of MATH.md §5
  };
  for (const Case& one :
       {Case{3, Precision::kBf16, 27}, Case{12, Precision::kBf16, 108}, Case{12, Precision::kFp32, 12}}) {
    CAPTURE(one.m);
    const Network network = rotation(one.m, all_residues(one.m));
    CertifyOptions options;
    options.arithmetic = one.arithmetic;
    options.max_pairs = 10'000;
    const Certificate found = search_pairs(Place::kProcessor, network, options);
    CHECK(found.is<Proved>());
    CHECK(found.pairs == one.pairs);
    check_search(network, one.arithmetic, 10'000);
  }
}

TEST_CASE("the search by kernels is the search one by one: networks with a meaning, in every arithmetic") {
  for (const Network& network : meaningful_networks())
    for (const ArithmeticName arithmetic :
         {ArithmeticName(Precision::kFp64), ArithmeticName(Precision::kFp32), ArithmeticName(Precision::kFp16),
          ArithmeticName::accumulated_in_fp32(Precision::kBf16), ArithmeticName::fused(Precision::kBf16),
          ArithmeticName::tf32()})
      check_search(network, arithmetic, 700);
  check_search(failing_cascade(), Precision::kBf16, 1000);
}

TEST_CASE("limits are met where the search one by one meets them") {
  const Network network = rotation(5, all_residues(5));
  for (const std::uint64_t most : {1, 2, 63, 64, 65, 1000, 2049}) {
    CAPTURE(most);
    check_search(network, Precision::kFp32, most);
  }
}

TEST_CASE("random weights are judged alike") {
  std::mt19937_64 random(23);
  std::set<std::string> claims;
  for (int i = 0; i < 30; ++i)
    claims.insert(
        check_search(random_networks::draw(random, static_cast<random_networks::Kind>(i % random_networks::kKinds)),
                     i % 2 == 0 ? Precision::kBf16 : Precision::kFp16, 400));
  CHECK(claims == std::set{to_string(Proved{}), to_string(ProvedUpTo{}), to_string(Refuted{})});
}

TEST_CASE("searches that devices do not do are refused") {
  const Network network = rotation(5, all_residues(5));
  CertifyOptions options;
  options.max_pairs = 100;
  options.arithmetic = ArithmeticName::exact();
  CHECK_THROWS_AS(search_pairs(Place::kProcessor, network, options), InputError);
  options.arithmetic = Precision::kFp32;
  if (!cuda_available()) CHECK_THROWS_AS(search_pairs(Place::kDevice, network, options), SystemError);
}

TEST_CASE("pairs get what is free beside the work, and where that is nothing there is no device for them") {
  CHECK(bytes_for_pairs(8 * 15, 100) == 5);
  CHECK(bytes_for_pairs(8 * 15, 104) == 1);
  CHECK_THROWS_AS(bytes_for_pairs(8 * 15, 105), NoDevice);
  CHECK_THROWS_AS(bytes_for_pairs(0, std::uint64_t{1} << 29), NoDevice);
}

TEST_CASE("only a device that is missing, or does not do this, is replaced by the processor") {
  std::string noted;
  const auto note = [&noted](const std::string& why) { noted = why; };
  const auto here = [] { return 2; };
  const auto none = []() -> int { throw NoDevice("none"); };
  const auto other = []() -> int { throw NotOnDevice("--order", "not this one"); };
  CHECK(on_device(
            false, note, [] { return 1; }, here) == 1);
  CHECK(noted.empty());
  CHECK(on_device(false, note, none, here) == 2);
  CHECK(noted == "none");
  CHECK(on_device(false, note, other, here) == 2);
  CHECK(noted == "--order: not this one");
  CHECK_THROWS_AS(on_device(true, note, none, here), SystemError);
  CHECK_THROWS_AS(on_device(true, note, other, here), SystemError);
  // What is wrong with the job, and what the device did wrongly, is told.
  CHECK_THROWS_AS(on_device(
                      false, note, []() -> int { throw InputError("bad"); }, here),
                  InputError);
  CHECK_THROWS_AS(on_device(
                      false, note, []() -> int { throw SystemError("a kernel failed"); }, here),
                  SystemError);
}
