#include <sys/wait.h>

#include <thread>
#include <type_traits>

#include "krohn/groups/base/record_set.h"
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
    CHECK(test::contains(std::string(error.what()), "--time 0.000001"));
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
  for (const std::string& said : {here, there, inner}) CHECK(test::contains(said, "--time 1"));
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

TEST_CASE("a record set is a map from records to their arrival numbers") {
  for (const std::size_t words : {1, 2, 5}) {
    CAPTURE(words);
    std::mt19937_64 random(words);
    RecordSet set(words);
    std::map<std::vector<std::uint32_t>, RecordSet::Index> reference;
    for (int i = 0; i < 30'000; ++i) {
      std::vector<std::uint32_t> record(words);
      for (auto& word : record) word = static_cast<std::uint32_t>(random() % (words == 1 ? 20'000 : 12));
      const auto found = reference.find(record);
      CHECK(set.find(record).has_value() == (found != reference.end()));
      const auto [index, fresh] = set.insert(record);
      REQUIRE(fresh == (found == reference.end()));
      REQUIRE(index == (fresh ? static_cast<RecordSet::Index>(reference.size()) : found->second));
      reference.try_emplace(record, index);
    }
    REQUIRE(set.size() == reference.size());
    for (const auto& [record, index] : reference) {
      REQUIRE(std::equal(record.begin(), record.end(), set[index].begin()));
      REQUIRE(set.find(record) == index);
    }
  }
}

TEST_CASE("records that differ in one bit are apart, and records never move") {
  RecordSet set(3);
  std::vector<std::uint32_t> record{1, 2, 3};
  const std::uint32_t* first = set[set.insert(record).index].data();
  for (std::size_t word = 0; word < 3; ++word)
    for (unsigned bit = 0; bit < 32; ++bit) {
      record[word] ^= 1U << bit;
      CHECK(set.insert(record).fresh);
      record[word] ^= 1U << bit;
    }
  for (std::uint32_t i = 0; i < 100'000; ++i) set.insert(std::vector<std::uint32_t>{i, i, i});
  CHECK(set[0].data() == first);
  CHECK(set.bytes() <= set.size() * (3 * 4 + 16) + (3 * 4 << 12));
}

TEST_CASE("a record has at least one word") { CHECK_THROWS_AS(RecordSet(0), InputError); }

namespace krohn::test {

TEST_CASE("a folder of the same name in another program is another folder") {
  const Scratch mine("same-name");
  mine.write("kept", "mine");
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    bool alone = false;
    {
      const Scratch other("same-name");
      alone = std::filesystem::is_empty(other.path()) && other.path() != mine.path();
      other.write("kept", "other");
    }
    _exit(alone ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(contents(mine / "kept") == "mine");
}

TEST_CASE("nothing of a folder stays") {
  std::filesystem::path path;
  {
    const Scratch scratch("goes");
    scratch.write("file", "");
    path = scratch.path();
  }
  CHECK(!std::filesystem::exists(path));
  CHECK(!std::filesystem::exists(path.parent_path()));
}

}  // namespace krohn::test
