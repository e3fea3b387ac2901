#include "constructions/architectures.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "automata/language.h"
#include "automata/minimise.h"
#include "simulate/certify.h"

using namespace krohn;

namespace {

std::vector<Architecture> classify(const Dfa& automaton) {
  return architectures(automaton, analyse(automaton), plan(automaton, {}));
}

const Architecture& family(const std::vector<Architecture>& rows, const std::string& name) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const Architecture& row) { return row.family == name; });
  REQUIRE(found != rows.end());
  return *found;
}

const char* const kUnitInterval = "diagonal, A in [0, 1]";
const char* const kSigned = "diagonal, A in [-1, 1]";
const char* const kUnitCircle = "complex diagonal, |A| in {0, 1}";

}  // namespace

TEST_CASE(
    "every yes that names a construction compiles, and is proved or runs without a fault; every no has a witness") {
  for (const char* language :
       {"regex:(a|b)*abb", "regex:(aa)*", "name:parity", "name:tomita1", "name:tomita2", "name:tomita3", "name:tomita4",
        "name:tomita5", "name:tomita6", "name:tomita7", "name:S3", "name:D4", "name:Q8", "name:modarith3", "name:A5",
        "name:dyck:types=1,depth=3"}) {
    CAPTURE(language);
    const Dfa automaton = minimise(load_language(language));
    for (const Architecture& row : classify(automaton)) {
      CAPTURE(row.family);
      if (row.answer == Answer::kNo) CHECK_FALSE(row.reason.empty());
      if (row.construction.empty()) continue;
      REQUIRE(row.answer == Answer::kYes);
      Wishes wishes;
      wishes.construction = row.construction;
      const Network network = build(automaton, wishes);
      CertifyOptions options;
      options.arithmetic = Precision::kFp32;
      options.max_pairs = 200'000;
      const Certificate certificate = certify(network, options);
      CAPTURE(row.construction);
      CAPTURE(certificate.evidence);
      // Turns are not exact in floating point: what they hold without a proof is at least never refuted this far.
      const bool exact = row.construction != "orthogonal" && row.construction != "rotation" && row.construction != "r2";
      if (exact) CHECK(certificate.claim == Claim::kProved);
      CHECK(certificate.claim != Claim::kRefuted);
    }
  }
}

TEST_CASE("the classes of the classifier") {
  struct Fact {
    const char* language;
    Answer unit_interval, is_signed, unit_circle;
  };
  const Answer yes = Answer::kYes, no = Answer::kNo;
  for (const Fact& fact : {Fact{"regex:(a|b)*abb", yes, yes, yes},
                           {"name:parity", no, yes, yes},
                           {"name:tomita6", no, no, yes},
                           {"name:tomita5", no, yes, yes},
                           {"name:D4", no, yes, yes},
                           {"name:S3", no, no, yes},
                           {"name:S4", no, no, yes},
                           {"name:modarith5", no, no, yes},
                           {"name:A5", no, no, no},
                           {"name:S5", no, no, no}}) {
    CAPTURE(fact.language);
    const std::vector<Architecture> rows = classify(minimise(load_language(fact.language)));
    CHECK(family(rows, kUnitInterval).answer == fact.unit_interval);
    CHECK(family(rows, kSigned).answer == fact.is_signed);
    CHECK(family(rows, kUnitCircle).answer == fact.unit_circle);
  }
}

TEST_CASE("A_5 turns in three dimensions") {
  const auto a5 = classify(minimise(load_language("name:A5")));
  CHECK(family(a5, "3×3 orthogonal blocks").answer == Answer::kYes);
  CHECK(family(a5, "3×3 orthogonal blocks").construction == "orthogonal");
}
