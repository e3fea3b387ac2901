#include "krohn/automata/monoid/algebra.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "krohn/automata/language.h"
#include "krohn/automata/operations/minimise.h"
#include "tests/automata/bestiary.h"
#include "tests/brute_force.h"

using namespace krohn;

namespace {

/// Where the word takes every state, by the table alone.
brute::Map run(const Dfa& dfa, const Word& word) {
  brute::Map images(dfa.states());
  for (State state = 0; state < dfa.states(); ++state) {
    images[state] = state;
    for (const Letter letter : word) images[state] = dfa.next(images[state], letter);
  }
  return images;
}

/// Some m of the monoid takes `from` to `to` by multiplying from the left.
bool is_left_multiple(const Dfa& dfa, const brute::Map& from, const brute::Map& to) {
  std::vector<brute::Map> letters;
  for (Letter letter = 0; letter < dfa.letters(); ++letter) letters.push_back(run(dfa, {letter}));
  const auto products = *brute::products(letters, 1000);
  return from == to ||
         std::any_of(products.begin(), products.end(), [&](const brute::Map& m) { return brute::then(m, from) == to; });
}

/// The quoted words of a witness.
std::vector<Word> words_in(const Dfa& dfa, const std::string& witness) {
  std::vector<Word> words;
  std::istringstream text(witness);
  std::string piece;
  for (bool quoted = false; std::getline(text, piece, '"'); quoted = !quoted)
    if (quoted) words.push_back(dfa.alphabet().parse_word(piece));
  return words;
}

Answer answer(const Dfa& dfa, std::string_view property) { return analyse(dfa).verdict(property).answer; }

Dfa permutations(const Maps& maps) { return automaton(maps, static_cast<State>(maps.front().size())); }

}  // namespace

TEST_CASE("witnesses against R-trivial leave a state and enter it again; those against L-trivial are L-related words") {
  std::mt19937 random(67);
  int returned = 0, related = 0;
  for (int round = 0; round < 1500; ++round) {
    CAPTURE(round);
    Maps maps(2, std::vector<State>(2 + random() % 3));
    for (auto& map : maps) {
      for (State& image : map) image = static_cast<State>(random() % map.size());
      if (round % 2 == 0) std::sort(map.begin(), map.end());  // monotone maps make no groups
    }
    const Dfa dfa = canonical(automaton(maps, static_cast<State>(maps[0].size())));
    const Algebra algebra = analyse(dfa);
    if (const Verdict& r = algebra.verdict("R-trivial"); r.answer == Answer::kNo) {
      CAPTURE(r.witness);
      const std::vector<Word> words = words_in(dfa, r.witness);
      REQUIRE(words.size() == 2);
      const auto state = static_cast<State>(std::stoul(r.witness.substr(r.witness.find("state ") + 6)));
      const State away = run(dfa, words[0])[state];
      REQUIRE((away != state && run(dfa, words[1])[away] == state));
      ++returned;
    }
    const Verdict& l = algebra.verdict("L-trivial");
    if (l.answer != Answer::kNo || l.witness.starts_with("not ")) continue;
    CAPTURE(l.witness);
    std::vector<Word> words = words_in(dfa, l.witness);
    if (words.size() == 1) words.emplace_back();  // the other one is empty
    REQUIRE(words.size() == 2);
    const brute::Map u = run(dfa, words[0]), v = run(dfa, words[1]);
    REQUIRE((u != v && is_left_multiple(dfa, u, v) && is_left_multiple(dfa, v, u)));
    ++related;
  }
  CHECK(returned > 30);
  CHECK(related > 30);
}

TEST_CASE("Tomita: 1, 2, 4, 7 star-free; 3, 5 two-groups; 6 solvable; 3 quasi-aperiodic, 5 not") {
  struct Fact {
    Answer aperiodic, two_groups, quasi;
  };
  const Answer yes = Answer::kYes, no = Answer::kNo;
  const Fact facts[] = {{yes, yes, yes}, {yes, yes, yes}, {no, yes, yes}, {yes, yes, yes},
                        {no, yes, no},   {no, no, no},    {yes, yes, yes}};
  for (std::size_t i = 0; i < std::size(facts); ++i) {
    CAPTURE(kTomita[i].language);
    const Dfa dfa = automaton(kTomita[i].maps, static_cast<State>(kTomita[i].maps[0].size()));
    CHECK(answer(dfa, "aperiodic") == facts[i].aperiodic);
    CHECK(answer(dfa, "2-groups only") == facts[i].two_groups);
    CHECK(answer(dfa, "solvable groups") == yes);
    CHECK(answer(dfa, "quasi-aperiodic") == facts[i].quasi);
  }
}

TEST_CASE("even length is quasi-aperiodic, parity is not") {
  const Dfa even_length = permutations({{1, 0}, {1, 0}}), parity = permutations({{0, 1}, {1, 0}});
  CHECK(answer(even_length, "quasi-aperiodic") == Answer::kYes);
  CHECK(answer(parity, "quasi-aperiodic") == Answer::kNo);
  CHECK(answer(even_length, "aperiodic") == Answer::kNo);
}

TEST_CASE("groups: S_3 and S_4 solvable, A_5 and S_5 not; modular arithmetic has Z_4 and Z_5") {
  CHECK(answer(permutations({{1, 2, 0}, {1, 0, 2}}), "solvable groups") == Answer::kYes);
  CHECK(answer(permutations({{1, 2, 3, 0}, {1, 0, 2, 3}}), "solvable groups") == Answer::kYes);
  CHECK(answer(permutations({{1, 2, 3, 4, 0}, {1, 0, 2, 3, 4}}), "solvable groups") == Answer::kNo);
  CHECK(answer(permutations({{1, 2, 0, 3, 4}, {0, 1, 3, 4, 2}}), "solvable groups") == Answer::kNo);
  const Algebra arithmetic = analyse(modular_arithmetic(5));
  std::set<std::string> names;
  for (const MaximalSubgroup& group : arithmetic.groups) names.insert(group.name);
  CHECK(arithmetic.verdict("solvable groups").answer == Answer::kYes);
  CHECK(
      std::any_of(names.begin(), names.end(), [](const std::string& name) { return name == "Z_4" || name == "Z_5"; }));
}

TEST_CASE("a monoid past the limit leaves local properties unknown and says so") {
  AlgebraOptions options;
  options.max_elements = 100;
  const Algebra algebra = analyse(full_transformation_monoid(5), options);
  CHECK(algebra.size == 3125);
  CHECK(algebra.verdict("aperiodic").answer == Answer::kNo);
  CHECK(algebra.verdict("locally testable").answer == Answer::kNo);  // for it follows
  CHECK(algebra.verdict("locally testable").witness.starts_with("not aperiodic: "));
  const Verdict& local = algebra.verdict("quasi-aperiodic");
  CHECK(local.answer == Answer::kUnknown);
  CHECK(local.witness.find("--max-elements") != std::string::npos);
}

TEST_CASE("MLRegTest: the classes of the files come out") {
  const std::string folder = KROHN_TEST_DATA "/mlregtest";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".att") continue;
    const std::string name = entry.path().filename().string();
    CAPTURE(name);
    LanguageOptions options;
    options.symbols = folder + "/alph4.txt";
    const Algebra algebra = analyse(minimise(load_language(entry.path().string(), options)));
    const auto field = [&](int number) {  // alphabet.tier.CLASS.k.j.i
      std::istringstream fields(name);
      std::string text;
      for (int i = 0; i <= number; ++i) std::getline(fields, text, '.');
      return text;
    };
    const std::string cls = field(2);
    const Answer aperiodic = algebra.verdict("aperiodic").answer;
    if (cls == "Zp") {
      CHECK(std::any_of(algebra.groups.begin(), algebra.groups.end(),
                        [&](const MaximalSubgroup& group) { return group.name == "Z_" + field(3); }));
    } else if (cls == "Reg") {
      CHECK(aperiodic == Answer::kNo);
    } else {
      CHECK(aperiodic == Answer::kYes);
    }
    if (cls == "LT") CHECK(algebra.verdict("locally testable").answer == Answer::kYes);
    if (cls == "PT") CHECK(algebra.verdict("J-trivial").answer == Answer::kYes);
    ++files;
  }
  CHECK(files == 11);
}

TEST_CASE("finite languages, and a loop against the others") {
  const auto finite = [](const char* language) { return analyse(load_language(language)).verdict("finite"); };
  CHECK(finite("regex:ab|ba?").answer == Answer::kYes);
  CHECK(finite("regex:[]").answer == Answer::kYes);
  CHECK(finite("regex:ab*a").answer == Answer::kNo);
  CHECK(finite("regex:ab*a").witness == "\"a\" \"b\"ⁿ \"a\" for every n");
}
