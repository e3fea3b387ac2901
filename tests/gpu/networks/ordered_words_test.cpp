#include "krohn/gpu/networks/ordered_words.h"

#include <doctest/doctest.h>

#include "krohn/gpu/device/device.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/evaluate/lanes/sample.h"
#include "tests/simulate/formed_networks.h"

using namespace krohn;
using namespace krohn::formed_networks;

namespace {

void check_order(const Network& network, ArithmeticName arithmetic, const char* order, std::uint64_t length,
                 std::uint64_t words = 1, Form form = Form::kStructured) {
  CAPTURE(to_string(arithmetic));
  CAPTURE(order);
  CAPTURE(length);
  SampleOptions options;
  options.lengths = {length};
  options.words = words;
  options.seed = 7;
  options.threads = 1;
  options.form = form;
  options.order = parse_order(order);
  const SampleReport expected = sample(network, arithmetic, options);
  CHECK(sample_words_in_order(Place::kProcessor, network, arithmetic, options) == expected);
}

}  // namespace

TEST_CASE("every product of a scan is the one that the order names: odd lengths") {
  // Sixty residues are too many for bf16, so that one rounding more or less changes the count of right answers.
  const Network rotations = rotation(60, all_residues(60));
  for (const char* order : {"scan", "doubling", "chunked:64", "chunked:5", "scan:100", "doubling:33"})
    for (const std::uint64_t length : {0, 1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000, 4097})
      check_order(rotations, Precision::kBf16, order, length);
}

TEST_CASE("a long word in every order") {
  const Network rotations = rotation(60, all_residues(60));
  for (const char* order : {"scan", "doubling", "chunked"}) check_order(rotations, Precision::kFp16, order, 127'323);
}

TEST_CASE("maps, blocks, dense matrices and additions, in every arithmetic") {
  std::vector<Network> networks;
  networks.push_back(symmetric(4, 3, Swap::kMap));
  networks.push_back(symmetric(4, 2, Swap::kUnit));
  for (std::uint64_t seed = 1; seed < 9; ++seed)
    networks.push_back(random_network(seed, 4, static_cast<std::uint32_t>(1 + seed % 2), 3,
                                      seed % 2 == 0 ? std::optional(Kind::kDense) : std::nullopt));
  for (const Network& network : networks)
    for (const ArithmeticName arithmetic : ArithmeticName::all()) {
      check_order(network, arithmetic, "scan", 150, 2);
      check_order(network, arithmetic, "doubling", 141, 2);
      check_order(network, arithmetic, "chunked:16", 70, 1, Form::kDense);
    }
}

TEST_CASE("chunks of reflections in the UT form: odd lengths, in every arithmetic") {
  for (const Swap style : {Swap::kUnit, Swap::kDoubled})
    for (const std::uint64_t length : {0, 1, 2, 31, 32, 33, 63, 64, 65, 129, 1000})
      check_order(symmetric(4, 3, style), Precision::kBf16, "chunked", length);
  for (const char* order : {"chunked:1", "chunked:5", "chunked:17", "chunked:64"})
    for (std::uint64_t seed = 1; seed < 5; ++seed) {
      CAPTURE(seed);
      const Network reflections =
          random_network(seed, 5, static_cast<std::uint32_t>(1 + seed % 3), 4, Kind::kReflections);
      for (const ArithmeticName arithmetic : ArithmeticName::all()) check_order(reflections, arithmetic, order, 150, 2);
    }
  // More chunks than are in work at once.
  check_order(symmetric(4, 3, Swap::kUnit), Precision::kFp16, "chunked:7", 12'345);
}

TEST_CASE("layer after layer") {
  std::vector<Network> networks = meaningful_networks();
  networks.push_back(failing_cascade());
  std::size_t several = 0;
  for (const Network& network : networks) {
    several += network.layers.size() > 1;
    CAPTURE(network.layers.size());
    for (const char* order : {"scan", "doubling", "chunked:16", "scan:100", "doubling:33"})
      for (const ArithmeticName arithmetic : {ArithmeticName(Precision::kFp32), ArithmeticName(Precision::kBf16),
                                              ArithmeticName::accumulated_in_fp32(Precision::kFp16)})
        for (const std::uint64_t length : {0, 1, 65, 777}) check_order(network, arithmetic, order, length, 2);
  }
  CHECK(several > 2);
}

TEST_CASE("a layer that does not decode ends what the layers above read") {
  SampleOptions options;
  options.lengths = {4097};
  options.words = 3;
  options.threads = 1;
  options.order = parse_order("scan:50");
  const SampleReport expected = sample(failing_cascade(), Precision::kFp32, options);
  CHECK(expected.lengths[0].right_letters < expected.lengths[0].letters);
  CHECK(sample_words_in_order(Place::kProcessor, failing_cascade(), Precision::kFp32, options) == expected);
}

TEST_CASE("orders that devices do not have are refused") {
  const Network swaps = symmetric(3, 1, Swap::kUnit);
  const auto run = [](const Network& network, const char* order, std::vector<std::uint64_t> lengths) {
    SampleOptions options;
    options.lengths = std::move(lengths);
    options.words = 1;
    options.order = parse_order(order);
    return sample_words_in_order(Place::kProcessor, network, Precision::kFp32, options);
  };
  CHECK_THROWS_AS(run(swaps, "sequential", {10}), InputError);
  CHECK_THROWS_AS(run(swaps, "scan", {10, 20}), InputError);
  if (cuda_available()) return;
  SampleOptions options;
  options.order = parse_order("scan");
  CHECK_THROWS_AS(sample_words_in_order(Place::kDevice, swaps, Precision::kFp32, options), SystemError);
}

TEST_CASE("words in an order may begin with any number") {
  const Network network = rotation(60, all_residues(60));
  SampleOptions options;
  options.lengths = {70};
  options.words = 3;
  options.order = parse_order("scan");
  for (const std::uint64_t first : {1u, 1000u})
    CHECK(sample_words_in_order(Place::kProcessor, network, Precision::kBf16, options, first) ==
          sample_from(first, network, Precision::kBf16, options));
}
