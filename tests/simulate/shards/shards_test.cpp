#include <atomic>
#include <stdexcept>

#include "krohn/simulate/shards/item_workers.h"
#include "krohn/simulate/shards/part_file.h"
#include "tests/testing.h"

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

namespace {

using Costs = std::vector<std::uint64_t>;

/// The shard of every item, and that it has exactly one.
std::vector<std::uint64_t> owners(const Costs& costs, std::uint64_t count) {
  std::vector<std::uint64_t> owner(costs.size(), 0);
  for (std::uint64_t number = 1; number <= count; ++number) {
    const auto items = items_of({number, count}, costs);
    CHECK(std::ranges::is_sorted(items));
    for (const std::uint64_t item : items) {
      REQUIRE(item < costs.size());
      CHECK(owner[item] == 0);
      owner[item] = number;
    }
  }
  CHECK(std::ranges::count(owner, 0U) == 0);
  return owner;
}

std::uint64_t greatest_load(const Costs& costs, const std::vector<std::uint64_t>& owner, std::uint64_t count) {
  Costs loads(count + 1, 0);
  for (std::size_t i = 0; i < costs.size(); ++i) loads[owner[i]] += std::max<std::uint64_t>(costs[i], 1);
  return std::ranges::max(loads);
}

/// The least greatest load of all count^items ways to cut the list.
std::uint64_t least_greatest_load(const Costs& costs, std::uint64_t count) {
  std::uint64_t least = UINT64_MAX;
  std::vector<std::uint64_t> owner(costs.size(), 1);
  for (;;) {
    least = std::min(least, greatest_load(costs, owner, count));
    std::size_t i = 0;
    while (i < owner.size() && owner[i] == count) owner[i++] = 1;
    if (i == owner.size()) return least;
    ++owner[i];
  }
}

}  // namespace

TEST_CASE("a shard is I/N with 1 ≤ I ≤ N ≤ a million") {
  CHECK(parse_shard("1/1") == Shard{1, 1});
  CHECK(parse_shard("3/100") == Shard{3, 100});
  CHECK(parse_shard("1000000/1000000") == Shard{1'000'000, 1'000'000});
  CHECK(to_string(parse_shard("3/100")) == "3/100");
  for (const char* text : {"", "/", "3", "3/", "/3", "0/3", "4/3", "1/1000001", "-1/3", "1/3/4", " 1/3", "1/3 ", "a/b",
                           "1/0", "0/0", "1.5/3", "99999999999999999999/99999999999999999999"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_shard(text), InputError);
  }
}

TEST_CASE("all lists of up to five small costs: every item once, and no shard far above the best cut") {
  constexpr std::uint64_t kCosts[] = {0, 1, 2, 3, 5};
  for (std::size_t size = 0; size <= 5; ++size) {
    std::vector<std::size_t> digit(size, 0);
    for (bool more = true; more;) {
      Costs costs;
      for (const std::size_t d : digit) costs.push_back(kCosts[d]);
      if (std::ranges::is_sorted(costs) || size < 5)  // every order, but of the longest one each
        for (std::uint64_t count = 1; count <= 3; ++count) {
          const std::uint64_t found = greatest_load(costs, owners(costs, count), count);
          if (size > 0) CHECK(3 * count * found <= (4 * count - 1) * least_greatest_load(costs, count));  // Graham
        }
      std::size_t i = 0;
      while (i < size && ++digit[i] == std::size(kCosts)) digit[i++] = 0;
      more = i < size;
    }
  }
}

TEST_CASE("Graham's worst case is met exactly: 2n − 1, 2n − 1, 2n − 2, …, n, n, n") {
  for (std::uint64_t n = 2; n <= 6; ++n) {
    Costs costs{n};
    for (std::uint64_t cost = n; cost < 2 * n; ++cost) costs.insert(costs.end(), 2, cost);
    CHECK(greatest_load(costs, owners(costs, n), n) == 4 * n - 1);  // and 3n is possible
  }
}

TEST_CASE("equal costs go round, and shards may be empty") {
  for (const std::uint64_t cost : {0U, 1U, 4096U}) {
    const auto owner = owners(Costs(10, cost), 4);
    for (std::size_t i = 0; i < owner.size(); ++i) CHECK(owner[i] == i % 4 + 1);
  }
  CHECK(items_of({3, 5}, Costs(2, 1)).empty());
  CHECK(items_of({1, 1}, {}).empty());
}

TEST_CASE("costs count up to 2^40, and from 1") {
  constexpr std::uint64_t kMax = std::uint64_t{1} << 40;
  // The second of the two great ones is smaller by one or the same, which says who comes first.
  CHECK(items_of({1, 2}, {kMax - 1, kMax}) == std::vector<std::uint64_t>{1});
  CHECK(items_of({1, 2}, {kMax, kMax + 1}) == std::vector<std::uint64_t>{0});
  CHECK(items_of({1, 2}, {1, 2}) == std::vector<std::uint64_t>{1});
  CHECK(items_of({1, 2}, {0, 1}) == std::vector<std::uint64_t>{0});
  Costs endless(100, UINT64_MAX);  // no sum overflows
  CHECK(items_of({1, 10}, endless).size() == 10);
}

TEST_CASE("numbers as ranges") {
  CHECK(ranges_of({}) == "");
  CHECK(ranges_of({4}) == "4");
  CHECK(ranges_of({4, 5}) == "4-5");
  CHECK(ranges_of({1, 3, 5}) == "1,3,5");
  CHECK(ranges_of({4, 7, 8, 9, 11}) == "4,7-9,11");
}
