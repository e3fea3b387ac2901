#include <thread>
#include <type_traits>

#include "krohn/groups/base/time_limit.h"
#include "tests/testing.h"

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

TEST_CASE("a limit of the process is every thread's that has none, and bounds the others") {
  const TimeLimit of_process(1e-6, "--time 1", TimeLimit::Of::kProcess);
  sleep_for(1e-3);
  std::string here, there, inner;
  const auto look = [](std::string& said) {
    try {
      TimeLimit::check();
    } catch (const LimitError& error) {
      said = error.what();
    }
  };
  look(here);
  std::thread([&] { look(there); }).join();
  {
    const TimeLimit longer(3600, "--longer");
    look(inner);
    CHECK(TimeLimit::met() == "the time (--time 1)");
  }
  for (const std::string& said : {here, there, inner}) CHECK(said.find("--time 1") != std::string::npos);
  CHECK_THROWS_AS(TimeLimit::check_process(), LimitError);
}

TEST_CASE("a share of the time is a share of what is left, under the name of the whole") {
  CHECK(std::isinf(TimeLimit::left()));
  {
    const TimeLimit part = TimeLimit::part(0.5);
    CHECK(std::isinf(TimeLimit::left()));
    CHECK(TimeLimit::met().empty());
  }
  const TimeLimit whole(100, "--time 100");
  {
    const TimeLimit half = TimeLimit::part(0.5), quarter = TimeLimit::part(0.5);
    CHECK(TimeLimit::left() < 25.01);
    CHECK(TimeLimit::left() > 24);
  }
  CHECK(TimeLimit::left() > 99);
  const TimeLimit nothing = TimeLimit::part(1e-9);
  sleep_for(1e-3);
  CHECK(TimeLimit::met() == "the time (--time 100)");
  CHECK_NOTHROW(TimeLimit::check_process());
}

TEST_CASE("memory past the limit is told, and what is given back counts no more") {
  const TimeLimit time(0, "");
  const std::uint64_t before = MemoryLimit::held(), much = std::uint64_t{64} << 20;
  CHECK(before > 0);
  const MemoryLimit limit(before + much, "--memory 64M");
  const auto is_met = [] {
    sleep_for(0.01);  // it is not looked at all the time
    return TimeLimit::met();
  };
  CHECK(is_met().empty());
  std::optional<std::vector<char>> block(std::in_place, 2 * much, 'x');
  CHECK(is_met() == "the memory (--memory 64M)");
  CHECK_THROWS_AS(TimeLimit::check(), LimitError);
  block.reset();
  CHECK(is_met().empty());
  // Small blocks that are freed between others stay with the allocator until they are asked back.
  std::vector<std::unique_ptr<char[]>> many;
  for (std::uint64_t i = 0; i < 2 * much / 1024; ++i) many.push_back(std::make_unique<char[]>(1024));
  CHECK_FALSE(is_met().empty());
  auto last = std::move(many.back());
  many.clear();
  CHECK(is_met().empty());
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
