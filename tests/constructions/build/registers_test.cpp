// One layer of registers: built for all small languages in which no idempotents cross, right and of norm 1, and never
// for one in which they do.

#include "krohn/automata/language.h"
#include "krohn/automata/monoid/witness_check.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/constructions/build/builders.h"
#include "krohn/constructions/build/find_registers.h"
#include "krohn/constructions/network/exactness.h"
#include "tests/algebra_campaign.h"
#include "tests/constructions/reference.h"
#include "tests/constructions/sample_automata.h"
#include "tests/testing.h"

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

/// How many of all automata of that many states over two letters have registers; every one in which no idempotents
/// cross does, with at most `most` numbers.
int built_of_all(State states, std::uint64_t most) {
  int built = 0;
  for_all_tables(states, 2, [&](const Dfa& dfa) {
    if (canonical(dfa).states() < dfa.states()) return;
    const bool is_uncrossed = right_regular_idempotents(dfa, 100'000).answer == Answer::kYes;
    try {
      const Network network = build_registers(dfa);
      check_network(network);
      CHECK(is_uncrossed);
      CHECK(size_of(network).state_numbers <= most);
      ++built;
    } catch (const InputError& error) {
      CHECK_MESSAGE(!is_uncrossed, error.what());
    }
  });
  return built;
}

}  // namespace

TEST_CASE("all automata of two and three states over two letters: those in which no idempotents cross, and no others") {
  CHECK(built_of_all(2, 2) == 12);
  CHECK(built_of_all(3, 4) == 268);
}

/// Some minutes: test_constructions -tc="all automata of four states*" --no-skip
TEST_CASE("all automata of four states over two letters" * doctest::skip()) { CHECK(built_of_all(4, 24) == 9876); }

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
    } catch (const LimitError&) {
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

TEST_CASE("registers that hold more of a word than its state") {
  struct Fact {
    std::vector<std::vector<State>> maps;
    std::uint64_t most;
  };
  for (const auto& [maps, most] :
       {Fact{{{2, 3, 0, 3}, {1, 2, 2, 2}}, 12},  // small blocks, found by counterexamples
        Fact{{{1, 0, 3, 0}, {1, 2, 1, 0}}, 12},
        Fact{{{3, 3, 2, 0}, {2, 2, 1, 0}}, 24},  // blocks of a group of six elements, in thousands of contents
        Fact{{{0, 2, 1, 1}, {3, 2, 0, 0}}, 24}}) {
    const Dfa dfa = automaton_of_maps(maps);
    const Network network = build_registers(dfa);
    check_network(network);
    CHECK(size_of(network).state_numbers <= most);
    CHECK(codeword_count(network.layers[0]) > dfa.states());
    CHECK(build_registers(dfa).readout.next == network.readout.next);  // the same every time
  }
}

TEST_CASE("blocks tell the states apart exactly where no contents are of two of them") {
  // Parity of a, and the last letter: a block that holds one of them confuses states of the other.
  const Dfa dfa = automaton_of_maps({{3, 3, 1, 1}, {0, 0, 2, 2}});  // 2·parity + (last letter is a)
  const TrackedStates tracked = tracked_states(dfa);
  const RegisterBlock parity{{{{0, true}}, {{0, false}}}, std::string(1, 0)},
      last{{{{std::nullopt, true}}, {{std::nullopt, false}}}, std::string(1, 0)};
  const auto count = [&](std::vector<RegisterBlock> blocks, std::size_t limit) {
    return register_states(tracked, blocks, limit).confusions(100).size();
  };
  CHECK(count({}, 100) == 6);
  CHECK(count({parity}, 100) == 2);
  CHECK(count({last}, 100) == 2);
  CHECK(count({parity, last}, 100) == 0);
  CHECK(register_states(tracked, std::vector{parity, last}, 4).is_complete);
  CHECK(!register_states(tracked, std::vector{parity, last}, 3).is_complete);
  // Of what is known, what is to spare goes; where there is no room for all contents, nothing is found.
  const auto found = find_registers(tracked, {parity, last, parity}, 4);
  REQUIRE(found);
  CHECK(found->size() == 2);
  CHECK(!find_registers(tracked, {parity, last}, 3));
}

TEST_CASE(
    "a group of idempotents, and its blocks: what a word meets first, by reading it, on all words of eight letters") {
  const TrackedStates tracked = tracked_states(automaton_of_maps({{3, 3, 2, 0}, {2, 2, 1, 0}}));
  const std::optional<RegisterArrows> group = group_of_idempotents(tracked, 100'000'000);
  REQUIRE(group);
  const std::size_t order = (*group)[0].size(), none = 2 * order;
  CHECK(order == 6);
  CHECK(!group_of_idempotents(tracked, 100));  // not in so few steps
  const RegisterBlock element = registers_of({true, 0, 0}, *group);
  const auto behind = [](const RegisterBlock& block, const std::vector<Action>& word) {
    std::string held = block.start, holds = held;
    for (const Action action : word) {
      block.move(action, held.data(), holds.data());
      held = holds;
    }
    return held;
  };
  std::map<int, std::string> contents;  // of `element`, by the group's element
  int idempotents = 0;
  for (std::uint32_t code = 1; code < 512; ++code) {
    std::vector<Action> word;
    Transformation map = Transformation::identity(4);
    for (std::uint32_t rest = code; rest > 1; rest /= 2) {
      word.push_back(rest % 2);
      map = map * tracked.maps[rest % 2];
    }
    // By reading: the arrows in the order in which they are met.
    std::vector<std::size_t> met;
    int at = 0;
    for (std::size_t i = word.size(); i-- > 0;) {
      met.push_back(word[i] * order + static_cast<std::size_t>(at));
      at = (*group)[word[i]][static_cast<std::size_t>(at)];
    }
    const FirstMet first(*group, word);
    CHECK(first.element == at);
    if (at == 0) {
      ++idempotents;
      CHECK(map * map == map);
    }
    CHECK(contents.emplace(at, behind(element, word)).first->second == behind(element, word));
    for (std::size_t one = 0; one < none; ++one)
      for (std::size_t other = 0; other <= none; ++other) {
        if (one == other) continue;
        const auto stop = std::ranges::find_if(met, [&](std::size_t arrow) { return arrow == one || arrow == other; });
        const bool is_one = stop != met.end() && *stop == one;
        CHECK((first.when[one] < first.when[other]) == is_one);
        CHECK((behind(registers_of({false, one, other}, *group), word)[0] != 0) == is_one);
      }
  }
  CHECK(contents.size() == order);
  CHECK(idempotents > 20);
  std::set<std::string> different;
  for (const auto& [at, held] : contents) different.insert(held);
  CHECK(different.size() == order);
}

TEST_CASE("what is refused, and why") {
  CHECK_THROWS_WITH_AS(build_registers(language("regex:a(a|b)*")),
                       doctest::Contains("with e = \"a\" and f = \"b\", efe and fe differ"), InputError);
  CHECK_THROWS_WITH_AS(build_registers(counter(1, {0, 0})), doctest::Contains("no register"), InputError);
  CHECK_THROWS_AS(build_registers(language("name:rsm:m=10,seed=1")), InputError);
  // There are some: not "impossible", but a limit.
  const Dfa uncrossed = automaton_of_maps({{2, 1, 1}, {0, 2, 1}, {1, 0, 0}});
  CHECK(right_regular_idempotents(uncrossed, 1'000).answer == Answer::kYes);
  CHECK_THROWS_WITH_AS(build_registers(uncrossed), doctest::Contains("though there are some"), LimitError);
}
