// What one step of a delta rule can do, against all maps of a few points; and the walk through the states.

#include "krohn/constructions/checkpoints/letter_steps.h"

#include <doctest/doctest.h>

#include <set>

#include "krohn/automata/language.h"
#include "krohn/constructions/checkpoints/state_walk.h"

using namespace krohn;

namespace {

/// The map of a step, point by point.
std::vector<Point> images_of(const PointStep& step, Point points) {
  std::vector<Point> images;
  for (Point point = 0; point < points; ++point) {
    Point image = point;
    if (step.kind == PointStep::Kind::kReset) image = step.second;
    if (step.kind != PointStep::Kind::kKeep && point == step.first) image = step.second;
    if (step.kind == PointStep::Kind::kSwap && point == step.second) image = step.first;
    images.push_back(image);
  }
  return images;
}

}  // namespace

TEST_CASE("steps are found for the maps that are steps, and for no others") {
  for (const Point n : {1u, 2u, 3u, 4u}) {
    std::set<std::vector<Point>> steps{images_of({}, n)};
    for (Point i = 0; i < n; ++i) {
      steps.insert(images_of({PointStep::Kind::kReset, 0, i}, n));
      for (Point j = 0; j < n; ++j) {
        if (i == j) continue;
        steps.insert(images_of({PointStep::Kind::kSwap, i, j}, n));
        steps.insert(images_of({PointStep::Kind::kMerge, i, j}, n));
      }
    }
    std::uint64_t maps = 1, found = 0;
    for (Point i = 0; i < n; ++i) maps *= n;
    for (std::uint64_t map = 0; map < maps; ++map) {
      std::vector<Point> images;
      for (std::uint64_t i = 0, rest = map; i < n; ++i, rest /= n) images.push_back(static_cast<Point>(rest % n));
      CAPTURE(images);
      const auto step = step_of(Transformation::from_images(images));
      CHECK(step.has_value() == steps.contains(images));
      if (step) CHECK(images_of(*step, n) == images);
      found += step ? 1 : 0;
    }
    CHECK(found == steps.size());
  }
}

TEST_CASE("groups are followed on few points, others on their states, and merges only where they can be made") {
  LanguageOptions swaps;
  swaps.generators = "transpositions";
  const Dfa s5 = named_language("S5", swaps);
  const auto five = point_steps(s5, tracked_states(s5), false);
  REQUIRE(five);
  CHECK(five->points == 5);
  const Dfa z3 = named_language("Z3", {});
  CHECK(!point_steps(z3, tracked_states(z3), true));
  // a: 0 goes to 1; b: all go to 0.
  const Dfa merging = Dfa::moore(Alphabet::of_characters("ab"), {1, 0, 1, 0, 2, 0}, 0, {0, 1, 0}, {"0", "1"});
  const TrackedStates tracked = tracked_states(merging);
  REQUIRE(tracked.count() == 2);  // a reset of two states
  CHECK(point_steps(merging, tracked, false)->points == 2);
}

TEST_CASE("the walk of S5 by swaps meets most states before it comes back to one, and every state has a letter") {
  LanguageOptions swaps;
  swaps.generators = "transpositions";
  const Dfa s5 = named_language("S5", swaps);
  const auto walk = state_walk(s5);
  std::set<State> met;
  State state = s5.initial();
  for (; met.insert(state).second; state = s5.next(state, walk[state])) CHECK(walk[state] < s5.letters());
  CHECK(met.size() >= 60);
  for (const char* name : {"parity", "tomita3", "Z2"}) {
    const Dfa dfa = named_language(name, {});
    for (const Letter letter : state_walk(dfa)) CHECK(letter < dfa.letters());
  }
}
