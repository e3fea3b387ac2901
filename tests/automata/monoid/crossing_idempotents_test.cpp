#include "krohn/automata/monoid/crossing_idempotents.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <map>
#include <random>

#include "krohn/automata/language.h"
#include "krohn/automata/operations/minimise.h"
#include "tests/algebra_campaign.h"

using namespace krohn;

namespace {

constexpr std::size_t kMost = 4;  ///< numbers of a layer
using Numbers = std::array<double, kMost>;

/// h ↦ A h + b.
struct AffineMap {
  std::array<Numbers, kMost> matrix{};
  Numbers added{};

  Numbers operator()(const Numbers& h) const {
    Numbers image = added;
    for (std::size_t i = 0; i < kMost; ++i)
      for (std::size_t j = 0; j < kMost; ++j) image[i] += matrix[i][j] * h[j];
    return image;
  }
};

/// A product of generalized Householders I − β k kᵀ with β = 1 or 2 and keys e_i and (e_i ± e_j)/√2, which is exact in
/// dyadic numbers, and something added.
AffineMap random_contraction(std::mt19937& random, std::size_t numbers) {
  AffineMap map;
  for (std::size_t i = 0; i < kMost; ++i) map.matrix[i][i] = 1;
  for (std::size_t factors = random() % 4; factors > 0; --factors) {
    Numbers key{};
    const std::size_t i = random() % numbers, j = random() % numbers;
    key[i] = 1;
    if (i != j) key[j] = random() % 2 == 0 ? 1 : -1;
    const double beta = 1 + static_cast<double>(random() % 2), square = i == j ? 1 : 2;
    std::array<Numbers, kMost> product = map.matrix;
    for (std::size_t column = 0; column < kMost; ++column) {
      double along = 0;
      for (std::size_t row = 0; row < kMost; ++row) along += key[row] * map.matrix[row][column];
      for (std::size_t row = 0; row < kMost; ++row) product[row][column] -= beta * along * key[row] / square;
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
    const std::size_t numbers = 1 + random() % kMost;
    std::vector<AffineMap> letters;
    for (std::size_t letter = 2 + random() % 2; letter > 0; --letter)
      letters.push_back(random_contraction(random, numbers));
    const std::optional<Dfa> dfa = reached(letters, 32);
    if (!dfa || dfa->states() < 3) continue;
    ++finite;
    merging += !dfa->is_permutation_automaton();
    AlgebraOptions options;
    options.green.max_r_classes = 2000;
    const Algebra algebra = analyse_within_limits(*dfa, options);
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
