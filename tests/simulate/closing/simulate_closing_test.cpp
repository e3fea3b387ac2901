#include <Eigen/Core>

#include "krohn/simulate/closing/close_linear.h"
#include "krohn/simulate/closing/close_reflections.h"
#include "krohn/simulate/closing/integer_code.h"
#include "krohn/simulate/learned/spectrum.h"
#include "krohn/simulate/tasks/tasks.h"
#include "tests/testing.h"

using namespace krohn;

// Copies of representations: as many as were learned, none of what training left over, each in a basis of its own in
// which the letters are integers; and no copy where there is no lattice.

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

using Move = LearnedCode::Move;

/// The six elements of S_3 as images of 0, 1, 2, and what follows each by one of two swaps.
std::vector<Move> moves_of_s3() {
  const std::vector<std::vector<int>> elements{{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}},
      swaps{{1, 0, 2}, {0, 2, 1}};
  std::vector<Move> moves;
  for (std::size_t q = 0; q < elements.size(); ++q)
    for (std::size_t letter = 0; letter < swaps.size(); ++letter) {
      std::vector<int> image;
      for (const int x : elements[q]) image.push_back(swaps[letter][static_cast<std::size_t>(x)]);
      for (std::size_t to = 0; to < elements.size(); ++to)
        if (elements[to] == image) moves.push_back({static_cast<Index>(q), letter, static_cast<Index>(to)});
    }
  return moves;
}

std::vector<Move> moves_of_counter(Index states) {
  std::vector<Move> moves;
  for (Index q = 0; q < states; ++q) moves.push_back({q, 0, (q + 1) % states});
  return moves;
}

MatrixXd random_matrix(Index rows, Index columns, std::mt19937& random) {
  std::normal_distribution<double> normal;
  MatrixXd numbers(rows, columns);
  for (double& x : numbers.reshaped()) x = normal(random);
  return numbers;
}

/// The one matrix that takes every point along the letter's moves, which has to exist and to be of integers.
void check_letters(const LearnedCopies& copies, const std::vector<Move>& moves, std::size_t letters) {
  for (std::size_t letter = 0; letter < letters; ++letter) {
    MatrixXd to = copies.points;
    for (const Move& move : moves)
      if (move.letter == letter) to.col(move.from) = copies.points.col(move.to);
    const MatrixXd matrix = least_squares(copies.points.transpose(), to.transpose()).transpose();
    CHECK((matrix * copies.points - to).cwiseAbs().maxCoeff() < 1e-9);
    CHECK((matrix.array() - matrix.array().round()).abs().maxCoeff() < 1e-6);
  }
}

}  // namespace

TEST_CASE("a state of S_3 in general position: all copies with their lattices, the two of two dimensions apart") {
  std::mt19937 random(3);
  for (int round = 0; round < 10; ++round) {
    const MatrixXd points = random_matrix(8, 6, random);
    const std::vector<Move> moves = moves_of_s3();
    const auto found = learned_copies(points, moves, 2);
    REQUIRE_FALSE(found.empty());
    CHECK(found.front().basis.cols() == 6);
    CHECK(found.front().points.cwiseAbs().maxCoeff() < 2);
    CHECK((found.front().basis * found.front().points - points).cwiseAbs().maxCoeff() < 1e-9);
    for (const LearnedCopies& copies : found) check_letters(copies, moves, 2);
  }
}

TEST_CASE("what is smaller by more than a factor of 1.5 than the copy above it may be left out, otherwise not") {
  // The trivial representation of Z_2 at size 1, and the sign at 1 / factor.
  for (const double factor : {1.49, 1.51}) {
    MatrixXd points(2, 2);
    points << 1, 1, 1 / factor, -1 / factor;
    const auto found = learned_copies(points, moves_of_counter(2), 1);
    REQUIRE(found.size() == (factor > 1.5 ? 2 : 1));
    CHECK(found.front().basis.cols() == 2);
    CHECK(found.back().basis.cols() == (factor > 1.5 ? 1 : 2));
  }
  // A thousandth of the greatest is noise, and a copy has to be as far above that.
  for (const double size : {0.00149, 0.00151}) {
    MatrixXd points(2, 2);
    points << 1, 1, size, -size;
    CHECK(learned_copies(points, moves_of_counter(2), 1).front().basis.cols() == (size < 0.0015 ? 1 : 2));
  }
}

TEST_CASE("a fifth of a turn has no lattice alone, both fifths have one together") {
  MatrixXd points(4, 5);
  for (Index q = 0; q < 5; ++q)
    for (Index k = 0; k < 2; ++k) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(q * (k + 1)) / 5, size = k == 0 ? 1 : 0.9;
      points.col(q).segment(2 * k, 2) << size * std::cos(angle), size * std::sin(angle);
    }
  CHECK(learned_copies(points.topRows(2), moves_of_counter(5), 1).empty());
  const auto found = learned_copies(points, moves_of_counter(5), 1);
  REQUIRE(found.size() == 1);
  CHECK(found[0].basis.cols() == 4);
  check_letters(found[0], moves_of_counter(5), 1);
}

TEST_CASE("a copy that has no lattice counts as left out: beside a greater one no smaller is a candidate") {
  for (const double constant : {0.5, 4.0}) {
    MatrixXd points(3, 5);
    for (Index q = 0; q < 5; ++q) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(q) / 5;
      points.col(q) << constant, std::cos(angle), std::sin(angle);
    }
    const auto found = learned_copies(points, moves_of_counter(5), 1);
    REQUIRE(found.size() == (constant > 1 ? 1 : 0));
    if (constant > 1) CHECK(found[0].basis.cols() == 1);
  }
}

TEST_CASE("letters that are no permutations have no copies, and neither have more than 200 points") {
  std::vector<Move> moves = moves_of_counter(3);
  CHECK_FALSE(learned_copies(MatrixXd::Identity(3, 3), moves, 1).empty());
  std::vector<Move> resets = moves;
  for (Index q = 0; q < 3; ++q) resets.push_back({q, 1, 0});
  CHECK(learned_copies(MatrixXd::Identity(3, 3), resets, 2).empty());
  moves.pop_back();  // known of two points alone
  CHECK(learned_copies(MatrixXd::Identity(3, 3), moves, 1).empty());
  for (const Index count : {200, 201}) {
    std::vector<Move> still;
    for (Index q = 0; q < count; ++q) still.push_back({q, 0, q});
    CHECK(learned_copies(MatrixXd::Ones(1, count), still, 1).empty() == (count > 200));
  }
}

TEST_CASE("a state before every word is taken for the one that moves like it, and where none does there is nothing") {
  for (const Index like : {0, 1, 2}) {
    std::vector<Move> moves = moves_of_counter(3);
    moves.push_back({3, 0, (like + 1) % 3});
    MatrixXd points = MatrixXd::Zero(3, 4);
    points.leftCols(3).setIdentity();
    points.col(3) << 0.3, 0.1, 0.2;  // says nothing
    const auto found = learned_copies(points, moves, 1);
    REQUIRE_FALSE(found.empty());
    CHECK(found.front().points.col(3) == found.front().points.col(like));
    check_letters(found.front(), moves, 1);
    // A second letter, by which it moves otherwise.
    for (Index q = 0; q < 3; ++q) moves.push_back({q, 1, q});
    moves.push_back({3, 1, (like + 1) % 3});
    CHECK(learned_copies(points, moves, 2).empty());
  }
}

// Heads on simplices: exact states for all permutations of few points, the classes that trained heads hold, and no more
// heads or reflections than there are.

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
using RealMatrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;

template <class Real>
RealMatrix<Real> read(RealMatrix<Real> state, const LetterOfHead& letter) {
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
      PermutedClasses held{.initial = points / 2};
      for (std::size_t letter = 0; letter < input.inputs.size(); ++letter) {
        std::vector<Point> images(points);
        std::iota(images.begin(), images.end(), 0U);
        std::ranges::shuffle(images, random);
        held.letters.push_back(Permutation::from_images(images));
      }
      const auto head = simplex_head(held, idle_head(*task, 8, values, points - 1), input);
      REQUIRE(head);
      RealMatrix<float> narrow = RealMatrix<float>::Zero(8, values);
      MatrixXd state = MatrixXd::Zero(8, values);
      for (const Letter before : input.before) state = read<double>(state, head->letters[before]);
      CHECK(state.isZero(0));
      // The state after a word is known by the places of its classes, and by nothing else.
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
    if (points == 2) continue;  // with no reflections, and keys of no numbers
    CHECK_FALSE(has_head(points, 8, points - 2));
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
  // Numbers of a head that the model does not read mean nothing.
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

// A coordinate for every class of states: where there is one, how far off it may be, and what it then is.

namespace {

/// Points at the corners of a regular polygon, which the letter turns by one; `copies` points at every corner.
LearnedCode polygon(Index corners, Index copies = 1) {
  const double angle = 2 * std::numbers::pi / static_cast<double>(corners);
  MatrixXd turn(2, 2);
  turn << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
  LearnedCode code{MatrixXd(2, corners * copies), {turn}, {}};
  for (Index q = 0; q < corners * copies; ++q) {
    code.points.col(q) << std::cos(angle * static_cast<double>(q)), std::sin(angle * static_cast<double>(q));
    code.moves.push_back({q, 0, (q + 1) % (corners * copies)});
  }
  return code;
}

/// Points +1 and −1, which the letter takes to each other but for `lack`.
LearnedCode sign(double lack) {
  LearnedCode code{MatrixXd(1, 2), {MatrixXd::Constant(1, 1, -1 + lack)}, {{0, 0, 1}, {1, 0, 0}}};
  code.points << 1, -1;
  return code;
}

/// Logits that tell every number, and mean 0.
MatrixXd all_of(const LearnedCode& learned) {
  const Index numbers = learned.points.rows();
  MatrixXd reads(2 * numbers, numbers);
  reads << MatrixXd::Identity(numbers, numbers), -MatrixXd::Identity(numbers, numbers);
  return reads;
}

std::optional<StateCode> of_sign(double lack) { return state_code(sign(lack), all_of(sign(lack)), 2); }

void check_exact(const IntegerCode& code, const LearnedCode& learned) {
  for (const auto& [from, letter, to] : learned.moves)
    CHECK(code.letters[letter] * code.points.col(from) == code.points.col(to));
  for (const MatrixXd& letter : code.letters) {
    CHECK((letter.array() == 0 || letter.array() == 1).all());
    CHECK((letter.colwise().sum().array() == 1).all());
  }
}

}  // namespace

TEST_CASE("a turn by a fifth, which no integer matrix is, permutes five coordinates") {
  const LearnedCode learned = polygon(5);
  const auto code = state_code(learned, all_of(learned), 5);
  REQUIRE(code);
  CHECK(code->code.rank() == 5);
  CHECK(code->share < 1e-12);
  CHECK(code->code.basis.isApprox(learned.points, 1e-12));
  CHECK(code->code.points == MatrixXd::Identity(5, 5));
  check_exact(code->code, learned);
  CHECK(!state_code(learned, all_of(learned), 4));  // five is prime: a coarser congruence has one class
}

TEST_CASE("points in one place are one state of the block") {
  for (const Index copies : {2, 3}) {
    const LearnedCode learned = polygon(3, copies);
    for (const Index most : {3, 5, 40}) {
      const auto code = state_code(learned, all_of(learned), most);
      REQUIRE(code);
      CHECK(code->code.rank() == 3);
      for (Index q = 0; q < 3 * copies; ++q) CHECK(code->code.points(q % 3, q) == 1);
      check_exact(code->code, learned);
    }
    CHECK(!state_code(learned, all_of(learned), 2));
  }
  LearnedCode all_in_one = polygon(3);
  all_in_one.points.setOnes();
  CHECK(!state_code(all_in_one, all_of(all_in_one), 3));
}

TEST_CASE("a letter may be off by 0.35 of the distance to the next class, and by no more") {
  const auto nearly = of_sign(0.699);
  REQUIRE(nearly);
  CHECK(nearly->share == doctest::Approx(0.3495));
  CHECK(!of_sign(0.701));
  CHECK(of_sign(-0.699));
  CHECK(!of_sign(-0.701));
}

TEST_CASE("a point may be as far from its class") {
  // Two pairs at ±1, the letter swaps the pairs; a pair's points are `spread` from its mean, which the letter forgets:
  // that is seen once, the first number thirteen times, at 0 to 12 letters ahead.
  const double most = 0.35 * 2 * std::sqrt(13);
  for (const auto& [spread, is_found] : {std::pair{most - 0.01, true}, std::pair{most + 0.01, false}}) {
    LearnedCode learned{MatrixXd(2, 4), {MatrixXd(2, 2)}, {{0, 0, 2}, {1, 0, 2}, {2, 0, 0}, {3, 0, 1}}};
    learned.letters[0] << -1, 0, 0, 0;
    learned.points << 1, 1, -1, -1, spread, -spread, 0, 0;
    const auto code = state_code(learned, all_of(learned), 2);
    CHECK(code.has_value() == is_found);
    if (code) check_exact(code->code, learned);
  }
}

TEST_CASE("what no answer shows, now or later, is not looked at") {
  // A sign, and beside it a number that the letter changes at will: it is read by nobody, by answers alike, or later.
  LearnedCode learned{MatrixXd(2, 4), {MatrixXd(2, 2)}, {{0, 0, 1}, {1, 0, 2}, {2, 0, 3}, {3, 0, 0}}};
  learned.letters[0] << -1, 0, 0, -3;
  learned.points << 1, -1, 1, -1, 0.1, 5, -2, 7;
  MatrixXd reads(2, 2);
  reads << 1, 0, -1, 0;
  const auto code = state_code(learned, reads, 4);
  REQUIRE(code);
  CHECK(code->code.rank() == 2);
  check_exact(code->code, learned);
  reads.col(1).setConstant(4);  // of both answers
  CHECK(state_code(learned, reads, 4));
  reads << 1, 1, -1, 0;
  CHECK(!state_code(learned, reads, 4));
  reads << 1, 0, -1, 0;
  learned.letters[0](0, 1) = 1;  // into what is read
  CHECK(!state_code(learned, reads, 4));
  CHECK(!state_code(learned, MatrixXd::Zero(2, 2), 4));
}

TEST_CASE("a move that no point is known to make stays, and numbers that are none are refused") {
  LearnedCode learned = polygon(3);
  learned.moves.pop_back();
  learned.letters.push_back(MatrixXd::Identity(2, 2));  // of which nothing is known
  const auto code = state_code(learned, all_of(learned), 3);
  REQUIRE(code);
  CHECK(code->code.letters[1] == MatrixXd::Identity(3, 3));
  CHECK(code->code.letters[0].col(2) == VectorXd::Unit(3, 2));
  learned.points(0, 1) = std::nan("");
  CHECK(!state_code(learned, all_of(learned), 3));
  CHECK(!state_code({}, MatrixXd(2, 0), 3));
}

TEST_CASE("the classes that are too far off are merged, and no others") {
  // A at 0 and B beside it answer differently; two places of C lie far from them and from each other, and every letter
  // that leads there leads between the two.
  LearnedCode learned{MatrixXd(3, 4), {}, {}};
  learned.points << 0, 1, 0, 5, 0, 0, 12, 12, 1, 1, 1, 1;
  const std::vector<VectorXd> goals{learned.points.col(0), learned.points.col(1),
                                    (learned.points.col(2) + learned.points.col(3)) / 2};
  for (std::size_t letter = 0; letter < 3; ++letter) {
    learned.letters.push_back(MatrixXd::Zero(3, 3));
    learned.letters[letter].col(2) = goals[letter];
    for (Index q = 0; q < 4; ++q) learned.moves.push_back({q, letter, static_cast<Index>(letter)});
  }
  MatrixXd reads = MatrixXd::Zero(4, 3);
  reads.col(0) << 1, -1, 0, 0;
  reads.col(1) << 0, 0, 1, -1;
  const auto code = state_code(learned, reads, 4);
  REQUIRE(code);
  CHECK(code->code.rank() == 3);
  CHECK(code->code.points.col(2) == code->code.points.col(3));
  CHECK(code->share == doctest::Approx(2.5 / std::hypot(1.5, 12)));
  check_exact(code->code, learned);
}

TEST_CASE("no more than 4096 points are compared") {
  for (const auto& [copies, is_found] : {std::pair{Index{2048}, true}, std::pair{Index{2049}, false}}) {
    const LearnedCode learned = polygon(2, copies);
    CHECK(state_code(learned, all_of(learned), 8).has_value() == is_found);
  }
}

TEST_CASE("what does not fit together is refused") {
  LearnedCode learned = polygon(3);
  CHECK(state_code(learned, all_of(learned), 3));
  CHECK(!state_code(learned, all_of(learned), 1));
  CHECK(!state_code(learned, MatrixXd::Ones(2, 3), 3));
  learned.letters[0](0, 1) = std::nan("");
  CHECK(!state_code(learned, all_of(learned), 3));
  learned.letters[0] = MatrixXd::Identity(3, 3);
  CHECK(!state_code(learned, all_of(learned), 3));
}

namespace {

/// |S δ| by the definition: what δ makes of the logits behind every word of up to twelve letters.
double seen(const VectorXd& difference, const LearnedCode& learned, const MatrixXd& reads) {
  double sum = 0;
  std::vector<VectorXd> after{difference};
  for (int length = 0; length <= 12; ++length) {
    double squares = 0;
    std::vector<VectorXd> next;
    for (const VectorXd& d : after) {
      const VectorXd logits = reads * d;
      squares += (logits.array() - logits.mean()).square().sum();
      for (const MatrixXd& letter : learned.letters) next.push_back(letter * d);
    }
    sum += squares / static_cast<double>(after.size());
    after = std::move(next);
  }
  return std::sqrt(sum);
}

/// The greatest share of a code, from its points alone.
double share_of(const IntegerCode& code, const LearnedCode& learned, const MatrixXd& reads) {
  const MatrixXd means =
      learned.points * code.points.transpose() * code.points.rowwise().sum().cwiseInverse().asDiagonal();
  double worst = 0;
  const auto look = [&](const VectorXd& found, const VectorXd& own) {
    Index c = 0;
    own.maxCoeff(&c);
    double apart = INFINITY;
    for (Index other = 0; other < means.cols(); ++other)
      if (other != c) apart = std::min(apart, seen(means.col(other) - means.col(c), learned, reads));
    worst = std::max(worst, seen(found - means.col(c), learned, reads) / apart);
  };
  for (Index q = 0; q < learned.points.cols(); ++q) look(learned.points.col(q), code.points.col(q));
  for (const auto& [from, letter, to] : learned.moves)
    look(learned.letters[letter] * means * code.points.col(from), code.points.col(to));
  return worst;
}

}  // namespace

TEST_CASE("random codes: exact, as far off as is said, and all points apart wherever that fits") {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  int found = 0, apart = 0;
  for (int trial = 0; trial < 10'000; ++trial) {
    const Index points = 2 + static_cast<Index>(random() % 5), places = 1 + static_cast<Index>(random() % points);
    // Points of few places, nearly; one letter that maps places, by least squares, and one that forgets.
    LearnedCode learned{MatrixXd(3, points), {}, {}};
    MatrixXd place(3, places);
    for (double& x : place.reshaped()) x = normal(random);
    for (Index q = 0; q < points; ++q) learned.points.col(q) = place.col(q % places);
    for (double& x : learned.points.reshaped()) x += 0.1 * normal(random);
    MatrixXd images(3, places);
    for (Index p = 0; p < places; ++p) {
      const auto to = static_cast<Index>(random() % static_cast<unsigned>(places));
      images.col(p) = place.col(to);
      for (Index q = p; q < points; q += places) learned.moves.push_back({q, 0, to});
    }
    const MatrixXd gram = place.transpose() * place + 1e-9 * MatrixXd::Identity(places, places);
    learned.letters.push_back(images * solution(gram, place.transpose()));
    const MatrixXd reads = all_of(learned);
    const auto code = state_code(learned, reads, points);
    const IntegerCode own{learned.points, MatrixXd::Identity(points, points), {}, 0};
    if (share_of(own, learned, reads) < 0.35 - 1e-9) {
      ++apart;
      REQUIRE(code);
      CHECK(code->code.rank() == points);
    }
    if (!code) continue;
    ++found;
    CHECK(code->share <= 0.35);
    CHECK(code->share == doctest::Approx(share_of(code->code, learned, reads)).epsilon(1e-3));
    check_exact(code->code, learned);
  }
  CHECK(found > 1000);
  CHECK(apart > 500);
}
