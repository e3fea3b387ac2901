#include "krohn/simulate/many/many_place.h"
#include "krohn/simulate/many/pair_set.h"
#include "krohn/simulate/many/ranks.h"
#include "krohn/simulate/prove/pairs/pair_search.h"
#include "tests/simulate/hand_built.h"
#include "tests/simulate/many/thread_ranks.h"
#include "tests/testing.h"

using namespace krohn;
using namespace krohn::hand_built;
using namespace krohn::test;

// Searches of pairs whose memory ends: they go on with the disk, and say what those say that have memory enough.

namespace {

constexpr unsigned kSizes[] = {1, 2, 3, 4, 7};
/// Less than a search of a few hundred pairs takes, and more than the filters of some thousands do.
constexpr std::uint64_t kLittle = std::uint64_t{1} << 16;

struct Subject {
  Network network;
  ArithmeticName arithmetic;
  std::uint64_t max_pairs;
  std::uint64_t memory = kLittle;
};

CertifyOptions with_little_memory(const Subject& subject) {
  CertifyOptions options = in(subject.arithmetic, subject.max_pairs);
  options.max_bytes = subject.memory;
  return options;
}

std::string alone(const Subject& subject) {
  return text_of(certify_reachable_set(subject.network, in(subject.arithmetic, subject.max_pairs)));
}

Subject rotation_of_five(std::uint64_t max_pairs) {
  return {rotation(5, all_residues(5)), Precision::kFp32, max_pairs};
}

}  // namespace

TEST_CASE("a search whose memory ends goes on with its levels on disk, and says the same") {
  std::vector<Subject> subjects{rotation_of_five(3000),
                                {rotation(10, all_residues(10)), Precision::kBf16, 2000},
                                {rotation(60, all_residues(60)), Precision::kBf16, 4000},
                                {rotation(7, {2, 3}), Precision::kFp64, 1999}};
  // A counter of 2,000, whose records are wide; and one that goes wrong at the last of its states, so that the way back
  // to the start is through transitions that went to the disk.
  const Dfa right = counter(2000, {1, 45});
  subjects.push_back({one_hot(right), Precision::kBf16, 20'000, /*memory=*/1 << 20});
  std::vector<State> table(right.table().begin(), right.table().end());
  table[2 * 1979] = 0;
  subjects.push_back({one_hot(right), Precision::kBf16, 20'000, /*memory=*/1 << 20});
  subjects.back().network.automaton = automaton(2, std::move(table));
  std::vector<std::size_t> claims{0, 0, 0};
  for (const Subject& subject : subjects) {
    const Certificate certificate = certify_reachable_set(subject.network, in(subject.arithmetic, subject.max_pairs));
    ++claims[certificate.is<Proved>() ? 0 : certificate.is<Refuted>() ? 1 : 2];
    const std::string wanted = text_of(certificate);
    for (const unsigned size : kSizes) {
      if (subject.memory > kLittle && size > 2) continue;  // wide records are slow
      CAPTURE(size);
      REQUIRE(search(size, subject.network, with_little_memory(subject), {.round_words = 1}) == wanted);
    }
    // It is the disk that made it possible.
    REQUIRE(search(1, subject.network, with_little_memory(subject), {.round_words = 1, .max_disk_bytes = 0})
                .find(std::to_string(subject.memory) + " bytes of pairs on a rank") != std::string::npos);
  }
  CHECK(claims == std::vector<std::size_t>{1, 1, 4});
}

TEST_CASE("a level that memory does not hold is read from the disk") {
  Subject subject = rotation_of_five(50'000);  // its last levels are of 1,260 pairs: more than a chunk
  subject.memory = 1 << 18;
  for (const unsigned size : {1u, 3u})
    CHECK(search(size, subject.network, with_little_memory(subject), {.round_words = 1 << 12}) == alone(subject));
}

TEST_CASE(
    "a search on disk that is interrupted in every round, and gone on with on other ranks, ends as one that is not") {
  const Subject subject = rotation_of_five(1500);
  const Scratch scratch("disk-search");
  std::string ended;
  int interrupts = 0;
  for (; ended.empty() && interrupts < 1000; ++interrupts) {
    CertifyOptions options = with_little_memory(subject);
    int rounds = 0;
    options.progress = [&](std::uint64_t) {
      if (++rounds > 3) throw Interrupted("interrupted");
    };
    try {
      ended = search(kSizes[interrupts % 5], subject.network, options,
                     {scratch.path().string(), interrupts % 2 == 0 ? 0.0 : 1000.0, /*round_words=*/1});
    } catch (const LimitError& error) {
      CHECK(contains(std::string(error.what()), "goes on from"));
    }
  }
  CHECK(ended == alone(subject));
  CHECK(interrupts > 3);
  // Nothing but what is kept is left of it.
  for (const auto& entry : std::filesystem::directory_iterator(scratch.path()))
    CHECK_FALSE(entry.path().filename().string().starts_with(".krohn-pairs"));
}

TEST_CASE("a limit of disk stops a search, what was proved stands, and the folder goes on with more") {
  const Subject subject = rotation_of_five(3000);
  const Scratch scratch("disk-limit");
  KeptSearch kept{scratch.path().string(), 1000, /*round_words=*/1, /*max_disk_bytes=*/15'000};
  const std::string text = search(2, subject.network, with_little_memory(subject), kept);
  CHECK(text.starts_with("proved up to a length"));
  CHECK(contains(text, "limit: 15000 bytes of disk on a rank"));
  kept.max_disk_bytes = KeptSearch{}.max_disk_bytes;
  CHECK(search(3, subject.network, with_little_memory(subject), kept) == alone(subject));
}

TEST_CASE("a disk that is full stops a search, what was proved stands, and the folder goes on where there is room") {
  const Subject subject = rotation_of_five(3000);
  const Scratch scratch("disk-full");
  const KeptSearch kept{scratch.path().string(), /*seconds=*/0, /*round_words=*/1};
  {
    const SmallFiles small(20'000);
    const std::string text = search(2, subject.network, with_little_memory(subject), kept);
    CHECK(text.starts_with("proved up to a length"));
    CHECK(contains(text, "File too large"));
  }
  CHECK(contents(scratch / "pairs.json").size() > 100);
  CHECK(search(3, subject.network, with_little_memory(subject), kept) == alone(subject));
}

TEST_CASE("filters that leave no room in memory stop a search") {
  const Subject subject = rotation_of_five(100'000);
  const std::string text = search(1, subject.network, with_little_memory(subject), {.round_words = 1 << 12});
  CHECK(text.starts_with("proved up to a length"));
  CHECK(contains(text, std::to_string(subject.memory) + " bytes of pairs on a rank"));
}

TEST_CASE("a folder for temporary files that is not there stops only a search that needs it") {
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before != nullptr ? before : "";
  setenv("TMPDIR", "/nonexistent", 1);
  Subject subject = rotation_of_five(3000);
  const std::string text = search(2, subject.network, with_little_memory(subject), {.round_words = 1});
  subject.memory = 1 << 30;
  const std::string enough = search(2, subject.network, with_little_memory(subject), {.round_words = 1});
  before != nullptr ? setenv("TMPDIR", kept.c_str(), 1) : unsetenv("TMPDIR");
  CHECK(text.starts_with("proved up to a length"));
  CHECK(contains(text, "the disk of rank 0 (temporary files: No such file or directory)"));
  CHECK(enough == alone(subject));
}

// Records on disk against the sets of the standard library.

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

// Long words cut over the ranks of a job.

namespace {

/// Few states whose maps do not commute, the same with a small monoid, states that merge, and many that do not.
std::vector<Dfa> automata() {
  std::mt19937_64 random(3);
  std::vector<Dfa> all{random_automaton(random, 5, 2), random_automaton(random, 3000, 2),
                       symmetric(4, 3, Swap::kMap).automaton};
  std::vector<State> table, images(1000);
  for (State q = 0; q < 1000; ++q) images[q] = q;
  for (int letter = 0; letter < 2; ++letter) {
    std::shuffle(images.begin(), images.end(), random);
    for (State q = 0; q < 1000; ++q) table.push_back(images[q]);
  }
  std::vector<State> by_state;
  for (State q = 0; q < 1000; ++q) by_state.insert(by_state.end(), {table[q], table[1000 + q]});
  all.push_back(automaton(2, by_state));
  return all;
}

}  // namespace

TEST_CASE("shares are in order, whole, and differ by at most one") {
  for (std::uint64_t length = 0; length <= 20; ++length)
    for (unsigned size = 1; size <= 9; ++size) {
      std::uint64_t at = 100;
      for (unsigned rank = 0; rank < size; ++rank) {
        const Share share = share_of(100, 100 + length, rank, size);
        REQUIRE(share.begin == at);
        REQUIRE(share.end - share.begin >= length / size);
        REQUIRE(share.end - share.begin <= (length + size - 1) / size);
        at = share.end;
      }
      REQUIRE(at == 100 + length);
    }
}

TEST_CASE("ranks read a slice as one process does") {
  constexpr std::uint64_t kShare = 1 << 16;  // below it rank 0 reads alone
  for (const Dfa& dfa : automata())
    for (const unsigned size : {1u, 3u, 7u})
      for (const std::uint64_t length :
           {std::uint64_t{0}, std::uint64_t{5}, size * kShare - 1, size * kShare, size * kShare + 13}) {
        CAPTURE(dfa.states());
        CAPTURE(size);
        CAPTURE(length);
        const RandomWord word(dfa.letters(), 2, 1);
        const State from = dfa.states() - 1, right = dfa.run(word.slice(11, length), from);
        on_ranks(size, [&](Ranks& ranks) {
          const Runner runner(dfa, {.threads = 1});
          const State state = run_on_ranks(ranks, runner, word, 11, length, from);
          const std::uint64_t mine[] = {state};
          for (const std::uint64_t said : ranks.gather(mine))
            if (said != right && ranks.rank() == 0) FAIL("a rank says " << said << ", and it is " << right);
        });
      }
}

TEST_CASE("a comparison on ranks that serve rank 0 ends as one without them, and the ranks are released") {
  const auto& [one, machine] = test::wrong_after(20);
  const LongComparison alone(machine, one, 1, 30'000'000, 1, 1);
  LongComparisonState wanted = alone.start();
  while (!alone.is_done(wanted)) alone.read_piece(wanted);
  REQUIRE(wanted.failing_at);
  REQUIRE(*wanted.failing_at > alone.piece());
  for (const unsigned size : {1u, 2u, 4u})
    on_served_ranks(size, [&](Ranks& ranks) {
      const LongComparison comparison(
          machine, one, 1, 30'000'000, 1, [&](const Dfa& dfa) { return run_on_ranks(ranks, dfa, 1); }, 1 << 28);
      LongComparisonState state = comparison.start();
      while (!comparison.is_done(state)) comparison.read_piece(state);
      CHECK(state == wanted);
    });
}

TEST_CASE("what one rank throws, all throw, the lowest rank's words first") {
  for (const unsigned thrower : {0u, 2u})
    on_ranks(3, [&](Ranks& ranks) {
      std::string said;
      try {
        together(ranks, [&] {
          if (ranks.rank() >= thrower) throw InputError("rank " + std::to_string(ranks.rank()) + " is at fault");
        });
      } catch (const InputError& error) {
        said = error.what();
      }
      const std::uint64_t mine[] = {said == "rank " + std::to_string(thrower) + " is at fault"};
      for (const std::uint64_t right : ranks.gather(mine))
        if (ranks.rank() == 0) CHECK(right == 1);
    });
  CHECK_THROWS_AS(on_ranks(2, [](Ranks& ranks) { together(ranks, [] { throw std::bad_alloc(); }); }), LimitError);
  CHECK_NOTHROW(on_ranks(2, [](Ranks& ranks) { together(ranks, [] {}); }));
}
