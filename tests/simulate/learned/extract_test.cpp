// What is extracted from a network is what it computes: the minimal automaton of a compiled language, and of a network
// that drifts the one it follows for a while, with a word that shows where it leaves.

#include "krohn/simulate/learned/extract_automaton.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "krohn/automata/language.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/constructions/build/build_rotation.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/learned/state_centres.h"

using namespace krohn;

namespace {

Network built(const Dfa& dfa, const char* construction) {
  BuildOptions wishes;
  if (*construction != '\0') wishes.construction = construction;
  return build(dfa, wishes);
}

/// A machine that answers as the automaton does.
OutputOracle oracle_of(const Dfa& dfa) {
  return [&dfa](std::span<const Letter> word, std::span<Output> outputs) {
    State state = dfa.initial();
    for (std::size_t t = 0;; ++t) {
      outputs[t] = dfa.output(state);
      if (t == word.size()) return;
      state = dfa.next(state, word[t]);
    }
  };
}

/// Z_m in one plane that letter w turns by w/m and a little more.
Network drifting(const Dfa& group, double error) {
  Network network = build_rotation(group);
  for (Transition& transition : network.layers[0].transitions) {
    Eigen::MatrixXd a = to_dense(transition.a).cast<double>();
    const double c = std::cos(error), s = std::sin(error);
    transition.a = DenseMatrix{(Eigen::Matrix2d() << c, -s, s, c).finished() * a};
  }
  return network;
}

ExtractOptions quick() {
  ExtractOptions options;
  options.words = 200;
  options.length = 30;
  options.beyond = 2000;
  return options;
}

}  // namespace

TEST_CASE("extracting a compiled language gives its minimal automaton, exactly") {
  struct Fact {
    const char *language, *construction;
  };
  for (const auto& [language, construction] :
       {Fact{"regex:(a|b)*abb", ""}, Fact{"regex:(ab)*", "cascade-holonomy"}, Fact{"regex:a*", ""},
        Fact{"name:parity", ""}, Fact{"name:tomita1", ""}, Fact{"name:tomita4", "cascade-chain"},
        Fact{"name:tomita5", ""}, Fact{"name:tomita6", "one-hot"}, Fact{"name:Z5", ""},
        Fact{"name:Z6", "rotation-primary"}, Fact{"name:S3", "permutation"}, Fact{"name:D4", ""}, Fact{"name:Q8", ""},
        Fact{"name:modarith3", ""}, Fact{"name:sum5", ""}, Fact{"name:random:m=6,seed=2", "one-hot"}}) {
    CAPTURE(language);
    CAPTURE(construction);
    const Dfa dfa = load_language(language);
    const Network network = built(dfa, construction);
    const Extraction found = extract_automaton(network, Precision::kFp32, quick());
    CHECK(found.automaton == minimise(dfa));
    CHECK(!found.beyond);
    if (std::string(construction) != "rotation-primary") CHECK(found.is_exact());
  }
}

TEST_CASE("the automaton in the file is not looked at") {
  const Dfa five = load_language("name:Z5");
  Network network = built(five, "permutation");
  // The same outputs by name, but a file that claims that every letter does nothing.
  std::vector<State> table;
  for (State state = 0; state < five.states(); ++state) table.insert(table.end(), five.letters(), state);
  network.automaton = Dfa::moore(five.alphabet(), table, five.initial(), {five.outputs().begin(), five.outputs().end()},
                                 {five.output_names().begin(), five.output_names().end()});
  CHECK(extract_automaton(network, Precision::kFp32, quick()).automaton == minimise(five));
}

TEST_CASE("the least distance of two points is that of all pairs") {
  std::mt19937 random(5);
  for (int round = 0; round < 3000; ++round) {
    const Eigen::Index rows = 1 + round % 4, columns = round % 9;
    Eigen::MatrixXd points(rows, columns);
    // Few values, so that points coincide and many agree in the row that is looked at first.
    const int values = round % 3 == 0 ? 1000 : 3;
    for (double& number : points.reshaped()) number = static_cast<int>(random() % static_cast<unsigned>(values)) - 1;
    double least = std::numeric_limits<double>::infinity();
    for (Eigen::Index i = 0; i < columns; ++i)
      for (Eigen::Index j = 0; j < i; ++j) least = std::min(least, (points.col(i) - points.col(j)).norm());
    if (least_distance(points) != (columns < 2 ? 0 : least)) {
      CAPTURE(points);
      FAIL("another distance");
    }
  }
  CHECK(least_distance(Eigen::MatrixXd::Identity(50, 50)) == std::sqrt(2.0));
}

TEST_CASE("a network that drifts is followed as far as it holds, and the word where it leaves is shown") {
  const Dfa five = load_language("name:Z5");
  const Network network = drifting(five, 2 * std::numbers::pi / 5 / 2 / 100);  // half a state away after 100 letters
  const Extraction found = extract_automaton(network, Precision::kFp64, quick());
  CHECK(found.automaton == minimise(five));
  CHECK(!found.is_exact());
  CHECK(found.all_up_to >= 5);
  REQUIRE(found.beyond);
  CHECK(found.beyond->word.size() >= 99);
  CHECK(found.beyond->word.size() <= 102);
  CHECK(found.beyond->machine != found.beyond->automaton);
  const StateCentres centres = state_centres(network, found.automaton, Precision::kFp64);
  CHECK(centres.spread > 0.01);
  CHECK(centres.spread < least_distance(centres.centres));

  // bf16 refutes the rotation itself after 249 letters (MATH.md §5); where its states are finitely many, no shorter
  // word than the one found is wrong.
  const Extraction rounded = extract_automaton(build_rotation(five), Precision::kBf16, quick());
  CHECK(rounded.automaton == minimise(five));
  REQUIRE(rounded.beyond);
  CHECK(rounded.beyond->word.size() >= 249);
  if (rounded.network_states) CHECK(rounded.beyond->word.size() == 249);
}

TEST_CASE("the learner finds random automata by asking") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const Dfa dfa = load_language("name:random:m=12,seed=" + std::to_string(seed));
    const std::vector<std::string> names(dfa.output_names().begin(), dfa.output_names().end());
    const Extraction found = extract_by_asking(dfa.alphabet(), names, oracle_of(dfa), quick(), &dfa);
    CHECK(found.automaton == minimise(dfa));
    CHECK(found.is_exact());
  }
}

TEST_CASE("the learner asks about many words at once, and as many as it counts") {
  const Dfa five = minimise(load_language("name:S3"));
  std::uint64_t asked = 0, calls = 0;
  AutomatonLearner learner(
      five.letters(),
      [&](std::span<const Word> words, std::span<Output> answers) {
        REQUIRE(words.size() == answers.size());
        ++calls, asked += words.size();
        for (std::size_t i = 0; i < words.size(); ++i) answers[i] = five.output(five.run(words[i]));
      },
      100);
  CHECK(asked == learner.questions());
  // The empty word, the successors of the start, and those of all the other elements.
  CHECK(calls == 3);
  CHECK(asked == 1 + std::uint64_t{five.states()} * five.letters());
  CHECK(learner.hypothesis(five.alphabet(), {five.output_names().begin(), five.output_names().end()}) == five);
}

TEST_CASE("more states than the limit are refused") {
  ExtractOptions options = quick();
  options.max_states = 4;
  const Network network = built(load_language("name:Z5"), "permutation");
  CHECK_THROWS_WITH_AS(extract_automaton(network, Precision::kFp32, options), doctest::Contains("more than 4 states"),
                       LimitError);
}
