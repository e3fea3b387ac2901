#include "krohn/simulate/shards/item_workers.h"

#include <doctest/doctest.h>

#include <atomic>
#include <map>
#include <numeric>
#include <stdexcept>

using namespace krohn;

namespace {

constexpr std::chrono::milliseconds kPatience{100};

std::string line_of(std::uint64_t item) { return "{\"item\": " + std::to_string(item) + "}"; }

}  // namespace

TEST_CASE("every item that is added gives its line once, whenever it is added") {
  for (const unsigned threads : {0u, 1u, 2u, 5u}) {
    CAPTURE(threads);
    ItemWorkers workers(threads, line_of);
    std::map<std::uint64_t, int> seen;
    for (std::uint64_t round = 0; round < 20; ++round) {
      std::vector<std::uint64_t> items(round);
      std::iota(items.begin(), items.end(), 100 * round);
      workers.add(items);
      if (round % 3 == 0) continue;
      while (workers.open() > 0)
        for (const auto& [item, line] : workers.take(kPatience)) {
          CHECK(line == line_of(item));
          ++seen[item];
        }
    }
    while (workers.open() > 0)
      for (const auto& made : workers.take(kPatience)) ++seen[made.item];
    CHECK(seen.size() == 190);
    for (const auto& [item, times] : seen) CHECK(times == 1);
    CHECK(workers.failure() == nullptr);
  }
}

TEST_CASE("what is thrown is kept, and nothing is begun after it") {
  std::atomic<int> begun = 0;
  ItemWorkers workers(1, [&](std::uint64_t item) {
    ++begun;
    if (item == 3) throw std::runtime_error("three");
    return line_of(item);
  });
  workers.add(std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5});
  std::size_t lines = 0;
  while (workers.open() > 0) lines += workers.take(kPatience).size();
  CHECK(lines == 3);
  CHECK(begun == 4);
  REQUIRE(workers.failure() != nullptr);
  CHECK_THROWS_WITH(std::rethrow_exception(workers.failure()), "three");
  workers.add(std::vector<std::uint64_t>{6});
  CHECK(workers.open() == 0);
}

TEST_CASE("items that wait can be dropped, those under way are finished") {
  std::atomic<bool> may_end = false;
  std::atomic<int> begun = 0;
  ItemWorkers workers(1, [&](std::uint64_t item) {
    ++begun;
    while (!may_end) std::this_thread::yield();
    return line_of(item);
  });
  workers.add(std::vector<std::uint64_t>{7, 8, 9});
  while (begun == 0) std::this_thread::yield();
  workers.drop_waiting();
  CHECK(workers.open() == 1);
  may_end = true;
  std::vector<ItemWorkers::Finished> made;
  while (made.empty()) made = workers.take(kPatience);
  CHECK(made.size() == 1);
  CHECK(made[0].item == 7);
  CHECK(workers.open() == 0);
}
