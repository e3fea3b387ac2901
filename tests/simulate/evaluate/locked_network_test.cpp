#include <doctest/doctest.h>

#include <algorithm>

#include "krohn/automata/language.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/certify.h"
#include "tests/simulate/hand_built.h"

using namespace krohn;
using namespace krohn::hand_built;

namespace {

constexpr Precision kFp64 = Precision::kFp64, kFp32 = Precision::kFp32, kFp16 = Precision::kFp16,
                    kBf16 = Precision::kBf16;

Network network_of(const Dfa& automaton, const char* construction, Precision precision) {
  BuildOptions wishes;
  wishes.construction = construction;
  wishes.precision = precision;
  return build(automaton, wishes);
}

Certificate certify_in(const Network& network, Precision precision, std::uint64_t max_pairs = 200'000) {
  CertifyOptions options;
  options.arithmetic = precision;
  options.max_pairs = max_pairs;
  return certify(network, options);
}

}  // namespace

TEST_CASE("locked rotations are proved in their precision, for all letters and every length") {
  struct Fact {
    const char* construction;
    Precision precision;
    std::vector<std::uint32_t> orders;
  };
  for (const Fact& fact :
       {Fact{"rotation-locked", kFp32, {3, 5, 6, 7, 9, 10, 12, 16, 24, 60}},
        Fact{"rotation-locked", kFp16, {3, 5, 6, 10, 12, 16, 24}},
        Fact{"rotation-locked", kBf16, {3, 5, 6, 10, 12, 16}}, Fact{"rotation-locked", kFp64, {5, 60}},
        Fact{"rotation-grid", kFp32, {3, 7, 9, 11, 13, 17, 19, 60, 64}}, Fact{"rotation-grid", kFp16, {5, 7, 9, 60}},
        Fact{"rotation-grid", kBf16, {3, 5, 7, 10, 12, 20}}, Fact{"rotation-grid", kFp64, {11, 60}}})
    for (const std::uint32_t m : fact.orders) {
      CAPTURE(fact.construction);
      CAPTURE(to_string(fact.precision));
      CAPTURE(m);
      const Network network = network_of(counter(m, all_residues(m)), fact.construction, fact.precision);
      const Certificate certificate = certify_in(network, fact.precision);
      CHECK(certificate.is<Proved>());
      CHECK(certificate.method == "closed codewords");
      CHECK(certificate.pairs == std::uint64_t{m} * m);
    }
}

TEST_CASE("what is locked in one precision is refuted in others, where its angles are wrong or rounding differs") {
  struct Fact {
    std::uint32_t m;
    Precision locked, other;
    std::vector<std::uint32_t> letters;
  };
  for (const Fact& fact : {Fact{5, kFp32, kBf16, all_residues(5)}, Fact{10, kFp32, kBf16, all_residues(10)},
                           Fact{5, kBf16, kFp16, {1}}, Fact{5, kBf16, kFp32, {1}}, Fact{5, kBf16, kFp64, {1}},
                           Fact{10, kFp16, kFp32, {1}}, Fact{60, kFp16, kFp64, {1}}}) {
    CAPTURE(fact.m);
    CAPTURE(to_string(fact.locked));
    CAPTURE(to_string(fact.other));
    const Network network = network_of(counter(fact.m, fact.letters), "rotation-locked", fact.locked);
    CHECK(certify_in(network, fact.locked).is<Proved>());
    const Certificate certificate = certify_in(network, fact.other, 2'000'000);
    CHECK(certificate.is<Refuted>());
    CHECK(certificate.is_shortest());
  }
}

TEST_CASE("one plane counts modulo 60 by one letter in every precision") {
  for (const Precision precision : {kFp64, kFp32, kFp16, kBf16}) {
    CAPTURE(to_string(precision));
    const Network network = network_of(counter(60, {0, 1}), "rotation-locked", precision);
    CHECK(network.layers[0].dimension == 2);
    CHECK(certify_in(network, precision).is<Proved>());
  }
}

TEST_CASE("complex diagonal networks with shifts of 3, 5 and 7 are proved in fp32") {
  for (const char* language : {"name:tomita6", "name:S3", "name:S4", "name:modarith3", "name:modarith5", "name:Z7"}) {
    CAPTURE(language);
    const Dfa automaton = minimise(load_language(language));
    const Network network = network_of(automaton, "diagonal-unit-circle", kFp32);
    const Certificate certificate = certify_in(network, kFp32);
    CHECK(certificate.is<Proved>());
    CHECK(certificate.method == "closed codewords");
    const auto rows = plan(automaton, {});
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [](const PlanRow& plan) { return plan.construction == "diagonal-unit-circle"; });
    REQUIRE(row != rows.end());
    CHECK(std::count(row->locked_in.begin(), row->locked_in.end(), kFp32) == 1);
  }
}

TEST_CASE("what a plan calls locked is proved") {
  for (const Dfa& automaton : {counter(3, {1, 2}), counter(12, {1, 5}), counter(6, {1}), counter(15, {2, 7})})
    for (const Precision precision : {kFp64, kFp32, kFp16, kBf16}) {
      BuildOptions wishes;
      wishes.precision = precision;
      for (const PlanRow& row : plan(automaton, wishes))
        for (const Precision locked : row.locked_in) {
          CAPTURE(row.construction);
          CAPTURE(to_string(locked));
          wishes.construction = row.construction;
          const Network network = build(automaton, wishes);
          CHECK(certify_in(network, locked).is<Proved>());
        }
    }
}
