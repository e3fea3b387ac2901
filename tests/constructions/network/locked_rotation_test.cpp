#include "krohn/constructions/build/planner.h"
#include "krohn/constructions/network/exactness.h"
#include "tests/constructions/reference.h"
#include "tests/constructions/sample_automata.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

constexpr Precision kFp64 = Precision::kFp64, kFp32 = Precision::kFp32, kFp16 = Precision::kFp16,
                    kBf16 = Precision::kBf16;

/// The number of a format with `digits` digits that is nearest to an exact value, ties to even, far from the ends of
/// the range. An oracle that shares nothing with the search: exact products and sums of these formats fit a long
/// double.
long double nearest(long double value, int digits) {
  if (value == 0) return 0;
  int exponent = 0;
  std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(value, digits - exponent)), exponent - digits);
}

int digits_of(Precision precision) { return precision == kFp32 ? 24 : precision == kFp16 ? 11 : 8; }

long double row(const LockedRotation& rotation, long double a, long double b, const Eigen::Vector2d& h) {
  const int digits = digits_of(rotation.precision);
  long double sum = nearest(nearest(a * h.x(), digits) + nearest(b * h.y(), digits), digits);
  if (rotation.grid != 0) sum = nearest(nearest(sum + rotation.grid, digits) - rotation.grid, digits);
  return sum;
}

bool moves_codewords(const LockedRotation& rotation) {
  for (const auto& [shift, turn] : rotation.turns)
    for (std::uint32_t i = 0; i < rotation.order; ++i) {
      const Eigen::Vector2d& from = rotation.codewords[i];
      const Eigen::Vector2d& to = rotation.codewords[(i + shift) % rotation.order];
      if (row(rotation, turn(0, 0), turn(0, 1), from) != to.x()) return false;
      if (row(rotation, turn(1, 0), turn(1, 1), from) != to.y()) return false;
    }
  return true;
}

/// Codewords follow one another around the origin, at nearly one distance from it.
bool is_polygon(const LockedRotation& rotation) {
  double turned = 0;
  const auto angle = [&](std::uint32_t i) {
    const Eigen::Vector2d& word = rotation.codewords[i % rotation.order];
    return std::atan2(word.y(), word.x());
  };
  for (std::uint32_t i = 0; i < rotation.order; ++i) {
    double step = angle(i + 1) - angle(i);
    if (step < 0) step += 2 * std::numbers::pi;
    turned += step;
    if (std::abs(rotation.codewords[i].norm() / rotation.codewords[0].norm() - 1) > 0.42) return false;
  }
  return rotation.order == 1 || std::abs(turned - 2 * std::numbers::pi) < 1e-6;
}

void check_lock(const std::optional<LockedRotation>& lock, std::size_t shifts) {
  REQUIRE(lock);
  CHECK(lock->turns.size() == shifts);
  CHECK(is_locked(*lock));
  if (lock->precision != kFp64) CHECK(moves_codewords(*lock));
  CHECK(is_polygon(*lock));
}

std::vector<std::uint32_t> all_shifts(std::uint32_t m) {
  std::vector<std::uint32_t> shifts(m);
  std::iota(shifts.begin(), shifts.end(), 0U);
  return shifts;
}

}  // namespace

TEST_CASE("locked rotations for all shifts: what the search finds") {
  struct Fact {
    Precision precision;
    std::vector<std::uint32_t> complex;      ///< with matrices (c, −s; s, c)
    std::vector<std::uint32_t> own_entries;  ///< only with four entries each on its own
    std::vector<std::uint32_t> none;
  };
  for (const Fact& fact : {Fact{kFp32, {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28}, {9}, {11, 13, 15, 60}},
                           Fact{kFp16, {3, 5, 6, 8, 10, 12, 16, 20, 24}, {}, {7, 11, 60}},
                           Fact{kBf16, {3, 6, 8, 12, 16}, {5, 10}, {7, 9, 20, 24, 60}},
                           Fact{kFp64, {3, 5, 6, 8, 10, 12, 16, 20}, {}, {11}}}) {
    CAPTURE(to_string(fact.precision));
    for (const std::uint32_t m : fact.complex) {
      CAPTURE(m);
      check_lock(locked_rotation(m, fact.precision, /*complex=*/true), m);
    }
    for (const std::uint32_t m : fact.own_entries) {
      CAPTURE(m);
      CHECK_FALSE(locked_rotation(m, fact.precision, /*complex=*/true));
      check_lock(locked_rotation(m, fact.precision), m);
    }
    for (const std::uint32_t m : fact.none) {
      CAPTURE(m);
      CHECK_FALSE(locked_rotation(m, fact.precision));
    }
  }
}

TEST_CASE("complex numbers are complex numbers") {
  const auto lock = locked_rotation(7, kFp32, /*complex=*/true);
  REQUIRE(lock);
  for (const auto& [shift, turn] : lock->turns) {
    CHECK(turn(0, 0) == turn(1, 1));
    CHECK(turn(0, 1) == -turn(1, 0));
    CHECK(turn(0, 0) == doctest::Approx(std::cos(2 * std::numbers::pi * shift / 7)));
  }
}

TEST_CASE("a single shift is locked for orders that all shifts together are not") {
  for (const Precision precision : {kFp64, kFp32, kFp16})
    for (const std::uint32_t m : {7, 9, 11, 17, 60, 100}) {
      CAPTURE(to_string(precision));
      CAPTURE(m);
      check_lock(locked_rotation(m, {0, 1}, precision, /*complex=*/true), 2);
      check_lock(locked_rotation(m, {m - 1}, precision, /*complex=*/true), 2);
    }
}

TEST_CASE("rotations onto whole numbers") {
  struct Fact {
    Precision precision;
    std::vector<std::uint32_t> found, none;
  };
  for (const Fact& fact :
       {Fact{kFp32,
             {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 24, 32, 48, 60, 64, 72},
             {23, 100}},
        Fact{kFp64, {7, 9, 11, 13, 60}, {23}}, Fact{kFp16, {3, 5, 7, 9, 10, 12, 16, 20, 24, 28, 32, 36, 40}, {11, 60}},
        Fact{kBf16, {3, 5, 6, 7, 10, 12, 14, 16, 20, 24, 28}, {9, 11, 60}}}) {
    CAPTURE(to_string(fact.precision));
    for (const std::uint32_t m : fact.found) {
      CAPTURE(m);
      const auto lock = grid_rotation(m, all_shifts(m), fact.precision);
      check_lock(lock, m);
      for (const Eigen::Vector2d& word : lock->codewords) CHECK(word == word.array().round().matrix());
    }
    for (const std::uint32_t m : fact.none) {
      CAPTURE(m);
      CHECK_FALSE(grid_rotation(m, all_shifts(m), fact.precision));
    }
  }
  for (const std::uint32_t m : {60, 100, 360, 1000}) check_lock(grid_rotation(m, {1}, kFp32), 2);
}

TEST_CASE("a change of one unit in the last place is noticed") {
  const auto lock = locked_rotation(7, kFp32);
  REQUIRE(lock);
  for (std::uint32_t i = 0; i < 7; ++i) {
    LockedRotation bent = *lock;
    auto x = static_cast<float>(bent.codewords[i].x());
    bent.codewords[i].x() = std::nextafter(x, 9.0F);
    CHECK_FALSE(is_locked(bent));
    CHECK_FALSE(moves_codewords(bent));
  }
  LockedRotation merged = *lock;
  merged.codewords[1] = merged.codewords[2];
  CHECK_FALSE(is_locked(merged));
}

TEST_CASE("networks of locked rotations are offered where the search succeeds, and are exact there only") {
  struct Fact {
    Dfa automaton;
    const char* construction;
    std::optional<Precision> wished;
    std::uint64_t state_numbers;  ///< 0: impossible
    std::vector<Precision> locked_in;
  };
  for (const Fact& fact : {Fact{counter(5, {0, 1, 2, 3, 4}), "rotation-locked", {}, 2, {kFp32}},
                           Fact{counter(5, {0, 1, 2, 3, 4}), "rotation-locked", kFp16, 2, {kFp16}},
                           Fact{counter(60, all_shifts(60)), "rotation-locked", kFp32, 4, {kFp32}},
                           Fact{counter(60, {1}), "rotation-locked", kBf16, 2, {kBf16}},
                           Fact{counter(11, all_shifts(11)), "rotation-locked", kFp32, 0, {}},
                           Fact{counter(60, all_shifts(60)), "rotation-grid", kFp32, 3, {kFp32}},
                           Fact{counter(60, all_shifts(60)), "rotation-grid", kBf16, 5, {kBf16}},
                           Fact{counter(11, all_shifts(11)), "rotation-grid", kFp32, 3, {kFp32}},
                           Fact{counter(11, all_shifts(11)), "rotation-grid", kBf16, 0, {}},
                           Fact{word_problem("Z3xZ6", "standard"), "rotation-locked", kFp32, 4, {kFp32}}}) {
    CAPTURE(fact.construction);
    BuildOptions wishes{.precision = fact.wished};
    const auto rows = plan(fact.automaton, wishes);
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const PlanRow& plan) { return plan.construction == fact.construction; });
    REQUIRE(row != rows.end());
    CHECK(row->possible == (fact.state_numbers != 0));
    CHECK(row->state_numbers == fact.state_numbers);
    CHECK(row->exact_in.empty());
    CHECK(row->locked_in == fact.locked_in);
    wishes.construction = fact.construction;
    wishes.exact = true;
    if (!row->possible) {
      CHECK_THROWS_AS(build(fact.automaton, wishes), InputError);
      continue;
    }
    if (fact.wished) CHECK(build(fact.automaton, wishes).layers[0].dimension == fact.state_numbers);
    wishes.precision = kFp64;
    wishes.exact = false;
    check_random_word(build(fact.automaton, wishes), 3, 100);
  }
}

TEST_CASE("few numbers of state, exact in one precision: the planner takes a locked rotation") {
  BuildOptions wishes{.precision = kFp32, .max_dimension = 4, .exact = true};
  CHECK(build(counter(60, {1, 59}), wishes).provenance.construction == "rotation-grid");
  wishes.max_dimension = 2;
  CHECK(build(counter(7, {1, 6}), wishes).provenance.construction == "rotation-locked");
  wishes.precision.reset();
  CHECK_THROWS_AS(build(counter(7, {1, 6}), wishes), InputError);
}
