// A model held against a language that it was not told of: what refutes it, by which word, and what does not.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "krohn/automata/language.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/prove/pairs/network_reader.h"
#include "krohn/simulate/prove/verify.h"
#include "tests/simulate/hand_built.h"

using namespace krohn;
using namespace krohn::hand_built;

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

TEST_CASE("a word is no witness where the language tells apart what one of its letters stands for") {
  const Network network = build(load_language("regex:[ab]*c"), {});
  Question question;
  question.subject = &network;
  question.against = Language{"regex:a*c", load_language("regex:a*c")};
  const ModelVerdict split = verify(question);
  CHECK(split.certificate.is<Refuted>());
  CHECK(split.certificate.failing_word() == nullptr);  // "ac", its letters' names, is read rightly
  CHECK(split.certificate.evidence.find("\"bc\"") != std::string::npos);
  question.against = Language{"regex:a*cc", load_language("regex:a*cc")};
  const ModelVerdict whole = verify(question);
  REQUIRE(whole.certificate.failing_word() != nullptr);
  CHECK(*whole.certificate.failing_word() == Word{*network.automaton.alphabet().find("c")});
}

TEST_CASE("a state that a run meets, and that the language does not tell apart, refutes nothing, wherever it is met") {
  // Fourteen equal letters end: a's in one state, b's in another. The file says in the same one; both accept.
  constexpr State kRun = 14, kFirst = 2 * kRun - 1, kSecond = 2 * kRun;
  std::vector<State> table;
  std::vector<Output> outputs;
  for (State state = 0; state <= kSecond; ++state) {
    const State of_a = state < kRun ? state : 0, of_b = state >= kRun && state < kFirst ? state - kRun + 1 : 0;
    const bool is_end = state >= kFirst;
    table.push_back(is_end ? state : of_a + 1 == kRun ? kSecond : of_a + 1);
    table.push_back(is_end ? state : of_b + 1 == kRun ? kFirst : kRun + of_b);
    outputs.push_back(is_end ? state - kFirst + 1 : 0);
  }
  Network network =
      build(Dfa::moore(load_language("regex:[a][b]").alphabet(), table, 0, outputs, {"reject", "accept", "other"}), {});
  const Dfa& own = network.automaton;
  const Letter a = *own.alphabet().find("a"), b = *own.alphabet().find("b");
  std::vector<State> merged(own.table().begin(), own.table().end());
  merged[own.run(Word(kRun - 1, a)) * own.letters() + a] = own.run(Word(kRun, b));
  std::vector<bool> accepts;
  for (State state = 0; state < own.states(); ++state) accepts.push_back(own.output(state) != 0);
  network.automaton = Dfa::acceptor(own.alphabet(), std::move(merged), own.initial(), std::move(accepts));
  Question question;
  question.subject = &network;
  question.against = Language{"runs", network.automaton};
  CHECK(verify(question).certificate.is<Proved>());
  question.how.max_pairs = 5;
  question.how.long_letters = 0;
  question.random.length = 1'000'000;
  question.random.through = RandomTest::Through::kStates;
  // Words in which b's come first meet no wrong state; the others meet one before letter 10,000, or later.
  int met = 0;
  for (question.random.seed = 1; question.random.seed <= 10; ++question.random.seed) try {
      CHECK_FALSE(verify(question).certificate.is<Refuted>());
    } catch (const LimitError&) {
      ++met;
    }
  CHECK(met > 1);
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
    CHECK(verdict.self_check.is_rechecked);  // by the language that the certificate brings
    CHECK(verdict.certificate.language.has_value());
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
    CHECK(verdict.said == "no answer: two are equally good");
    CHECK(verdict.wanted == "accept");
  }
}

TEST_CASE("of the empty word, where nothing is asked, model and language are not compared") {
  // Parity; the model is asked after its first letter only.
  const Dfa dfa = counter(2, {0, 1});
  const Dfa parity = Dfa::acceptor(dfa.alphabet(), {dfa.table().begin(), dfa.table().end()}, 0, {true, false});
  const Network network = one_hot(parity);
  const auto reader = network_reader(network, Precision::kFp32, Form::kStructured, {1, 0});
  const Dfa later = Dfa::acceptor(dfa.alphabet(), {0, 1, 1, 0, 0, 1}, 2, {true, false, true});
  const TrackedAutomaton tracked{later, {1, 0, TrackedAutomaton::kNotAsked}};
  const ReadModel model{*reader, tracked, [](Output output) { return output == 1 ? "accept" : "reject"; }};
  Question question;
  question.subject = &model;
  CHECK(verify(question).certificate.is<Proved>());
  question.against =
      Language{"but the empty word", Dfa::acceptor(dfa.alphabet(), {0, 1, 1, 0, 0, 1}, 2, {true, false, false})};
  CHECK(verify(question).certificate.is<Proved>());
  question.against = Language{"odd", Dfa::acceptor(dfa.alphabet(), {0, 1, 1, 0}, 0, {false, true})};
  const ModelVerdict other = verify(question);
  CHECK(other.certificate.is<Refuted>());
  CHECK(*other.certificate.failing_word() == Word{0});
  CHECK(other.said == "accept");
  CHECK(other.wanted == "reject");
}
