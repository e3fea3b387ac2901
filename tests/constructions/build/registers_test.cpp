// One layer of registers: built exactly where registers that letters move one to one tell the states apart, right, of
// norm 1, and never for a language in which idempotents cross.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <numeric>
#include <random>

#include "krohn/automata/language.h"
#include "krohn/automata/monoid/crossing_idempotents.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/constructions/build/builders.h"
#include "krohn/constructions/exactness/exactness.h"
#include "krohn/groups/error.h"
#include "tests/algebra_campaign.h"
#include "tests/constructions/reference.h"
#include "tests/constructions/sample_automata.h"

using namespace krohn;

namespace {

/// Every row and every column has one entry at most, ±1.
bool is_signed_partial_permutation(const LongMatrix& a) {
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    int row = 0, column = 0;
    for (Eigen::Index j = 0; j < a.cols(); ++j) {
      row += a(i, j) != 0;
      column += a(j, i) != 0;
      if (a(i, j) != 0 && std::abs(a(i, j)) != 1) return false;
    }
    if (row > 1 || column > 1) return false;
  }
  return true;
}

void check_network(const Network& network) {
  CHECK(closure_error(network) == 0);
  CHECK(exact_precisions(network).size() == 4);
  for (const Transition& transition : network.layers.at(0).transitions) {
    const LongMatrix a = to_dense(transition.a);
    CHECK(is_signed_partial_permutation(a));
    // A reflection for each register that is written, and one for each that another moves into, but one of a cycle.
    CHECK(reflection_count(transition.a) <= a.rows());
    const Eigen::MatrixXd& b = transition.b;
    for (Eigen::Index i = 0; i < b.rows(); ++i)
      if (b(i, 0) != 0) CHECK(a.row(i).isZero(0));
  }
  check_random_word(network, 3, 60);
}

Dfa language(const char* name) { return minimise(load_language(name)); }

}  // namespace

TEST_CASE("all automata of two and three states over two letters: as many as by brute force, and none that crosses") {
  int built = 0, uncrossed = 0;
  const auto check = [&](const Dfa& dfa) {
    if (canonical(dfa).states() < dfa.states()) return;
    const bool is_uncrossed = analyse(dfa).verdict("right regular idempotents").answer == Answer::kYes;
    uncrossed += is_uncrossed;
    try {
      check_network(build_registers(dfa));
      ++built;
      CHECK(is_uncrossed);
    } catch (const InputError&) {
    }
  };
  for_all_tables(2, 2, check);
  CHECK(built == 12);
  built = uncrossed = 0;
  for_all_tables(3, 2, check);
  CHECK(built == 234);
  CHECK(uncrossed == 268);
}

TEST_CASE("random automata of four to twelve states") {
  std::mt19937 random(29);
  int built = 0;
  for (int drawn = 0; drawn < 400; ++drawn) {
    // Letters that permute, or take all states to one, or merge two.
    const State states = 4 + static_cast<State>(random() % 9);
    std::vector<State> table(std::size_t{states} * 2);
    for (Letter letter = 0; letter < 2; ++letter) {
      std::vector<State> images(states);
      std::iota(images.begin(), images.end(), State{0});
      std::shuffle(images.begin(), images.end(), random);
      const unsigned kind = random() % 4;
      if (kind == 0) images.assign(states, static_cast<State>(random() % states));
      if (kind == 1) images[0] = images[1];
      for (State q = 0; q < states; ++q) table[std::size_t{q} * 2 + letter] = images[q];
    }
    std::vector<Output> outputs;
    std::vector<std::string> names;
    for (State q = 0; q < states; ++q) outputs.push_back(q), names.push_back(std::to_string(q));
    const Dfa dfa =
        canonical(Dfa::moore(Alphabet::of_characters("ab"), std::move(table), 0, std::move(outputs), std::move(names)));
    if (dfa.states() < 3) continue;
    try {
      check_network(build_registers(dfa));
      ++built;
      CHECK(!crossing_idempotents(dfa, 300).found);
    } catch (const InputError&) {
    }
  }
  CHECK(built > 80);
}

TEST_CASE("how many registers, and how many reflections a letter takes") {
  struct Fact {
    const char* name;
    std::uint64_t numbers;
    std::int64_t reflections;
  };
  for (const auto& [name, numbers, reflections] :
       {Fact{"name:parity", 1, 1}, Fact{"name:T2", 1, 1}, Fact{"regex:(a|b)*abb", 3, 3}, Fact{"regex:(a|b)*a", 1, 1},
        Fact{"name:saturating4", 3, 3}, Fact{"name:rsm:m=2,seed=1", 2, 2}, Fact{"name:Z5", 5, 4},
        Fact{"name:dyck:types=2,depth=3", 15, 15}}) {
    CAPTURE(name);
    const Network network = build_registers(language(name));
    const NetworkSize size = size_of(network);
    CHECK(size.layers == 1);
    CHECK(size.state_numbers == numbers);
    CHECK(size.reflections_per_token == reflections);
  }
}

TEST_CASE("what is refused, and why") {
  CHECK_THROWS_WITH_AS(build_registers(language("regex:a(a|b)*")), doctest::Contains("states 1 and 2 apart"),
                       InputError);
  CHECK_THROWS_WITH_AS(build_registers(counter(1, {0, 0})), doctest::Contains("no register"), InputError);
  CHECK_THROWS_AS(build_registers(language("name:rsm:m=10,seed=1")), InputError);
}
