// Searches of pairs whose memory ends: they go on with the disk, and say what those say that have memory enough.
#include <doctest/doctest.h>

#include <cstdlib>

#include "krohn/groups/error.h"
#include "krohn/simulate/many/many_place.h"
#include "krohn/simulate/many/ranked_search.h"
#include "krohn/simulate/prove/pairs/certify_reachable.h"
#include "tests/scratch.h"
#include "tests/simulate/hand_built.h"
#include "tests/simulate/many/searches.h"
#include "tests/simulate/many/small_files.h"
#include "tests/simulate/many/thread_ranks.h"

using namespace krohn;
using namespace krohn::hand_built;
using namespace krohn::test;

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
      CHECK(std::string(error.what()).find("goes on from") != std::string::npos);
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
  CHECK(text.find("limit: 15000 bytes of disk on a rank") != std::string::npos);
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
    CHECK(text.find("File too large") != std::string::npos);
  }
  CHECK(contents(scratch / "pairs.json").size() > 100);
  CHECK(search(3, subject.network, with_little_memory(subject), kept) == alone(subject));
}

TEST_CASE("filters that leave no room in memory stop a search") {
  const Subject subject = rotation_of_five(100'000);
  const std::string text = search(1, subject.network, with_little_memory(subject), {.round_words = 1 << 12});
  CHECK(text.starts_with("proved up to a length"));
  CHECK(text.find(std::to_string(subject.memory) + " bytes of pairs on a rank") != std::string::npos);
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
  CHECK(text.find("the disk of rank 0 (temporary files: No such file or directory)") != std::string::npos);
  CHECK(enough == alone(subject));
}
