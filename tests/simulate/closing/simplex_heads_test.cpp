// Heads on simplices: exact states for all permutations of few points, the classes that trained heads hold, and no more
// heads or reflections than there are.

#include "krohn/simulate/closing/simplex_heads.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "krohn/simulate/closing/point_moves.h"
#include "krohn/simulate/tasks/tasks.h"

using namespace krohn;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// `reflections` of nothing a letter.
Head idle_head(const Task& task, Eigen::Index keys, Eigen::Index values, std::size_t reflections) {
  const HeadReflection idle{VectorXd::Unit(keys, 0), VectorXd::Zero(values), 0};
  Head head;
  head.letters.resize(task.alphabet().size(),
                      {std::vector<HeadReflection>(reflections, idle), VectorXd::Unit(keys, 0)});
  head.out = MatrixXd::Identity(values, values);
  return head;
}

/// Letter k turns a plane by `angle` k, by two reflections, about 0, from (1, 0) on in the first value and (0, 1) in
/// the second.
Head turning_head(const Task& task, double angle, std::size_t reflections) {
  const TaskAutomaton input = input_machine(task);
  Head head = idle_head(task, 8, 4, reflections);
  for (std::size_t k = 0; k < input.inputs.size(); ++k) {
    const double half = angle * static_cast<double>(k) / 2;
    auto& parts = head.letters[input.inputs[k]].reflections;
    parts[0].beta = parts[1].beta = 2;
    parts[1].key = std::cos(half) * VectorXd::Unit(8, 0) + std::sin(half) * VectorXd::Unit(8, 1);
  }
  auto& first = head.letters[input.before.front()].reflections;
  first[0] = {VectorXd::Unit(8, 0), VectorXd::Unit(4, 0), 1};
  first[1] = {VectorXd::Unit(8, 1), VectorXd::Unit(4, 1), 1};
  return head;
}

template <class Real>
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;

template <class Real>
Matrix<Real> read(Matrix<Real> state, const LetterOfHead& letter) {
  for (const HeadReflection& part : letter.reflections) {
    const Eigen::Matrix<Real, Eigen::Dynamic, 1> key = part.key.cast<Real>(), value = part.value.cast<Real>();
    state += static_cast<Real>(part.beta) * key * (value - state.transpose() * key).transpose();
  }
  return state;
}

std::vector<Point> sizes_of(const LearnedClasses& learned) {
  std::vector<Point> sizes;
  for (const PermutedClasses& held : learned.congruences) sizes.push_back(held.classes());
  std::ranges::sort(sizes);
  return sizes;
}

constexpr double kTurn = 2 * 3.14159265358979323846;

}  // namespace

TEST_CASE("vertices are permuted exactly, as often as one likes, in fp32 and fp64") {
  const auto task = make_task("Z5");
  const TaskAutomaton input = input_machine(*task);
  std::mt19937 random(3);
  for (Point points = 2; points <= 9; ++points)
    for (const Eigen::Index values : {1, 4, 12}) {
      CAPTURE(points);
      CAPTURE(values);
      PermutedClasses held;
      held.initial = points / 2;
      for (std::size_t letter = 0; letter < input.inputs.size(); ++letter) {
        std::vector<Point> images(points);
        std::iota(images.begin(), images.end(), 0U);
        std::ranges::shuffle(images, random);
        held.letters.push_back(Permutation::from_images(images));
      }
      const auto head = simplex_head(held, idle_head(*task, 8, values, points - 1), input);
      REQUIRE(head);
      Matrix<float> narrow = Matrix<float>::Zero(8, values);
      MatrixXd state = MatrixXd::Zero(8, values);
      for (const Letter before : input.before) state = read<double>(state, head->letters[before]);
      CHECK(state.isZero(0));
      // What stands after a word is told by where its classes are, and nothing else.
      std::map<std::vector<Point>, MatrixXd> seen;
      std::vector<Point> at(points);
      std::iota(at.begin(), at.end(), 0U);
      for (int i = 0; i < 500; ++i) {
        std::vector<Point> shown;
        for (Eigen::Index v = 0; v < std::min<Eigen::Index>(values, points); ++v)
          shown.push_back(at[(held.initial + static_cast<Point>(v)) % points]);
        const auto [place, is_new] = seen.try_emplace(shown, state);
        REQUIRE(place->second == state);
        REQUIRE(narrow.cast<double>() == state);
        const std::size_t letter = random() % held.letters.size();
        for (Point& point : at) point = held.letters[letter][point];
        state = read<double>(state, head->letters[input.inputs[letter]]);
        narrow = read<float>(narrow, head->letters[input.inputs[letter]]);
      }
      for (const auto& [one, at_one] : seen)
        for (const auto& [other, at_other] : seen) REQUIRE((one == other) == (at_one == at_other));
    }
}

TEST_CASE("as many reflections as the letters need, as much room as the simplex, nine vertices, and nothing beyond") {
  const auto task = make_task("Z2");
  const TaskAutomaton input = input_machine(*task);
  const auto cycle = [&](Point points) {
    std::vector<Point> images(points);
    for (Point i = 0; i < points; ++i) images[i] = (i + 1) % points;
    return PermutedClasses{{}, {Permutation::identity(points), Permutation::from_images(images)}, 0};
  };
  const auto has_head = [&](Point points, Eigen::Index keys, std::size_t reflections) {
    return simplex_head(cycle(points), idle_head(*task, keys, 4, reflections), input).has_value();
  };
  for (Point points = 2; points <= 9; ++points) {
    CHECK(has_head(points, 8, points - 1));
    CHECK(has_head(points, 16, points));
    if (points > 2) CHECK_FALSE(has_head(points, 8, points - 2));
    CHECK_FALSE(has_head(points, points - 2, points - 1));
  }
  CHECK_FALSE(has_head(10, 16, 9));
  // A_3 is in D_4, A_4 is not; A_5 is in D_6.
  CHECK(has_head(4, 4, 3));
  CHECK_FALSE(has_head(5, 4, 4));
  CHECK(has_head(6, 6, 5));
  CHECK_FALSE(has_head(7, 6, 6));
}

TEST_CASE("a turn by a twelfth holds the classes modulo 2, 3, 4, 6 and 12, one by a seventh of a turn none of them") {
  const auto task = make_task("Z12");
  const TaskAutomaton input = input_machine(*task);
  const TrackedAutomaton tracked = tracked_automaton(*task, input.automaton);
  const LearnedClasses all = learned_classes(turning_head(*task, kTurn / 12, 2), input, tracked);
  CHECK(sizes_of(all) == std::vector<Point>{2, 3, 4, 6, 12});
  CHECK(all.share < 1e-9);
  CHECK(sizes_of(learned_classes(turning_head(*task, kTurn / 3, 2), input, tracked)) == std::vector<Point>{3});
  CHECK(sizes_of(learned_classes(turning_head(*task, kTurn / 4, 2), input, tracked)) == std::vector<Point>{2, 4});
  CHECK(learned_classes(turning_head(*task, kTurn / 7, 2), input, tracked).congruences.empty());
  CHECK(learned_classes(idle_head(*task, 8, 4, 2), input, tracked).congruences.empty());
  // Every word of a class leads there, and letters take class to class.
  for (const PermutedClasses& held : all.congruences) {
    CHECK(held.initial == held.class_of[tracked.automaton.initial()]);
    for (State state = 0; state < tracked.automaton.states(); ++state)
      for (Letter letter = 0; letter < tracked.automaton.letters(); ++letter) {
        REQUIRE(held.class_of[state] != kNoPoint);
        CHECK(held.letters[letter][held.class_of[state]] == held.class_of[tracked.automaton.next(state, letter)]);
      }
  }
  // What the model does not read of a head says nothing.
  Head unread = turning_head(*task, kTurn / 12, 2);
  unread.out.setZero();
  CHECK(learned_classes(unread, input, tracked).congruences.empty());
}

TEST_CASE("a head of 299 numbers is looked at, one of 300 is not") {
  const auto task = make_task("Z3");
  const TaskAutomaton input = input_machine(*task);
  const TrackedAutomaton tracked = tracked_automaton(*task, input.automaton);
  for (const Eigen::Index keys : {299, 300}) {
    Head head = idle_head(*task, keys, 1, 2);
    for (std::size_t k = 0; k < input.inputs.size(); ++k) {
      const double half = kTurn / 3 * static_cast<double>(k) / 2;
      auto& parts = head.letters[input.inputs[k]].reflections;
      parts[0].beta = parts[1].beta = 2;
      parts[1].key = std::cos(half) * VectorXd::Unit(keys, 0) + std::sin(half) * VectorXd::Unit(keys, 1);
    }
    head.letters[input.before.front()].reflections[0] = {VectorXd::Unit(keys, 0), VectorXd::Ones(1), 1};
    CHECK(learned_classes(head, input, tracked).congruences.size() == (keys == 299 ? 1 : 0));
  }
}

TEST_CASE("the fewest heads that tell the answers apart, each with classes that its reflections permute") {
  const auto task = make_task("Z12");
  const TaskAutomaton input = input_machine(*task);
  const TrackedAutomaton tracked = tracked_automaton(*task, input.automaton);
  struct Fact {
    std::size_t reflections;
    std::vector<double> orders;
    std::vector<bool> become;
    std::size_t needed;
  };
  for (const auto& [reflections, orders, become, needed] : {
           Fact{2, {12, 12}, {false, false}, 3},           // a cycle of four takes three
           Fact{3, {12}, {false}, 0},                      // twelve vertices have no room
           Fact{3, {12, 12}, {true, true}, 3},             // modulo 4 and 3
           Fact{3, {12, 12, 12}, {true, true, false}, 3},  // no more than it takes
           Fact{3, {2, 4, 7, 3}, {false, true, false, true}, 3},
           Fact{3, {2, 6, 4}, {false, true, true}, 3},    // the second modulo 3
           Fact{3, {6, 6, 2}, {false, false, false}, 0},  // nothing modulo 4
           Fact{5, {4, 6}, {true, true}, 5},
       }) {
    std::vector<Head> learned;
    for (const double order : orders) learned.push_back(turning_head(*task, kTurn / order, reflections));
    std::vector<std::optional<Head>> heads(orders.size());
    const bool is_done = std::ranges::count(become, true) > 0;
    const auto [shares, least] = hold_on_simplices(heads, learned, input, tracked);
    CHECK(least == needed);
    for (std::size_t i = 0; i < heads.size(); ++i) {
      CAPTURE(i);
      CHECK(heads[i].has_value() == become[i]);
      CHECK(shares[i].has_value() == become[i]);
    }
    if (!is_done) continue;
    std::vector<const Head*> kept;
    for (const auto& head : heads)
      if (head) kept.push_back(&*head);
    const auto held = held_states(kept, input, tracked, 100);
    REQUIRE(held);
    CHECK(held->tell_answers(tracked));
    CHECK(held->at.size() == held_states({}, input, tracked, 100)->at.size());
  }
  // Heads that are rounded and do not tell the answers apart stay where nothing else does either.
  std::vector<std::optional<Head>> heads{turning_head(*task, kTurn / 3, 3), std::nullopt};
  const std::vector<Head> learned{*heads[0], turning_head(*task, kTurn / 7, 3)};
  hold_on_simplices(heads, learned, input, tracked);
  CHECK(heads[0]);
  CHECK_FALSE(heads[1]);
}

TEST_CASE("three vertices hold all of S_3, by where they are taken") {
  const auto task = make_task("S3");
  const TaskAutomaton input = input_machine(*task);
  const TrackedAutomaton tracked = tracked_automaton(*task, input.automaton);
  const auto held = [&] {
    PermutedClasses classes;
    // The letters of S3 are its elements, in the order of their names: products of letters tell which.
    const Dfa& automaton = tracked.automaton;
    std::vector<State> elements;
    for (Letter letter = 0; letter < automaton.letters(); ++letter)
      elements.push_back(automaton.next(automaton.initial(), letter));
    for (Letter letter = 0; letter < automaton.letters(); ++letter) {
      std::vector<Point> images;
      for (const State element : elements)
        images.push_back(
            static_cast<Point>(std::ranges::find(elements, automaton.next(element, letter)) - elements.begin()));
      classes.letters.push_back(Permutation::from_images(images));
    }
    classes.initial = static_cast<std::uint32_t>(
        std::ranges::find_if(
            elements, [&](State q) { return automaton.next(q, 0) == q || automaton.next(q, 0) == elements[0]; }) -
        elements.begin());
    return classes;
  }();
  REQUIRE(held.classes() == 6);
  // Five reflections a letter permute the six elements; of two, three vertices are enough.
  Head learned = *simplex_head(held, idle_head(*task, 8, 6, 5), input);
  learned.out = MatrixXd::Identity(6, 6);
  const LearnedClasses classes = learned_classes(learned, input, tracked);
  CHECK(sizes_of(classes) == std::vector<Point>{2, 3, 3, 3, 6});
  std::size_t of_two = 0;
  for (const PermutedClasses& three : classes.congruences)
    of_two += simplex_head(three, idle_head(*task, 8, 4, 2), input).has_value();
  CHECK(of_two == 4);  // not the six elements, of which a swap takes three swaps
  std::vector<std::optional<Head>> heads(1);
  const std::vector<Head> one{learned};
  CHECK(hold_on_simplices(heads, one, input, tracked).shares[0]);
  REQUIRE(heads[0]);
  const Head* const own = &*heads[0];
  CHECK(held_states({&own, 1}, input, tracked, 100)->tell_answers(tracked));
}
