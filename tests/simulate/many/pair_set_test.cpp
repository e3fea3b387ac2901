// Records on disk against the sets of the standard library.
#include "krohn/simulate/many/pair_set.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "krohn/simulate/many/pair_run.h"
#include "krohn/simulate/many/varint.h"
#include "tests/scratch.h"

using namespace krohn;
using namespace krohn::test;

namespace {

using Record = std::vector<std::uint32_t>;
using Records = std::set<Record>;

std::unique_ptr<PairRun> run_of(const Records& records, DiskSpace& space, std::size_t width) {
  auto run = std::make_unique<PairRun>(space, width, records.size());
  for (const Record& record : records) run->append(record);
  run->finish();
  return run;
}

Records read(const PairRun& run) {
  Records records;
  for (PairRun::Cursor cursor(run); !cursor.is_at_end(); cursor.next())
    CHECK(records.insert({cursor.record().begin(), cursor.record().end()}).second);
  return records;
}

bool has(const PairRun& run, const Record& record) {
  PairRun::Cursor cursor(run);
  cursor.seek(record);
  return !cursor.is_at_end() && std::ranges::equal(cursor.record(), record);
}

/// Neighbours in a plane of numbers, as a rotation's; or anything; or few values a word.
Record draw(std::mt19937_64& random, std::size_t width, int kind) {
  Record record(width);
  for (std::uint32_t& word : record) {
    const auto drawn = static_cast<std::uint32_t>(random());
    word = kind == 0 ? drawn : kind == 1 ? 0x3f800000u + drawn % 200 : drawn % 3 - 1;
  }
  return record;
}

}  // namespace

TEST_CASE("counts in bytes: every length's least and greatest, and bytes that break off") {
  std::vector<std::uint64_t> counts{0, UINT64_MAX};
  for (unsigned bits = 0; bits < 64; ++bits)
    for (const std::uint64_t less : {0, 1}) counts.push_back((std::uint64_t{1} << bits) - less);
  for (const std::uint64_t count : counts) {
    std::vector<std::uint8_t> bytes;
    put_varint(bytes, count);
    std::size_t at = 0;
    CHECK(take_varint(bytes, at) == count);
    CHECK(at == bytes.size());
    bytes.pop_back();
    at = 0;
    take_varint(bytes, at);
    CHECK(at > bytes.size());
  }
}

TEST_CASE("records are sorted by their words") {
  std::mt19937_64 random(11);
  for (const std::size_t width : {1, 2, 3, 5})
    for (const std::size_t count : {0, 1, 2, 3, 50, 3000})
      for (const int kind : {0, 1, 2}) {
        std::vector<Record> rows;
        for (std::size_t i = 0; i < count; ++i) rows.push_back(draw(random, width, kind));
        if (kind == 2 && count == 50) std::ranges::sort(rows);
        std::vector<std::uint32_t> flat;
        for (const Record& row : rows) flat.insert(flat.end(), row.begin(), row.end());
        sort_records(flat, width);
        std::ranges::sort(rows);
        std::vector<std::uint32_t> wanted;
        for (const Record& row : rows) wanted.insert(wanted.end(), row.begin(), row.end());
        REQUIRE(flat == wanted);
      }
}

TEST_CASE("a run gives its records in order, finds each, and nothing else") {
  const Scratch scratch("pair-run");
  DiskSpace space(scratch.path().string(), 1 << 26);
  // Every set of three values of two words, which are neighbours and the ends of what there is.
  const std::uint32_t values[] = {0, 1, 64, 65, UINT32_MAX};
  std::vector<Record> all;
  for (const std::uint32_t a : values)
    for (const std::uint32_t b : values) all.push_back({a, b});
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = i; j < all.size(); ++j)
      for (std::size_t k = j; k < all.size(); ++k) {
        const Records records{all[i], all[j], all[k]};
        const auto run = run_of(records, space, 2);
        REQUIRE(run->size() == records.size());
        REQUIRE(read(*run) == records);
        for (const Record& record : all) REQUIRE(has(*run, record) == records.contains(record));
      }
  std::mt19937_64 random(5);
  for (const std::size_t width : {1, 3, 40})
    for (const int kind : {0, 1, 2})
      for (const std::size_t count : {0, 1, 5000}) {
        Records records, others;
        for (std::size_t i = 0; i < count; ++i) records.insert(draw(random, width, kind));
        for (std::size_t i = 0; i < 500; ++i) others.insert(draw(random, width, kind));
        const auto run = run_of(records, space, width);
        REQUIRE(read(*run) == records);
        PairRun::Cursor cursor(*run);
        for (const Record& other : others) {  // ascending, with one cursor
          cursor.seek(other);
          const auto wanted = records.lower_bound(other);
          REQUIRE(cursor.is_at_end() == (wanted == records.end()));
          if (wanted != records.end()) REQUIRE(std::ranges::equal(cursor.record(), *wanted));
        }
      }
  CHECK(space.used() == 0);
}

TEST_CASE("neighbours cost a byte, and anything costs little more than it is long") {
  const Scratch scratch("run-bytes");
  DiskSpace space(scratch.path().string(), 1 << 26);
  Records near, far;
  std::mt19937_64 random(5);
  for (std::uint32_t i = 0; i < 100'000; ++i) near.insert({5, 0x3f800000u + i / 1000, i % 1000 * 64});
  while (far.size() < 10'000) far.insert(draw(random, 3, 0));
  const auto run = run_of(near, space, 3), wide = run_of(far, space, 3);
  CHECK(run->disk_bytes() < 1.1 * 100'000);
  CHECK(wide->disk_bytes() < 15 * 10'000);
  CHECK(run->bytes() < 3 * 100'000);
}

TEST_CASE("a run refuses what does not ascend") {
  const Scratch scratch("run-order");
  DiskSpace space(scratch.path().string(), 1 << 20);
  for (const Record& next : {Record{1, 5}, Record{1, 4}, Record{0, 9}}) {
    PairRun run(space, 2, 2);
    run.append(Record{1, 5});
    CHECK_THROWS_AS(run.append(next), SystemError);
  }
}

TEST_CASE("runs merge to the union, and not when they share a record") {
  const Scratch scratch("run-merge");
  DiskSpace space(scratch.path().string(), 1 << 26);
  std::mt19937_64 random(9);
  for (const auto& [left, right] :
       {std::pair<std::size_t, std::size_t>{0, 0}, {0, 7}, {7, 0}, {1, 1}, {3000, 40}, {2000, 3000}}) {
    Records a, b;
    while (a.size() < left) a.insert(draw(random, 3, 1));
    while (b.size() < right)
      if (Record record = draw(random, 3, 1); !a.contains(record)) b.insert(std::move(record));
    const auto first = run_of(a, space, 3), second = run_of(b, space, 3);
    const auto merged = merge(*first, *second, space, 3);
    Records both = a;
    both.insert(b.begin(), b.end());
    CHECK(read(*merged) == both);
    for (const Record& record : both) REQUIRE(merged->may_have(RecordSet::hash(record)));
    if (!a.empty()) CHECK_THROWS_AS(merge(*first, *first, space, 3), SystemError);
  }
}

TEST_CASE("a filter has what was added, and one in three hundred others") {
  std::mt19937_64 random(1);
  for (const unsigned ranks : {1u, 7u}) {  // hashes of one rank share their high bits
    HashFilter filter(20'000);
    const auto hash = [&] { return random() / ranks; };
    std::vector<std::uint64_t> added(20'000);
    for (std::uint64_t& one : added) filter.add(one = hash());
    for (const std::uint64_t one : added) REQUIRE(filter.may_have(one));
    int wrong = 0;
    for (int i = 0; i < 100'000; ++i) wrong += filter.may_have(hash());
    CHECK(wrong > 50);
    CHECK(wrong < 700);
  }
  const HashFilter none(0);
  CHECK_FALSE(none.may_have(7));
}

TEST_CASE("a set says of every record whether it is new, wherever the others are") {
  const Scratch scratch("pair-set");
  std::mt19937_64 random(2);
  for (const std::size_t width : {1, 3})
    for (const int kind : {1, 2, 0}) {
      DiskSpace space(scratch.path().string(), 1 << 26);
      PairSet set(width);
      Records known;
      for (int batch = 0; batch < 60; ++batch) {
        std::vector<std::uint32_t> records;
        std::vector<bool> wanted;
        for (std::size_t i = random() % 300; i > 0; --i) {
          Record record = draw(random, width, kind);
          if (!known.empty() && random() % 2 == 0)  // one that is there, or its neighbour
            if (const auto found = known.lower_bound(record); found != known.end()) record = *found;
          if (random() % 4 == 0) ++record.back();
          records.insert(records.end(), record.begin(), record.end());
          wanted.push_back(known.insert(record).second);
        }
        Ranks::Words fresh;
        set.insert(records, fresh);
        REQUIRE(fresh.size() == (wanted.size() + 31) / 32);
        for (std::size_t i = 0; i < wanted.size(); ++i) REQUIRE((fresh[i / 32] >> i % 32 & 1) == wanted[i]);
        REQUIRE(set.size() == known.size());
        if (random() % 3 != 0) set.make_room(1000, space);  // less than any generation: each goes on at once
      }
      if (kind != 2) CHECK(space.used() > 0);  // of few values all are soon there
    }
}

TEST_CASE("a set that the disk refuses still has everything") {
  const Scratch scratch("pair-set-full");
  for (const std::uint64_t most : {0, 100, 1000, 3000}) {
    DiskSpace space(scratch.path().string(), most);
    PairSet set(2);
    std::vector<std::uint32_t> records;
    Ranks::Words fresh;
    bool was_refused = false;
    for (std::uint32_t i = 0; i < 2000; ++i) {
      const std::uint32_t record[] = {i % 7, i * 2'654'435'761u};
      records.insert(records.end(), {record[0], record[1]});
      set.insert(record, fresh);
      REQUIRE(fresh[0] == 1);
      if (i % 100 == 99) try {
          set.make_room(1000, space);
        } catch (const DiskFull&) {
          was_refused = true;
        }
    }
    CHECK(was_refused);
    CHECK(set.size() == 2000);
    set.insert(records, fresh);
    CHECK(std::ranges::all_of(fresh, [](std::uint32_t bits) { return bits == 0; }));
  }
}
