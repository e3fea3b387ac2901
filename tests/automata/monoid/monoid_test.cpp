#include "krohn/automata/language.h"
#include "krohn/automata/monoid/algebra.h"
#include "krohn/automata/monoid/properties.h"
#include "krohn/automata/monoid/witness_check.h"
#include "krohn/automata/operations/minimise.h"
#include "tests/algebra_campaign.h"
#include "tests/automata/bestiary.h"
#include "tests/automata/random_automata.h"
#include "tests/brute_force.h"
#include "tests/testing.h"

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
  for (State i = 0; i < std::size(facts); ++i) {
    CAPTURE(i);
    const Dfa dfa = family("tomita", i + 1);
    CHECK(answer(dfa, "aperiodic") == facts[i].aperiodic);
    CHECK(answer(dfa, "2-groups only") == facts[i].two_groups);
    CHECK(answer(dfa, "solvable groups") == yes);
    CHECK(answer(dfa, "quasi-aperiodic") == facts[i].quasi);
  }
}

TEST_CASE("groups: S_3 and S_4 solvable, A_5 and S_5 not; modular arithmetic has Z_4 and Z_5") {
  CHECK(answer(permutations({{1, 2, 0}, {1, 0, 2}}), "solvable groups") == Answer::kYes);
  CHECK(answer(permutations({{1, 2, 3, 0}, {1, 0, 2, 3}}), "solvable groups") == Answer::kYes);
  CHECK(answer(permutations({{1, 2, 3, 4, 0}, {1, 0, 2, 3, 4}}), "solvable groups") == Answer::kNo);
  CHECK(answer(permutations({{1, 2, 0, 3, 4}, {0, 1, 3, 4, 2}}), "solvable groups") == Answer::kNo);
  const Algebra arithmetic = analyse(named_language("modarith5"));
  std::set<std::string> names;
  for (const MaximalSubgroup& group : arithmetic.groups) names.insert(group.name);
  CHECK(arithmetic.verdict("solvable groups").answer == Answer::kYes);
  CHECK(
      std::any_of(names.begin(), names.end(), [](const std::string& name) { return name == "Z_4" || name == "Z_5"; }));
}

TEST_CASE("a monoid past the limit leaves local properties unknown and says so") {
  AlgebraOptions options{.max_elements = 100};
  const Algebra algebra = analyse(named_language("T5"), options);
  CHECK(algebra.size == 3125);
  CHECK(algebra.verdict("aperiodic").answer == Answer::kNo);
  CHECK(algebra.verdict("locally testable").answer == Answer::kNo);  // for it follows
  CHECK(algebra.verdict("locally testable").witness.starts_with("not aperiodic: "));
  const Verdict& local = algebra.verdict("quasi-aperiodic");
  CHECK(local.answer == Answer::kUnknown);
  CHECK(test::contains(local.witness, "--max-elements"));
  options.max_elements = 1;  // the letter exchanges the two states
  CHECK(analyse(automaton({{1, 0}}, 2), options).verdict("definite").witness ==
        "\"l0 l0\" takes the states 0 and 1 to themselves");
}

TEST_CASE("MLRegTest: the classes of the files come out") {
  const std::string folder = KROHN_TEST_DATA "/mlregtest";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".att") continue;
    const std::string name = entry.path().filename().string();
    CAPTURE(name);
    LanguageOptions options{.symbols = folder + "/alph4.txt"};
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

// Bounds of the Krohn–Rhodes complexity against monoids whose complexity is known.

namespace {

ComplexityBounds bounds(const Dfa& dfa) {
  return complexity_bounds(GreenStructure::of(letter_maps(dfa), dfa.states()), dfa.states());
}

}  // namespace

TEST_CASE("all maps of n points have complexity n-1; aperiodic monoids 0; groups 1") {
  for (State n = 2; n <= 5; ++n) {
    CAPTURE(n);
    const ComplexityBounds full = bounds(family("T", n));
    CHECK(full.lower == n - 1);
    CHECK(full.upper == n - 1);
  }
  CHECK(bounds(automaton({{1, 1, 2}, {0, 2, 2}}, 3)).upper == 0);
  const ComplexityBounds group = bounds(automaton({{1, 2, 0}, {1, 0, 2}}, 3));
  CHECK(group.lower == 1);
  CHECK(group.upper == 1);
}

TEST_CASE("the chain of classes with groups: counted along chains, not over the whole monoid") {
  // A swap of 0, 1 and one of 2, 3 that never meet: two classes with groups side by side, one above the other where a
  // letter leads from the first to the second.
  CHECK(bounds(automaton({{1, 0, 4, 4, 4}, {4, 4, 3, 2, 4}}, 5)).upper == 1);
  // One letter swaps three and a second merges them into a pair that a third swaps.
  const ComplexityBounds nested = bounds(automaton({{1, 2, 0}, {0, 0, 1}, {1, 0, 0}}, 3));
  CHECK(nested.lower == 1);
  CHECK(nested.upper == 2);
}

TEST_CASE("a monoid has groups exactly where its complexity is at least one") {
  std::mt19937 random(5);
  for (int drawn = 0; drawn < 200; ++drawn) {
    const Dfa dfa = random_automaton(random, 3 + static_cast<State>(random() % 3), 2);
    const ComplexityBounds found = bounds(dfa);
    CHECK(found.lower <= found.upper);
    CHECK(found.upper < dfa.states());
    CHECK((found.lower == 0) == (analyse(dfa).groups.empty()));
    CHECK((found.upper == 0) == (found.lower == 0));
  }
}

namespace {

constexpr std::size_t kMax = 4;  ///< numbers of a layer
using Numbers = std::array<double, kMax>;

/// h ↦ A h + b.
struct AffineMap {
  std::array<Numbers, kMax> matrix{};
  Numbers added{};

  Numbers operator()(const Numbers& h) const {
    Numbers image = added;
    for (std::size_t i = 0; i < kMax; ++i)
      for (std::size_t j = 0; j < kMax; ++j) image[i] += matrix[i][j] * h[j];
    return image;
  }
};

/// A product of generalized Householders I − β k kᵀ with β = 1 or 2 and keys e_i and (e_i ± e_j)/√2, which is exact in
/// dyadic numbers, and something added.
AffineMap random_contraction(std::mt19937& random, std::size_t numbers) {
  AffineMap map;
  for (std::size_t i = 0; i < kMax; ++i) map.matrix[i][i] = 1;
  for (std::size_t factors = random() % 4; factors > 0; --factors) {
    Numbers key{};
    const std::size_t i = random() % numbers, j = random() % numbers;
    key[i] = 1;
    if (i != j) key[j] = random() % 2 == 0 ? 1 : -1;
    const double beta = 1 + static_cast<double>(random() % 2), square = i == j ? 1 : 2;
    std::array<Numbers, kMax> product = map.matrix;
    for (std::size_t column = 0; column < kMax; ++column) {
      double along = 0;
      for (std::size_t row = 0; row < kMax; ++row) along += key[row] * map.matrix[row][column];
      for (std::size_t row = 0; row < kMax; ++row) product[row][column] -= beta * along * key[row] / square;
    }
    map.matrix = product;
  }
  for (std::size_t i = 0; i < numbers; ++i)
    if (random() % 3 == 0) map.added[i] = static_cast<double>(random() % 3) - 1;
  return map;
}

/// The states that words lead to from 0, each with an answer of its own; nothing where there are more than `most`.
std::optional<Dfa> reached(const std::vector<AffineMap>& letters, std::size_t most) {
  std::map<Numbers, State> number{{Numbers{}, 0}};
  std::vector<Numbers> states{Numbers{}};
  std::vector<State> table;
  for (std::size_t i = 0; i < states.size(); ++i)
    for (const AffineMap& letter : letters) {
      const Numbers next = letter(states[i]);
      const auto [at, fresh] = number.emplace(next, static_cast<State>(states.size()));
      if (fresh) states.push_back(next);
      if (states.size() > most) return std::nullopt;
      table.push_back(at->second);
    }
  std::vector<Output> outputs;
  std::vector<std::string> names;
  for (State state = 0; state < states.size(); ++state) {
    outputs.push_back(state);
    names.push_back(std::to_string(state));
  }
  std::vector<std::string> symbols;
  for (std::size_t letter = 0; letter < letters.size(); ++letter)
    symbols.push_back(std::string(1, static_cast<char>('a' + letter)));
  return Dfa::moore(Alphabet::from_names(symbols), std::move(table), 0, std::move(outputs), std::move(names));
}

Answer right_regular(const Dfa& dfa) { return analyse(dfa).verdict("right regular idempotents").answer; }

Dfa language(const char* name) { return minimise(load_language(name)); }

}  // namespace

TEST_CASE("no layer of contractions with finitely many states crosses idempotents: sixty thousand random ones") {
  std::mt19937 random(17);
  int finite = 0, merging = 0, mixed = 0;
  for (int drawn = 0; drawn < 60'000; ++drawn) {
    const std::size_t numbers = 1 + random() % kMax;
    std::vector<AffineMap> letters;
    for (std::size_t letter = 2 + random() % 2; letter > 0; --letter)
      letters.push_back(random_contraction(random, numbers));
    const std::optional<Dfa> dfa = reached(letters, 32);
    if (!dfa || dfa->states() < 3) continue;
    ++finite;
    merging += !dfa->is_permutation_automaton();
    const Algebra algebra = analyse_within_limits(*dfa, AlgebraOptions{.green = {.max_r_classes = 2000}});
    const Answer answer = algebra.verdict("right regular idempotents").answer;
    CHECK(answer != Answer::kNo);
    if (algebra.verdict("group").answer == Answer::kNo && algebra.verdict("aperiodic").answer == Answer::kNo) ++mixed;
    // Whatever is answered by the state.
    const Dfa acceptor = minimise(accepting(*dfa, static_cast<std::uint32_t>(random())));
    CHECK(right_regular(acceptor) != Answer::kNo);
  }
  CHECK(finite > 2000);
  CHECK(merging > 1000);
  CHECK(mixed > 300);
}

TEST_CASE("languages on both sides, and whether a margin is barred as well") {
  struct Fact {
    const char* name;
    bool crosses, bars_margins;
  };
  for (const auto& [name, crosses, bars_margins] :
       {Fact{"name:T2", false, false}, Fact{"name:T3", true, true}, Fact{"regex:a(a|b)*", true, true},
        Fact{"regex:(a|b)*abb", false, false}, Fact{"regex:(a|b)*a(a|b)*b(a|b)*", true, false},
        Fact{"name:saturating4", false, false}, Fact{"name:rsm:m=2,seed=1", false, false},
        Fact{"name:rsm:m=3,seed=1", true, true}, Fact{"name:rsm:m=10,seed=1", true, true},
        Fact{"name:modarith5", true, true}, Fact{"name:tomita3", true, false}, Fact{"name:tomita4", true, true},
        Fact{"name:S5/swaps", false, false}}) {
    CAPTURE(name);
    const Dfa dfa = language(name);
    const CrossingSearch search = crossing_idempotents(dfa, 5000);
    REQUIRE(search.found.has_value() == crosses);
    if (!crosses) {
      CHECK(search.is_complete);
      continue;
    }
    const auto& [e, f, from, margins] = *search.found;
    CHECK(margins == bars_margins);
    // Read once more, as often as one likes.
    for (const int times : {1, 2, 7}) {
      Word both, last;
      for (const Word* word : {&e, &f, &e})
        for (int i = 0; i < times; ++i) both.insert(both.end(), word->begin(), word->end());
      for (const Word* word : {&f, &e})
        for (int i = 0; i < times; ++i) last.insert(last.end(), word->begin(), word->end());
      CHECK(dfa.run(both, from) != dfa.run(last, from));
    }
  }
}

TEST_CASE("infinitely many values: one layer of contractions holds a somewhere before b, with a margin of ¼") {
  // a: both numbers become their mean; b: the second becomes 0. Read behind a by ≤ ¼, behind b by ≤ ½.
  const Dfa dfa = language("regex:(a|b)*a(a|b)*b(a|b)*");
  REQUIRE(crossing_idempotents(dfa, 100).found);
  for (std::uint32_t length = 1; length <= 14; ++length)
    for (std::uint32_t bits = 0; bits < 1U << length; ++bits) {
      double first = 1, second = 0;
      State state = dfa.initial();
      for (std::uint32_t i = 0; i < length; ++i) {
        const Letter letter = bits >> i & 1U;
        state = dfa.next(state, letter);
        if (letter == 0)
          first = second = (first + second) / 2;
        else
          second = 0;
        const double bound = letter == 0 ? 0.25 : 0.5;
        if (dfa.accepts(state) ? first > bound : first < bound + 0.25)
          FAIL("wrong on a word of " << i + 1 << " letters");
      }
    }
}

TEST_CASE("a search that ends early finds or says nothing; what is not told apart does not count") {
  const Dfa three = language("name:T3");
  const CrossingSearch none = crossing_idempotents(three, 1);
  CHECK(!none.found);
  CHECK(!none.is_complete);
  CHECK(right_regular_idempotents(three, 1).answer == Answer::kUnknown);

  // Which letter was the first: from state 0 only, and behind it everything stands still.
  const Dfa first = language("regex:a(a|b)*");
  REQUIRE(first.states() == 3);
  ToldApart apart{std::vector<bool>(9, true), std::vector<bool>(3, false)};
  for (State state = 0; state < 3; ++state) apart.pairs[state * 3 + state] = false;
  CHECK(crossing_idempotents(first, 100, apart).found);
  ToldApart alike = apart;
  alike.pairs.assign(9, false);
  CHECK(!crossing_idempotents(first, 100, alike).found);
  ToldApart dead = apart;
  dead.is_dead[first.next(0, 0)] = true;
  CHECK(!crossing_idempotents(first, 100, dead).found);
}

TEST_CASE("orders that are enormous are passed over") {
  // A permutation of order 2 · 3 · 5 · 7 · 11 · 13 = 30,030 on 41 states, and letters that merge.
  std::vector<State> table;
  State at = 0;
  for (const State length : {2U, 3U, 5U, 7U, 11U, 13U}) {
    for (State i = 0; i < length; ++i) {
      table.push_back(at + (i + 1) % length);
      table.push_back(0);
      table.push_back(at + i == 1 ? 0 : at + i);
    }
    at += length;
  }
  std::vector<Output> outputs;
  std::vector<std::string> names;
  for (State state = 0; state < at; ++state) {
    outputs.push_back(state);
    names.push_back(std::to_string(state));
  }
  const Dfa dfa = Dfa::moore(Alphabet::of_characters("abc"), std::move(table), 0, std::move(outputs), std::move(names));
  const CrossingSearch search = crossing_idempotents(dfa, 3000);
  CHECK(!search.is_complete);
}

// Every verdict on every small automaton, against the definitions by brute force.

TEST_CASE("verdicts on every language of at most three states over two letters, two over three, four over one") {
  Tally tally;
  const auto check = [&](const Dfa& dfa) {
    for (std::uint32_t set = 0; set < 1U << dfa.states(); ++set)
      if (const Dfa minimal = minimise(accepting(dfa, set)); minimal.states() == dfa.states())
        check_verdicts(minimal, tally);
  };
  for (State n = 1; n <= 3; ++n) for_all_tables(n, 2, check);
  for (State n = 1; n <= 2; ++n) for_all_tables(n, 3, check);
  for (State n = 1; n <= 4; ++n) for_all_tables(n, 1, check);
  CHECK_MESSAGE(tally.wrong.empty(), tally.faults());
  CHECK(tally.skipped == 0);
  MESSAGE(tally.verdicts << " verdicts");
}

TEST_CASE("verdicts on random automata of four to six states, where groups and limits are richer") {
  Tally tally;
  std::mt19937 random(11);
  for (int drawn = 0; drawn < 300; ++drawn) {
    const Dfa dfa = random_automaton(random, 4 + static_cast<State>(random() % 3), 2);
    check_verdicts(minimise(accepting(dfa, static_cast<std::uint32_t>(random()))), tally, 150);
  }
  CHECK_MESSAGE(tally.wrong.empty(), tally.faults());
  CHECK(tally.skipped < 200);
}

// Synchronising words, against a breadth-first search over whole maps.

namespace {

using Images = std::vector<State>;

/// The length of a shortest word that takes all states to one, by the power automaton.
std::optional<std::size_t> shortest_length(const Dfa& dfa) {
  Images all(dfa.states());
  for (State state = 0; state < dfa.states(); ++state) all[state] = state;
  std::map<Images, std::size_t> length{{all, 0}};
  std::vector<Images> queue{all};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const Images from = queue[i];
    if (from.size() == 1) return length.at(from);
    for (Letter letter = 0; letter < dfa.letters(); ++letter) {
      Images to;
      for (const State state : from) to.push_back(dfa.next(state, letter));
      std::sort(to.begin(), to.end());
      to.erase(std::unique(to.begin(), to.end()), to.end());
      if (length.emplace(to, length.at(from) + 1).second) queue.push_back(to);
    }
  }
  return std::nullopt;
}

bool takes_all_to_one(const Dfa& dfa, const Word& word) {
  for (State state = 0; state < dfa.states(); ++state)
    if (dfa.run(word, state) != dfa.run(word, 0)) return false;
  return true;
}

void check(const Dfa& dfa) {
  const auto expected = shortest_length(dfa);
  const Synchronisation found = synchronise(dfa), greedy = synchronise(dfa, 0);
  CHECK(found.answer == (expected ? Answer::kYes : Answer::kNo));
  CHECK(greedy.answer == found.answer);
  if (!expected) {
    CHECK(found.first != found.second);
    return;
  }
  CHECK(found.is_shortest);
  CHECK(found.word.size() == *expected);
  CHECK(takes_all_to_one(dfa, found.word));
  CHECK(greedy.is_shortest == (*expected <= 1));
  CHECK(greedy.word.size() >= *expected);
  CHECK(takes_all_to_one(dfa, greedy.word));
}

/// Černý's automaton: its shortest synchronising word has (n − 1)² letters.
Dfa cerny(State states) {
  std::vector<State> table;
  for (State state = 0; state < states; ++state) {
    table.push_back((state + 1) % states);
    table.push_back(state == 0 ? 1 % states : state);
  }
  return Dfa::acceptor(first_letters(2), std::move(table), 0, std::vector<bool>(states));
}

}  // namespace

TEST_CASE("every automaton of up to four states and two letters, or three and three") {
  for (State n = 1; n <= 4; ++n) for_all_tables(n, 2, check);
  for (State n = 1; n <= 2; ++n) for_all_tables(n, 3, check);
  for (State n = 1; n <= 4; ++n) for_all_tables(n, 1, check);
  check(Dfa::acceptor(Alphabet(), {}, 0, {true}));
  check(Dfa::acceptor(Alphabet(), {}, 0, {true, false}));
}

TEST_CASE("Černý's automata, to where sets of states are too many") {
  for (const State n : {2, 3, 4, 5, 10, 16}) {
    const Synchronisation found = synchronise(cerny(n));
    CHECK(found.is_shortest);
    CHECK(found.word.size() == std::size_t{n - 1} * (n - 1));
  }
  CHECK(in_words(cerny(4), synchronise(cerny(4))) == "by \"baaabaaab\", 9 letters, the shortest");
  const Dfa large = cerny(60);
  const Synchronisation greedy = synchronise(large);
  CHECK(greedy.answer == Answer::kYes);
  CHECK_FALSE(greedy.is_shortest);
  CHECK(greedy.word.size() >= 59 * 59);
  CHECK(takes_all_to_one(large, greedy.word));
  CHECK(test::contains(in_words(large, greedy), "; a shorter word may exist"));
}

TEST_CASE("random automata, and where the pairs are too many") {
  Dice dice(91);
  for (int i = 0; i < 200; ++i) check(random_acceptor(dice, 2 + dice.below(9), 1 + dice.below(3)));
  const State many = 20'000;
  const auto under = [&](std::vector<State> table) {
    return synchronise(Dfa::acceptor(first_letters(1), std::move(table), 0, std::vector<bool>(many)));
  };
  std::vector<State> table(many, 7);
  CHECK(under(table).word == Word{0});  // one letter is found all the same
  table[5] = 8;
  CHECK(under(table).word == Word{0, 0});  // so is a state that every word stays in
  CHECK(under(table).is_shortest);
  table[7] = 9;
  table[9] = 7;
  const Synchronisation open = under(table);
  CHECK(open.answer == Answer::kUnknown);
  CHECK(open.limit == "the pairs of 20,000 states are too many to compare under 1 letter");
  table[9] = 9;
  table[8] = 8;
  const Synchronisation apart = under(table);  // two states that every word stays in
  CHECK(apart.answer == Answer::kNo);
  CHECK(std::pair(apart.first, apart.second) == std::pair(State{8}, State{9}));
}

TEST_CASE("orders of words on states: permutations of them, and words that leave or merge them") {
  // 0 → 1 → 2 → 0 under the first letter, 3 and 4 swapped; the second letter merges.
  const Dfa dfa = automaton({{1, 2, 0, 4, 3}, {0, 0, 2, 3, 4}}, 5);
  const Word turn{0}, twice{0, 0}, sixth{0, 0, 0, 0, 0, 0}, merge{1};
  CHECK(order_on(dfa, turn, std::vector<State>{0, 1, 2}) == 3);
  CHECK(order_on(dfa, turn, std::vector<State>{0, 1, 2, 3, 4}) == 6);
  CHECK(order_on(dfa, twice, std::vector<State>{0, 1, 2, 3, 4}) == 3);
  CHECK(order_on(dfa, sixth, std::vector<State>{0, 1, 2, 3, 4}) == 1);
  CHECK(order_on(dfa, turn, std::vector<State>{0, 1}) == 0);   // leaves them
  CHECK(order_on(dfa, merge, std::vector<State>{0, 1}) == 0);  // merges them
  CHECK(order_on(dfa, merge, std::vector<State>{0, 2}) == 1);
  CHECK(cycle_lengths(images_of_word(dfa, turn)) == std::vector<std::uint64_t>{2, 3});
  CHECK(cycle_lengths(images_of_word(dfa, merge)) == std::vector<std::uint64_t>{1});
  CHECK(is_idempotent_word(dfa, merge));
  CHECK_FALSE(is_idempotent_word(dfa, twice));
  CHECK(is_idempotent_word(dfa, sixth));
}

TEST_CASE("multiples and regular elements, by breadth-first search with a limit") {
  // {0, 1, 2}: a goes on to the sink 2, b rests.
  const Dfa dfa = automaton({{1, 2, 2}, {0, 1, 2}}, 3);
  const Word one, a{0}, aa{0, 0}, aaa{0, 0, 0};
  CHECK(left_multiple(dfa, a, aa, 10) == true);
  CHECK(left_multiple(dfa, aa, a, 10) == false);
  CHECK(left_multiple(dfa, a, aaa, 1) == std::nullopt);
  CHECK(is_regular_word(dfa, a, 10) == false);
  CHECK(is_regular_word(dfa, aa, 10) == true);  // the constant
  CHECK(is_regular_word(dfa, one, 10) == true);
}

TEST_CASE("coprime orders speak against solvable groups, and only against them") {
  struct Fact {
    const char* name;
    bool solvable;
  };
  for (const auto& [name, solvable] : {Fact{"S4/points", true},
                                       {"D4/points", true},
                                       {"A4/points", true},
                                       {"A5/points", false},
                                       {"S5/points", false},
                                       {"PSL(2,7)/points", false},
                                       {"A7/points", false},
                                       {"M11/points", false},
                                       {"S8/points", false}}) {
    CAPTURE(name);
    const Dfa dfa = named_language(name);
    std::vector<GreenStructure::Loop> loops;
    std::vector<State> states;
    for (State state = 0; state < dfa.states(); ++state) states.push_back(state);
    for (Letter letter = 0; letter < dfa.letters(); ++letter)
      loops.push_back({{letter}, dfa.letter_map(letter).to_permutation()});
    const auto words = coprime_words(loops);
    CHECK(words.has_value() != solvable);
    if (words) CHECK(has_coprime_orders(dfa, words->first, words->second, states));
    const auto odd = odd_word(loops);
    CHECK(odd.has_value() == (std::string(name) != "D4/points"));
  }
}

TEST_CASE("has_coprime_orders refuses what is not coprime, or trivial") {
  // A_5: (1 2)(3 4), (1 3 5) and a 5-cycle.
  const Dfa dfa = named_language("A5/points");
  const std::vector<State> states{0, 1, 2, 3, 4};
  const Word one{};
  for (Letter letter = 0; letter < dfa.letters(); ++letter) {
    const Word word{letter};
    CHECK_FALSE(has_coprime_orders(dfa, word, word, states));
    CHECK_FALSE(has_coprime_orders(dfa, word, one, states));
    CHECK_FALSE(has_coprime_orders(dfa, one, word, states));
  }
}
