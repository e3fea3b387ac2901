#include "krohn/simulate/prove/claims/claim_text.h"

#include <doctest/doctest.h>

#include "krohn/automata/language.h"

using namespace krohn;

TEST_CASE("a proof about a language that asks about some words alone says so, by a shortest other one") {
  const Dfa parity = load_language("name:parity");
  constexpr Output kNot = TrackedAutomaton::kNotAsked, kNone = TrackedAutomaton::kNoSuchWord;
  // The empty word, words of one letter 0 and 1, and those of two and more.
  const Dfa counted = Dfa::moore(parity.alphabet(), {1, 2, 3, 3, 3, 3, 3, 3}, 0, {0, 0, 0, 0}, {"0"});
  const auto said = [&](Claim claim, std::vector<Output> wanted) {
    Certificate certificate{.claim = std::move(claim)};
    certificate.language = TrackedAutomaton{counted, std::move(wanted)};
    return claim_in_words(certificate, counted.alphabet());
  };
  const std::string proved = "proved for words of every length",
                    not_of = "; not of words that are not asked about, such as ";
  CHECK(said(Proved{}, {0, 0, 0, 0}) == proved);
  CHECK(said(Proved{}, {kNot, 0, 0, 0}) == proved);  // the empty word has no letter to ask about
  CHECK(said(Proved{}, {0, kNot, 0, 0}) == proved + not_of + "\"0\" (1 letter)");
  CHECK(said(Proved{}, {0, 0, kNot, 0}) == proved + not_of + "\"1\" (1 letter)");
  CHECK(said(Proved{}, {0, 0, 0, kNot}) == proved + not_of + "\"00\" (2 letters)");
  CHECK(said(Proved{}, {0, kNone, 0, 0}) == proved);  // there is no such word
  CHECK(said(ProvedUpTo{7}, {0, kNot, 0, 0}) ==
        "proved for words of up to 7 letters; undecided beyond" + not_of + "\"0\" (1 letter)");
  CHECK(said(Sampled{}, {0, kNot, 0, 0}) == "undecided: no disagreement found, which proves nothing");
  CHECK(claim_in_words({.claim = Proved{}}, counted.alphabet()) == proved);
}
