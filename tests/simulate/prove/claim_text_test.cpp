#include "krohn/simulate/prove/claims/claim_text.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "krohn/automata/language.h"

using namespace krohn;

TEST_CASE("a proof about a language that asks about some words alone says so, by a shortest other one") {
  const Dfa parity = load_language("name:parity");
  constexpr Output kNot = TrackedAutomaton::kNotAsked, kNone = TrackedAutomaton::kNoSuchWord;
  // The empty word, words of one letter 0 and 1, and those of two and more.
  const Dfa counted = Dfa::moore(parity.alphabet(), {1, 2, 3, 3, 3, 3, 3, 3}, 0, {0, 0, 0, 0}, {"0"});
  const auto said = [&](Claim claim, std::vector<Output> wanted) {
    Certificate certificate;
    certificate.claim = std::move(claim);
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
  // Of letters that cannot stand nothing is proved either.
  CHECK(said(Proved{}, {0, kNone, 0, 0}) == proved + not_of + "\"0\" (1 letter)");
  CHECK(said(ProvedUpTo{7}, {0, kNot, 0, 0}) ==
        "proved for words of up to 7 letters; undecided beyond" + not_of + "\"0\" (1 letter)");
  CHECK(said(Sampled{}, {0, kNot, 0, 0}) == "undecided: no disagreement found, which proves nothing");
  Certificate back;
  back.claim = Proved{};
  CHECK(claim_in_words(back, counted.alphabet()) == proved);
  // Words that come back to the beginning, of which nothing is asked, have letters.
  back.language = TrackedAutomaton{parity, {kNot, 0}};
  CHECK(shortest_word_not_asked(back) == Word{0});
  back.language->wanted = {0, kNot};
  CHECK(shortest_word_not_asked(back) == Word{1});
  // The last state of a long path, at a cost that grows as the path does.
  constexpr State kStates = 300'000;
  std::vector<State> path;
  for (State state = 0; state < kStates; ++state) path.insert(path.end(), 2, std::min(state + 1, kStates - 1));
  std::vector<Output> wanted(kStates, 0);
  wanted.back() = kNot;
  back.language = TrackedAutomaton{
      Dfa::moore(parity.alphabet(), std::move(path), 0, std::vector<Output>(kStates, 0), {"0"}), std::move(wanted)};
  CHECK(shortest_word_not_asked(back)->size() == kStates - 1);
}
