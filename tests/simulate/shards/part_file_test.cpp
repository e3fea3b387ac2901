#include "krohn/simulate/shards/part_file.h"
#include "tests/testing.h"

using namespace krohn;
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

std::string line_of(std::uint64_t item) { return fmt::format(R"({{"square":{},"{{\"item\":0,":"\n"}})", item * item); }

/// Does what is missing, last item first. Returns how many lines it added.
std::size_t work(const std::string& path, const WorkList& list, Shard shard) {
  PartFile part(path, list, shard);
  if (part.is_whole()) return 0;
  const auto missing = part.missing();
  for (auto item = missing.rbegin(); item != missing.rend(); ++item) part.add(*item, line_of(*item));
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
      for (std::uint64_t i = 0; i < size; ++i) CHECK(merged.lines[i] == line_of(i));
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
    CHECK(error_of([&] { merge_parts(given); }).find("give one of the two") != std::string::npos);
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
    part.add(items[2], line_of(items[2]));
    part.add(items[0], line_of(items[0]));
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
    part.add(0, line_of(0));
  }
  const std::string journal = contents(begun), line = journal.substr(journal.find('\n') + 1);
  place.write("part.jsonl.begun",
              journal + line + R"({"item":4,"square":16})" + "\n" + R"({"item":1,"square":1})" + "\n");
  CHECK(work(path, list, {1, 1}) == 3);
  CHECK(merge_parts({path}).lines[1] == line_of(1));
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
      CHECK_MESSAGE(error.find(message) != std::string::npos, error);
      CHECK(contents(file) == before);
    }
    CHECK(error_of([&] { PartFile(path, list, {2, 2}); }).find("shard 1/2") != std::string::npos);
  }
  for (const auto& [asked, shard, message] : facts) {
    CAPTURE(message);
    std::filesystem::remove(other);
    work(other, asked, {shard.count, shard.count});
    const std::string error = error_of([&] { merge_parts({path, other}); });
    CHECK_MESSAGE(error.find(message) != std::string::npos, error);
    CHECK(error.find("other.jsonl") != std::string::npos);
  }
  place.write("text.jsonl", "no part\n");
  CHECK(error_of([&] {
          PartFile((place / "text.jsonl").string(), list, {1, 2});
        }).find("no part") != std::string::npos);
  place.write("begun.jsonl.begun", "no part\n");
  CHECK(error_of([&] {
          PartFile((place / "begun.jsonl").string(), list, {1, 2});
        }).find("no part") != std::string::npos);
  CHECK(contents(place / "begun.jsonl.begun") == "no part\n");
  PartFile begun((place / "new.jsonl").string(), list, {1, 2});
  CHECK(error_of([&] { merge_parts({(place / "new.jsonl.begun").string()}); }).find("not finished") !=
        std::string::npos);
}
