// Silenced coordinates of a head of reflections, and turned pairs of keys: at each bound and one step past it, and
// never to another product.

#include <Eigen/Geometry>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/simulate/closing/close_reflections.h"
#include "krohn/simulate/tasks/tasks.h"
#include "tests/testing.h"

using namespace krohn;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

VectorXd unit(Eigen::Index size, double angle) {
  VectorXd vector = VectorXd::Zero(size);
  vector.head(2) << std::cos(angle), std::sin(angle);
  return vector;
}

VectorXd one(double x) { return VectorXd::Constant(1, x); }

MatrixXd read(MatrixXd state, const LetterOfHead& letter) {
  for (const HeadReflection& part : letter.reflections)
    state += part.beta * part.key * (part.value - state.transpose() * part.key).transpose();
  return state;
}

}  // namespace

TEST_CASE("a reflection is silenced that moves states by a tenth of the greatest move, and by more it is not") {
  const TaskAutomaton input = input_machine(*make_task("parity"));
  REQUIRE(input.inputs.size() == 2);
  for (const double share : {0.099, 0.101}) {
    // Letter 0 swaps 0 and 1 along the first axis, letter 1 swaps 0 and `share` along the second.
    Head head;
    head.letters.resize(4);
    for (LetterOfHead& letter : head.letters) letter.reflections.push_back({unit(2, 0), one(0), 0});
    head.letters[input.inputs[0]].reflections = {{unit(2, 0), one(0.5), 2}};
    head.letters[input.inputs[1]].reflections = {{unit(2, std::acos(-1) / 2), one(share / 2), 2}};
    const double lost = silence_idle(head, input);
    CHECK(head.letters[input.inputs[0]].reflections[0].beta == 2);
    CHECK(head.letters[input.inputs[1]].reflections[0].beta == (share < 0.1 ? 0 : 2));
    CHECK(lost == doctest::Approx(share < 0.1 ? share : 0));
  }
}

TEST_CASE("turned pairs have the product that they had, and the first letter's first key where their plane has it") {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  const auto numbers = [&](Eigen::Index size) {
    VectorXd vector(size);
    for (double& x : vector) x = normal(random);
    return vector;
  };
  for (int round = 0; round < 20; ++round) {
    Head head;
    for (int letter = 0; letter < 3; ++letter) {
      // All letters turn the plane of the first two axes.
      const double angle = normal(random);
      head.letters.push_back(
          {{{unit(4, angle), numbers(3), 2}, {unit(4, angle + 0.3 + letter), numbers(3), 2}}, numbers(4)});
    }
    const Head before = head;
    align_turns(head, {0, 1, 2});
    MatrixXd state(4, 3);
    for (double& x : state.reshaped()) x = normal(random);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK((read(state, head.letters[i]) - read(state, before.letters[i])).cwiseAbs().maxCoeff() < 1e-9);
      CHECK((head.letters[i].reflections[0].key - before.letters[0].reflections[0].key).norm() < 1e-9);
      CHECK(head.letters[i].reflections[1].key.norm() == doctest::Approx(1));
    }
  }
}

TEST_CASE("keys within a tenth of one direction, and planes with less than half of the first key, are left alone") {
  const auto pair = [](const VectorXd& a, const VectorXd& b) {
    return LetterOfHead{{{a, one(0), 2}, {b, one(0), 2}}, VectorXd::Zero(4)};
  };
  const auto is_turned = [](const LetterOfHead& first, const LetterOfHead& second) {
    Head head{{first, second}};
    align_turns(head, {0, 1});
    return (head.letters[1].reflections[0].key - second.reflections[0].key).norm() > 1e-9;
  };
  const LetterOfHead first = pair(unit(4, 0), unit(4, 1));
  for (const double sine : {0.099, 0.101})
    CHECK(is_turned(first, pair(unit(4, 0.5), unit(4, 0.5 + std::asin(sine)))) == (sine > 0.1));
  for (const double shared : {0.499, 0.501}) {
    // A plane through the third and fourth axis, tilted so that so much of the first axis lies in it.
    VectorXd tilted = VectorXd::Zero(4);
    tilted(0) = shared, tilted(2) = std::sqrt(1 - shared * shared);
    CHECK(is_turned(first, pair(VectorXd::Unit(4, 3), tilted)) == (shared > 0.5));
  }
  // Nothing but two full reflections is a turn.
  LetterOfHead half = pair(unit(4, 0.5), unit(4, 1));
  half.reflections[1].beta = 1;
  CHECK_FALSE(is_turned(first, half));
  LetterOfHead single{{{unit(4, 0.5), one(0), 2}}, VectorXd::Zero(4)};
  CHECK_FALSE(is_turned(first, single));
}

namespace {

/// Two reflections a letter: letter k turns the plane by `angle` k, and a word begins at (1, 0), written by the token
/// before it.
Head counting_head(const Task& task, double angle) {
  const TaskAutomaton input = input_machine(task);
  Head head;
  head.letters.resize(task.alphabet().size(), LetterOfHead{{{unit(2, 0), one(0), 0}, {unit(2, 0), one(0), 0}}, {}});
  for (std::size_t k = 0; k < input.inputs.size(); ++k)
    head.letters[input.inputs[k]].reflections = {{unit(2, 0), one(0), 2},
                                                 {unit(2, angle * static_cast<double>(k) / 2), one(0), 2}};
  for (const Letter letter : input.before) head.letters[letter].reflections[0] = {unit(2, 0), one(1), 1};
  return head;
}

}  // namespace

TEST_CASE("a head that follows the automaton is kept, one that does not is silenced where the rest is enough") {
  const auto task = make_task("Z3");
  const TaskAutomaton input = input_machine(*task);
  const TrackedAutomaton tracked = tracked_automaton(*task, input.automaton);
  const auto counter = [&](double angle) { return counting_head(*task, angle); };
  const double third = 2 * std::acos(-1) / 3;
  const Head right = counter(third), still = counter(0), half = counter(1.5 * third), never = counter(1);
  const auto held_by = [&](const Head& head, std::size_t most) {
    const Head* const own = &head;
    return held_states({&own, 1}, input, tracked, most);
  };
  const auto states = held_states({}, input, tracked, 100);
  REQUIRE(states);
  CHECK_FALSE(states->tell_answers(tracked));
  const auto held = held_by(right, 100);
  REQUIRE(held);
  CHECK(held->at.size() == states->at.size());
  CHECK(held->tell_answers(tracked));
  CHECK(held_by(still, 100)->at.size() == states->at.size());  // it holds the same in every state
  CHECK_FALSE(held_by(still, 100)->tell_answers(tracked));
  // The empty word's state is one of its own, and all others have two: letter 1 has order 2 there.
  const std::size_t doubled = 2 * states->at.size() - 1;
  CHECK(held_by(half, 100)->at.size() == doubled);
  CHECK_FALSE(held_by(half, 100)->tell_answers(tracked));
  CHECK(held_by(half, doubled));
  CHECK_FALSE(held_by(half, doubled - 1));
  CHECK_FALSE(held_by(never, 2000));
  CHECK_FALSE(held_by(counter(third + 1e-6), 2000));
  const Head sixths = counter(third / 2), ninths = counter(third / 3);  // they count modulo 6 and 9
  CHECK(held_by(sixths, 100)->at.size() == 7);
  CHECK(held_by(sixths, 100)->tell_answers(tracked));
  struct Fact {
    std::vector<Head> heads;
    std::vector<bool> stays;
  };
  for (const auto& [given, stays] :
       {Fact{{right, never, half}, {true, false, false}}, Fact{{still, never, right}, {true, false, true}},
        Fact{{still, half}, {true, true}},  // nothing else tells answers apart
        Fact{{never}, {true}}, Fact{{sixths, never}, {true, false}},
        Fact{{ninths, never, sixths}, {false, false, true}}, Fact{{still, sixths, right}, {true, false, true}},
        Fact{{half, never, still, sixths}, {true, false, true, true}}}) {
    std::vector<std::optional<Head>> heads(given.begin(), given.end());
    const auto gone = static_cast<std::size_t>(std::ranges::count(stays, false));
    CHECK(silence_strays(heads, input, tracked) == (gone > 0 ? std::optional(gone) : std::nullopt));
    for (std::size_t i = 0; i < heads.size(); ++i) CHECK(heads[i].has_value() == stays[i]);
  }
}

TEST_CASE("two heads that tell answers apart together alone are kept, the fewest states first") {
  const auto task = make_task("Z6");
  const TaskAutomaton input = input_machine(*task);
  const TrackedAutomaton tracked = tracked_automaton(*task, input.automaton);
  const double turn = 2 * std::acos(-1);
  // Modulo 4 and 9: neither follows a count modulo 6, and neither says what it is.
  std::vector<std::optional<Head>> heads;
  for (const double angle : {1.0, turn / 9, turn / 25, turn / 4}) heads.push_back(counting_head(*task, angle));
  CHECK(silence_strays(heads, input, tracked) == 2);
  CHECK(heads[1]);
  CHECK(heads[3]);
}

TEST_CASE("turns of a tetrahedron share the line in which their planes meet, and keep their products") {
  // Turns by a third about two corners: planes at right angles to (1, 1, 1) and (1, −1, −1), which meet in (0, 1, −1).
  const auto turn = [](const VectorXd& axis, double from) {
    const Eigen::Vector3d normal = axis.normalized();
    const Eigen::Vector3d u = normal.unitOrthogonal(), w = normal.cross(u);
    const double third = std::acos(-1) / 3;
    const auto key = [&](double angle) -> VectorXd { return std::cos(angle) * u + std::sin(angle) * w; };
    return LetterOfHead{{{key(from), one(0.5), 2}, {key(from + third), one(-0.2), 2}}, VectorXd::Zero(3)};
  };
  for (int i = 0; i < 24; ++i) {
    Head head{{turn(Eigen::Vector3d(1, 1, 1), 0.1 + i), turn(Eigen::Vector3d(1, -1, -1), 0.4 + 2 * i)}};
    const Head before = head;
    align_turns(head, {0, 1});
    for (std::size_t letter = 0; letter < 2; ++letter) {
      const VectorXd state = Eigen::Vector3d(0.3, -0.7, 0.9);
      CHECK((read(state, head.letters[letter]) - read(state, before.letters[letter])).norm() < 1e-9);
    }
    const double along = head.letters[0].reflections[0].key.dot(head.letters[1].reflections[0].key);
    CHECK(std::abs(along) > 0.99 * 0.95);
    const bool is_first =
        std::abs(before.letters[0].reflections[0].key.dot(Eigen::Vector3d(0, 1, -1).normalized())) > 0.9;
    if (!is_first) CHECK(std::abs(along) == doctest::Approx(1));
  }
}

TEST_CASE("planes share the first key where it is within 0.95 of all, their meeting where that is within 0.9") {
  const auto pair = [](const VectorXd& a, const VectorXd& b) {
    return LetterOfHead{{{a, one(0), 2}, {b, one(0), 2}}, VectorXd::Zero(4)};
  };
  const auto first_key = [](const LetterOfHead& first, const LetterOfHead& second) -> VectorXd {
    Head head{{first, second}};
    align_turns(head, {0, 1});
    return head.letters[0].reflections[0].key;
  };
  // Two planes through the first axis, and a first key so near to the second.
  for (const double near : {0.949, 0.951}) {
    const VectorXd key = unit(4, std::acos(near));
    const VectorXd found = first_key(pair(key, VectorXd::Unit(4, 1)), pair(VectorXd::Unit(4, 0), VectorXd::Unit(4, 2)));
    CHECK(((found - key).norm() < 1e-9) == (near > 0.95));
    CHECK(std::abs(found(0)) == doctest::Approx(near > 0.95 ? near : 1));
  }
  // Two planes whose nearest directions have twice the angle that their meeting has with each.
  for (const double near : {0.899, 0.901}) {
    const double both = 2 * near * near - 1;
    VectorXd tilted = VectorXd::Zero(4);
    tilted(0) = both, tilted(2) = std::sqrt(1 - both * both);
    const VectorXd key = VectorXd::Unit(4, 1);
    const VectorXd found = first_key(pair(key, unit(4, 0.5)), pair(VectorXd::Unit(4, 3), tilted));
    CHECK(((found - key).norm() < 1e-9) == (near < 0.9));
  }
}

TEST_CASE("automata of 2,000 states are looked at, and those of more are left alone") {
  const auto task = make_task("Z2");
  const TaskAutomaton input = input_machine(*task);
  REQUIRE(input.inputs.size() == 2);
  REQUIRE(!input.before.empty());
  for (const State states : {2000u, 2001u, 2002u, 3000u}) {
    // A count of letter 1, which the first head turns by and the second does not hold.
    std::vector<State> next;
    for (State state = 0; state < states; ++state) next.insert(next.end(), {state, (state + 1) % states});
    std::vector<bool> is_odd;
    for (State state = 0; state < states; ++state) is_odd.push_back(state % 2 == 1);
    TrackedAutomaton tracked{Dfa::acceptor(Alphabet::of_characters("01"), next, 0, is_odd), {}};
    for (State state = 0; state < states; ++state) tracked.wanted.push_back(state % 2);
    std::vector<std::optional<Head>> heads{counting_head(*task, std::acos(-1)), counting_head(*task, 1)};
    CHECK(silence_strays(heads, input, tracked) == (states == 2000 ? std::optional<std::size_t>(1) : std::nullopt));
  }
}
