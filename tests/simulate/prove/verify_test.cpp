// The one road for verdicts: what it says, what it does to itself before it says so, and that it holds for every kind
// of subject.

#include "krohn/simulate/prove/verify.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "krohn/automata/language.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/prove/pairs/network_reader.h"
#include "krohn/simulate/prove/self_check.h"
#include "krohn/simulate/prove/verify_built.h"
#include "tests/simulate/hand_built.h"

using namespace krohn;
using namespace krohn::hand_built;

namespace {

ModelVerdict ask(const Network& network, ArithmeticName arithmetic, std::uint64_t max_pairs = 100'000,
                 std::uint64_t length = 0) {
  Question question;
  question.subject = &network;
  question.how.arithmetic = arithmetic;
  question.how.max_pairs = max_pairs;
  question.random.length = length;
  return verify(question);
}

/// The network itself, read through the interface of whatever reads letters.
ModelVerdict ask_reader(const Network& network, ArithmeticName arithmetic, std::uint64_t max_pairs) {
  const auto reader = network_reader(network, arithmetic, Form::kStructured);
  const TrackedAutomaton tracked = every_state(network.automaton);
  const ReadModel model{*reader, tracked, [](Output output) { return std::to_string(output); }};
  Question question;
  question.subject = &model;
  question.how.arithmetic = arithmetic;
  question.how.max_pairs = max_pairs;
  return verify(question);
}

}  // namespace

TEST_CASE("a proof is re-checked and replayed before it is given") {
  const Network network = symmetric(4, 3, Swap::kMap);
  const ModelVerdict verdict = ask(network, Precision::kBf16);
  CHECK(verdict.certificate.is<Proved>());
  CHECK(verdict.self_check.is_rechecked);
  CHECK(verdict.self_check.replayed_letters == 100'000);
}

TEST_CASE("networks and what reads letters come down the same road") {
  for (const std::uint32_t m : {3u, 10u})
    for (const Precision precision : {Precision::kBf16, Precision::kFp16, Precision::kFp32}) {
      CAPTURE(m);
      CAPTURE(to_string(precision));
      const Network network = rotation(m, {0, 1});
      const Certificate own = ask(network, precision, 3000).certificate;
      const Certificate read = ask_reader(network, precision, 3000).certificate;
      // Bounds are of networks only; where pairs or long words decide, both decide alike.
      if (own.method != "closed reachable set" && own.method != "long words") continue;
      CHECK((own.claim == read.claim));
    }
}

TEST_CASE("a failing word is really wrong, and nothing shorter when it says so") {
  const Network network = rotation(5, {0, 1, 2, 3, 4});
  const Certificate certificate = ask(network, Precision::kBf16, 20'000'000).certificate;
  REQUIRE(certificate.is<Refuted>());
  CHECK(certificate.is_shortest());
  CHECK(certificate.failing_word()->size() == 249);  // MATH.md §5
}

TEST_CASE("another language is refuted by the shortest word that tells them apart") {
  const Network network = build(load_language("regex:(a|b)*abb"), {});
  Question question;
  question.subject = &network;
  question.against = Language{"regex:(a|b)*ab", load_language("regex:(a|b)*ab")};
  const ModelVerdict verdict = verify(question);
  CHECK(verdict.certificate.is<Refuted>());
  CHECK(*verdict.certificate.failing_word() == Word{0, 1});
  CHECK(verdict.certificate.is_shortest());
  CHECK(verdict.said == "reject");
  CHECK(verdict.wanted == "accept");
  question.against = Language{"regex:(b*a+b)*a+bb", load_language("regex:(a|b)*a(b)(b)")};
  CHECK(verify(question).certificate.is<Proved>());
}

TEST_CASE("a network that is not its own automaton is held against the language itself") {
  // The network counts modulo 2; the file says that both letters do nothing.
  Network network = rotation(2, {0, 1});
  const Dfa right = network.automaton;
  network.automaton =
      Dfa::moore(right.alphabet(), {0, 0, 1, 1}, right.initial(), {right.outputs().begin(), right.outputs().end()},
                 {right.output_names().begin(), right.output_names().end()});
  Question question;
  question.subject = &network;
  CHECK(verify(question).certificate.is<Refuted>());
  question.against = Language{"counting", right};
  for (const std::uint64_t length : {0, 1000}) {
    question.random.length = length;
    const ModelVerdict verdict = verify(question);
    CHECK(verdict.certificate.is<Proved>());
    CHECK(verdict.self_check.replayed_letters == 100'000);
    CHECK_FALSE(verdict.self_check.is_rechecked);  // the certificate would be about the file's automaton
    CHECK(verdict.certificate.letters_tested == length);
  }
  question.random.length = 1000;
  question.test_only = true;
  CHECK(verify(question).certificate.is<Sampled>());
}

TEST_CASE("states that the language does not tell apart refute nothing that it says") {
  // A drifting counter modulo 5, all of whose states accept: against its own states it is refuted, and as a language
  // only a state that is not read at all could be wrong.
  Network network = rotation(5, {0, 1, 2, 3, 4});
  const Dfa counting = network.automaton;
  network.automaton = Dfa::acceptor(counting.alphabet(), {counting.table().begin(), counting.table().end()}, 0,
                                    std::vector<bool>(5, true));
  Question question;
  question.subject = &network;
  question.how.arithmetic = Precision::kBf16;
  question.how.max_pairs = 2'000'000;
  REQUIRE(verify(question).certificate.is<Refuted>());
  question.how.max_pairs = 20'000;
  question.against = Language{"everything", network.automaton};
  const ModelVerdict verdict = verify(question);
  if (verdict.certificate.is<Refuted>()) {
    CHECK(verdict.said == "nothing");
    CHECK(verdict.wanted == "accept");
  }
}

TEST_CASE("replayed words meet every transition, and no more letters than allowed") {
  const Dfa automaton = load_language("name:S4", {});
  std::vector<bool> met(std::size_t{automaton.states()} * automaton.letters(), false);
  std::uint64_t letters = 0, longest = 0;
  for_replayed_words(automaton, 10'000, 50, [&](const Word& word) {
    State state = automaton.initial();
    for (const Letter letter : word) {
      met[std::size_t{state} * automaton.letters() + letter] = true;
      state = automaton.next(state, letter);
    }
    letters += word.size();
    longest = std::max<std::uint64_t>(longest, word.size());
    return true;
  });
  CHECK(std::count(met.begin(), met.end(), false) == 0);
  CHECK(letters == 10'000);
  CHECK(longest == 50);
  for_replayed_words(load_language("regex:", {}), 100, 100, [](const Word& word) { return CHECK(word.empty()), true; });
}

TEST_CASE("replay finds the letter where a false proof breaks") {
  // 250 letters of the famous word would be needed for Z_5; a network that turns a twentieth too far breaks sooner.
  Network network = rotation(5, {0, 1});
  network.layers[0].transitions[1].a = RotationBlocks{{{false, Turn{21, 100}.normalised()}}};
  Certificate forged;
  forged.claim = Proved{};
  std::uint64_t letters = 0;
  const auto wrong = replay(network, forged, 100'000, letters);
  REQUIRE(wrong);
  CHECK(letters <= 100'000);
  const auto evaluator = make_evaluator(network, forged.arithmetic);
  State state = network.automaton.initial();
  for (std::size_t t = 0; t < wrong->size(); ++t) {
    state = network.automaton.next(state, (*wrong)[t]);
    CHECK((evaluator->step((*wrong)[t]) == state) == (t + 1 < wrong->size()));
  }
  forged.claim = ProvedUpTo{wrong->size() > 3 ? 3U : 1U};
  letters = 0;
  CHECK_FALSE(replay(network, forged, 100'000, letters));  // nothing longer was claimed
}

TEST_CASE("what a construction promises is proved before it is written") {
  for (const char* name : {"parity", "Z5", "S3", "tomita4", "Z2xZ4", "Q8"}) {
    CAPTURE(name);
    const Dfa automaton = load_language(std::string("name:") + name, {});
    for (const PlanRow& row : plan(automaton, {})) {
      if (!row.possible) continue;
      CAPTURE(row.construction);
      BuildOptions options;
      options.construction = row.construction;
      const Network network = build(automaton, options);
      CertifyOptions limits;
      limits.max_pairs = 20'000;
      const KeptPromise kept = verify_built(network, {row.exact_in, row.locked_in}, limits);
      // The matrices of a grid rotation multiply to very many maps, of which no search sees the end.
      if (row.construction != "rotation-grid") CHECK(kept.promised_only.empty());
      for (const Precision precision : kept.promised_only) CHECK(ask(network, precision).certificate.is<Proved>());
      CHECK(kept.every_order.size() + kept.sequential.size() + kept.promised_only.size() ==
            row.exact_in.size() + row.locked_in.size());
    }
  }
}

TEST_CASE("a network that breaks its construction's promise is a contradiction") {
  Network network = build(load_language("name:S3", {}), {});
  std::swap(network.layers[0].transitions[0], network.layers[0].transitions[1]);
  const std::vector<Precision> exact{Precision::kFp32};
  CHECK_THROWS_AS(verify_built(network, {exact, {}}), Contradiction);
  CHECK_THROWS_AS(verify_built(network, {}), Contradiction);
}
