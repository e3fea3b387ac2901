#include "krohn/groups/time_limit.h"

#include <doctest/doctest.h>

#include <type_traits>

#include <optional>
#include <string>
#include <thread>

#include "krohn/groups/error.h"

using namespace krohn;

namespace {

void sleep_for(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

}  // namespace

TEST_CASE("without a limit, and within one, nothing happens; past it the message names the option") {
  TimeLimit::check();
  const TimeLimit none(0, "--time 0");
  TimeLimit::check();
  std::optional<TimeLimit> limit;
  limit.emplace(3600, "--time 3600");
  TimeLimit::check();
  limit.reset();
  limit.emplace(1e-6, "--time 0.000001");
  sleep_for(1e-3);
  try {
    TimeLimit::check();
    FAIL("no limit");
  } catch (const LimitError& error) {
    CHECK(std::string(error.what()).find("--time 0.000001") != std::string::npos);
  }
  limit.reset();
  TimeLimit::check();
}

TEST_CASE("an inner limit ends by itself, and never outlives the outer one") {
  const TimeLimit outer(3600, "outer");
  {
    const TimeLimit inner(1e-6, "inner");
    sleep_for(1e-3);
    CHECK_THROWS_AS(TimeLimit::check(), LimitError);
  }
  TimeLimit::check();
  const TimeLimit short_one(1e-6, "short");
  const TimeLimit inside(3600, "inside");
  sleep_for(1e-3);
  CHECK_THROWS_AS(TimeLimit::check(), LimitError);
}

TEST_CASE("a limit is its thread's") {
  const TimeLimit limit(1e-6, "one");
  sleep_for(1e-3);
  bool free = false;
  std::thread([&] {
    TimeLimit::check();
    free = true;
  }).join();
  CHECK(free);
  CHECK_THROWS_AS(TimeLimit::check(), LimitError);
}

TEST_CASE("what goes on after an error does not go on after an interrupt") {
  static_assert(!std::is_base_of_v<Error, Interrupted>);
  const auto look = [] {
    try {
      throw Interrupted("interrupted");
    } catch (const Error&) {
    }
  };
  CHECK_THROWS_AS(look(), Interrupted);
}
