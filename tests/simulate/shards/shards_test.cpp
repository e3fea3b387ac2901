#include <atomic>
#include <stdexcept>

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

using krohn::test::contents;
using krohn::test::error_of;
using krohn::test::Scratch;

namespace {

/// Items whose costs and lines differ.
WorkList numbers(std::uint64_t count) {
  WorkList list{"classify", "krohn 1.2.3", "--time 60", {}, {}};
  for (std::uint64_t i = 0; i < count; ++i) {
    list.items.push_back(fmt::format("number {}", i));
    list.costs.push_back(i * i % 7);
  }
  return list;
}

std::string square_line(std::uint64_t item) {
  return fmt::format(R"({{"square":{},"{{\"item\":0,":"\n"}})", item * item);
}

/// Does what is missing, last item first. Returns how many lines it added.
std::size_t work(const std::string& path, const WorkList& list, Shard shard) {
  PartFile part(path, list, shard);
  if (part.is_whole()) return 0;
  const auto missing = part.missing();
  for (auto item = missing.rbegin(); item != missing.rend(); ++item) part.add(*item, square_line(*item));
  part.finish();
  CHECK(part.is_whole());
  return missing.size();
}

std::vector<std::string> parts_of(const Scratch& place, const WorkList& list, std::uint64_t count) {
  std::vector<std::string> paths;
  for (std::uint64_t number = 1; number <= count; ++number) {
    paths.push_back((place / fmt::format("{}-of-{}.jsonl", number, count)).string());
    work(paths.back(), list, {number, count});
  }
  return paths;
}

}  // namespace

TEST_CASE("the parts of any cut are the list again") {
  const Scratch place("parts-any-cut");
  for (const std::uint64_t size : {1, 2, 9})
    for (std::uint64_t count = 1; count <= 5; ++count) {
      CAPTURE(size);
      CAPTURE(count);
      const Scratch here(fmt::format("parts-any-cut/{}-{}", size, count));
      auto paths = parts_of(here, numbers(size), count);
      std::ranges::reverse(paths);
      const MergedParts merged = merge_parts(paths);
      CHECK(merged.missing.empty());
      REQUIRE(merged.lines.size() == size);
      for (std::uint64_t i = 0; i < size; ++i) CHECK(merged.lines[i] == square_line(i));
    }
}

TEST_CASE("every subset of the parts says which are missing") {
  const Scratch place("parts-subsets");
  const auto paths = parts_of(place, numbers(9), 4);
  for (unsigned subset = 1; subset < 16; ++subset) {
    std::vector<std::string> given;
    std::vector<std::uint64_t> missing;
    for (unsigned i = 0; i < 4; ++i)
      if ((subset >> i & 1) != 0)
        given.push_back(paths[i]);
      else
        missing.push_back(i + 1);
    CHECK(merge_parts(given).missing == missing);
    given.push_back(given.front());
    CHECK(test::contains(error_of([&] { merge_parts(given); }), "give one of the two"));
  }
}

TEST_CASE("a part is carried on with, wherever its writer was killed") {
  const Scratch place("parts-killed");
  const WorkList list = numbers(9);
  const Shard shard{2, 3};
  const std::string path = (place / "part.jsonl").string(), begun = path + ".begun";
  std::string journal;
  {
    PartFile part(path, list, shard);
    const auto items = part.missing();
    REQUIRE(items.size() == 3);
    part.add(items[2], square_line(items[2]));
    part.add(items[0], square_line(items[0]));
    journal = contents(begun);
  }
  std::filesystem::remove(begun);
  CHECK(work(path, list, shard) == 3);
  const std::string whole = contents(path);
  CHECK(!std::filesystem::exists(begun));
  CHECK(work(path, list, shard) == 0);
  for (std::size_t cut = 0; cut <= journal.size(); ++cut)
    for (const std::string& tail : {std::string(), std::string(5, '\0'), std::string("\n")}) {
      CAPTURE(cut);
      std::filesystem::remove(path);
      place.write("part.jsonl.begun", journal.substr(0, cut) + tail);
      const std::string kept = journal.substr(0, cut);
      const auto lines = std::ranges::count(kept, '\n');
      const bool completes = tail == "\n" && cut < journal.size() && journal[cut] == '\n';  // the missing line break
      if (lines == 0 && !tail.empty() && !completes) {  // no kill leaves that: somebody else's file
        CHECK_THROWS_AS(work(path, list, shard), InputError);
        CHECK(contents(begun) == kept + tail);
        continue;
      }
      const auto there = std::max<std::int64_t>(lines + (completes ? 1 : 0) - 1, 0);
      CHECK(work(path, list, shard) == static_cast<std::size_t>(3 - there));
      CHECK(contents(path) == whole);
      CHECK(!std::filesystem::exists(begun));
    }
  // Killed between the appearance of the part and the removal of what it was made of.
  place.write("part.jsonl.begun", journal);
  CHECK(work(path, list, shard) == 0);
  CHECK(!std::filesystem::exists(begun));
}

TEST_CASE("a line that stands there twice counts once, and what follows a foreign one is done again") {
  const Scratch place("parts-twice");
  const WorkList list = numbers(4);
  const std::string path = (place / "part.jsonl").string(), begun = path + ".begun";
  {
    PartFile part(path, list, {1, 1});
    part.add(0, square_line(0));
  }
  const std::string journal = contents(begun), line = journal.substr(journal.find('\n') + 1);
  place.write("part.jsonl.begun",
              journal + line + R"({"item":4,"square":16})" + "\n" + R"({"item":1,"square":1})" + "\n");
  CHECK(work(path, list, {1, 1}) == 3);
  CHECK(merge_parts({path}).lines[1] == square_line(1));
}

TEST_CASE("no byte of a part can change, and none can be missing") {
  const Scratch place("parts-bytes");
  const std::string path = (place / "part.jsonl").string();
  work(path, numbers(3), {1, 1});
  const std::string whole = contents(path);
  CHECK(read_part(path).lines.size() == 3);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    CAPTURE(at);
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    place.write("part.jsonl", changed);
    CHECK_THROWS_AS(read_part(path), InputError);
    place.write("part.jsonl", whole.substr(0, at));
    CHECK_THROWS_AS(read_part(path), InputError);
  }
  for (const char* tail : {"\n", "{}\n", R"({"item":1,"x":0})", "\0"}) {
    place.write("part.jsonl", whole + tail + "\n");
    CHECK_THROWS_AS(read_part(path), InputError);
  }
}

TEST_CASE("two at work on one part") {
  const Scratch place("parts-two");
  const std::string path = (place / "part.jsonl").string();
  std::optional<PartFile> first(std::in_place, path, numbers(3), Shard{1, 1});
  CHECK_THROWS_WITH_AS(PartFile(path, numbers(3), {1, 1}), doctest::Contains("another krohn is at work"), SystemError);
  first.reset();
  CHECK(work(path, numbers(3), {1, 1}) == 3);
}

TEST_CASE("what belongs elsewhere is refused, with the difference, and stays") {
  const Scratch place("parts-foreign");
  const WorkList list = numbers(4);
  const auto change = [&list](auto member, auto value) {
    WorkList changed = list;
    changed.*member = value;
    return changed;
  };
  WorkList longer = numbers(5), renamed = list, resized = list;
  renamed.items[2] = "other";
  ++resized.costs[2];
  struct Fact {
    WorkList list;
    Shard shard;
    const char* message;
  };
  const std::vector<Fact> facts{
      {change(&WorkList::kind, "check"), {1, 2}, "krohn check"},
      {change(&WorkList::maker, "krohn 1.2.4"), {1, 2}, "krohn 1.2.4"},
      {change(&WorkList::options, "--time 5"), {1, 2}, "--time 5"},
      {longer, {1, 2}, "the other 5"},
      {renamed, {1, 2}, "not the same ones"},
      {resized, {1, 2}, "not of the same sizes"},
      {list, {1, 3}, "the other of 3"},
  };
  const std::string path = (place / "part.jsonl").string(), other = (place / "other.jsonl").string();
  for (const bool is_whole : {false, true}) {
    if (is_whole)
      work(path, list, {1, 2});
    else
      PartFile(path, list, {1, 2});
    const std::string file = is_whole ? path : path + ".begun", before = contents(file);
    for (const auto& [asked, shard, message] : facts) {
      CAPTURE(message);
      const std::string error = error_of([&, &asked = asked, &shard = shard] { PartFile(path, asked, shard); });
      CHECK_MESSAGE(test::contains(error, message), error);
      CHECK(contents(file) == before);
    }
    CHECK(test::contains(error_of([&] { PartFile(path, list, {2, 2}); }), "shard 1/2"));
  }
  for (const auto& [asked, shard, message] : facts) {
    CAPTURE(message);
    std::filesystem::remove(other);
    work(other, asked, {shard.count, shard.count});
    const std::string error = error_of([&] { merge_parts({path, other}); });
    CHECK_MESSAGE(test::contains(error, message), error);
    CHECK(test::contains(error, "other.jsonl"));
  }
  place.write("text.jsonl", "no part\n");
  CHECK(test::contains(error_of([&] { PartFile((place / "text.jsonl").string(), list, {1, 2}); }), "no part"));
  place.write("begun.jsonl.begun", "no part\n");
  CHECK(test::contains(error_of([&] { PartFile((place / "begun.jsonl").string(), list, {1, 2}); }), "no part"));
  CHECK(contents(place / "begun.jsonl.begun") == "no part\n");
  PartFile begun((place / "new.jsonl").string(), list, {1, 2});
  CHECK(test::contains(error_of([&] { merge_parts({(place / "new.jsonl.begun").string()}); }), "not finished"));
}
