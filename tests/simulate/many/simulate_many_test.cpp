#include <fcntl.h>

#include "krohn/simulate/many/many_place.h"
#include "krohn/simulate/many/pair_set.h"
#include "tests/simulate/check/sample_certificates.h"
#include "tests/simulate/many/thread_ranks.h"
#include "tests/testing.h"

using namespace krohn;
using namespace krohn::hand_built;
using namespace krohn::test;

// One certificate by ranks: the finding of one process, whichever share is at fault.

namespace {

constexpr unsigned kSizes[] = {1, 2, 3, 4, 7};

void check_as_alone(const Certificate& certificate, const Network& network) {
  const Recheck alone = recheck(certificate, network);
  for (const unsigned size : kSizes) {
    CAPTURE(size);
    on_ranks(size, [&](Ranks& ranks) {
      const Recheck found = recheck_on_ranks(ranks, certificate, network, {});
      const std::uint64_t mine[] = {found.established == alone.established && found.finding == alone.finding};
      for (const std::uint64_t same : ranks.gather(mine))
        if (ranks.rank() == 0) CHECK_MESSAGE(same == 1, found.finding << ", alone: " << alone.finding);
    });
  }
}

/// The numbers of shares, of so many, by which the certificate is not established.
std::vector<std::uint64_t> against(const Certificate& certificate, const Network& network, std::uint64_t shares) {
  std::vector<std::uint64_t> found;
  for (std::uint64_t share = 0; share < shares; ++share)
    if (!recheck(certificate, network, {.share = share, .shares = shares}).established) found.push_back(share);
  return found;
}

/// Exactly one share sees a fault that is in one item alone, however many shares there are, and the first items are the
/// first share's.
void check_faults(const Network& network, std::size_t items, const std::function<Certificate(std::size_t)>& faulty) {
  for (std::uint64_t shares = 1; shares <= items + 2; ++shares) {
    std::uint64_t last = 0;
    for (std::size_t item = 0; item < items; ++item) {
      CAPTURE(shares);
      CAPTURE(item);
      const auto found = against(faulty(item), network, shares);
      REQUIRE(found.size() == 1);
      REQUIRE(found[0] >= last);
      last = found[0];
    }
  }
}

}  // namespace

TEST_CASE("a certificate of each kind is found by ranks to be what one process finds") {
  for (const auto& [name, network, certificate] : sample_certificates()) {
    CAPTURE(name);
    check_as_alone(certificate, network);
  }
}

TEST_CASE("every pair, tuple and word is in exactly one share") {
  int kinds = 0;
  for (const auto& [name, network, certificate] : sample_certificates()) {
    CAPTURE(name);
    if (const auto* pairs = std::get_if<ReachedPairs>(&certificate.proof); pairs != nullptr && name == "pairs close") {
      ++kinds;
      check_faults(network, pairs->list.size(), [&](std::size_t item) {
        Certificate faulty = certificate;
        std::get<ReachedPairs>(faulty.proof).list[item].next[0] = UINT32_MAX - 1;
        return faulty;
      });
    }
    if (const auto* closed = std::get_if<ClosedCodewords>(&certificate.proof);
        closed != nullptr && !closed->by_induction) {
      ++kinds;
      check_faults(network, closed->tuples.size(), [&](std::size_t item) {
        Certificate faulty = certificate;
        std::get<ClosedCodewords>(faulty.proof).tuples[item].next[0] = UINT32_MAX;
        return faulty;
      });
    }
  }
  // Words that fail late, each in its own: modulo 60 in bf16.
  const Network coarse = rotation(60, {7, 0});
  for (const std::uint64_t words : {1u, 2u, 9u})
    for (const std::uint64_t length : {50u, 300u, 900u}) {
      const Certificate sampled = sampled_certificate(Precision::kBf16, {4, words, length});
      const auto alone = recheck(sampled, coarse);
      for (std::uint64_t shares = 1; shares <= words + 2; ++shares)
        CHECK(against(sampled, coarse, shares).empty() == alone.established);
      kinds += words == 9 && length == 900 && !alone.established;
    }
  CHECK(kinds == 3);
}

TEST_CASE("a fault in any place is reported as by one process, by whatever rank it is found") {
  for (const auto& [name, network, certificate] : sample_certificates()) {
    if (name != "pairs close" && name != "open" && name != "refuted") continue;
    CAPTURE(name);
    const auto list_of = [](Certificate& of) -> std::vector<ReachedPair>& {
      if (auto* run = std::get_if<FailingRun>(&of.proof)) return run->shorter;
      return std::get<ReachedPairs>(of.proof).list;
    };
    Certificate copy = certificate;
    const std::size_t pairs = list_of(copy).size();
    REQUIRE(pairs > 1);
    for (std::size_t item = 0; item < pairs; item += std::max<std::size_t>(1, pairs / 5)) {
      Certificate faulty = certificate;
      list_of(faulty)[item].state ^= 1;
      REQUIRE(!recheck(faulty, network).established);
      check_as_alone(faulty, network);
      list_of(faulty)[pairs - 1].state ^= 1;
      check_as_alone(faulty, network);
    }
  }
}

TEST_CASE("a share that is none is refused, and a limit of one rank is everybody's") {
  const Network network = rotation(5, {1, 2});
  const Certificate sampled = sampled_certificate(Precision::kFp32, {7, 3, 100});
  CHECK_THROWS_AS(recheck(sampled, network, {.share = 1, .shares = 1}), InputError);
  CHECK_THROWS_AS(recheck(sampled, network, {.share = 0, .shares = 0}), InputError);
  CHECK_THROWS_AS(on_ranks(3, [&](Ranks& ranks) { recheck_on_ranks(ranks, sampled, network, {.max_letters = 299}); }),
                  LimitError);
  CHECK_NOTHROW(on_ranks(3, [&](Ranks& ranks) { recheck_on_ranks(ranks, sampled, network, {.max_letters = 300}); }));
}

TEST_CASE("the ranks are sent the certificate and the model, and find what rank 0 finds") {
  for (const auto& [name, network, certificate] : sample_certificates()) {
    if (!has_shares(certificate)) continue;
    CAPTURE(name);
    on_served_ranks(3, [&, &network = network, &certificate = certificate](Ranks& ranks) {
      const Recheck alone = recheck(certificate, network), found = check_on_ranks(ranks, certificate, network, {});
      CHECK(found.established);
      CHECK(found.finding == alone.finding);
    });
  }
}

// Files for what memory does not hold: what is read is what was written, and limits and full disks are said.

namespace {

using Words = std::vector<std::uint32_t>;

Words read(const SpillFile& file, const SpilledWords& place) {
  Words words(place.words);
  file.read(place, words);
  return words;
}

/// The descriptors of this process on files below the folder that have no name any more.
std::vector<std::string> nameless_files(const std::filesystem::path& folder) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const std::string target = std::filesystem::read_symlink(entry.path(), error).string();
    if (target.starts_with(folder.string()) && target.ends_with(" (deleted)")) found.push_back(entry.path().string());
  }
  return found;
}

}  // namespace

TEST_CASE("a spill file gives back what was appended, has no name, and leaves nothing") {
  const Scratch scratch("spill-file");
  DiskSpace space(scratch.path().string(), 1 << 20);
  {
    SpillFile file(space);
    CHECK(std::filesystem::is_empty(scratch.path()));
    const Words first{1, 2, 3}, empty, second(5000, 7);
    const SpilledWords places[] = {file.append(first), file.append(empty), file.append(second)};
    CHECK(read(file, places[2]) == second);
    CHECK(read(file, places[0]) == first);
    CHECK(read(file, places[1]).empty());
    CHECK(space.used() == 4 * 5003);
    file.clear();
    CHECK(space.used() == 0);
    CHECK(read(file, file.append(second)) == second);
  }
  CHECK(space.used() == 0);
  CHECK(nameless_files(scratch.path()).empty());
}

TEST_CASE("a byte that the disk changed is noticed") {
  const Scratch scratch("spill-damage");
  DiskSpace space(scratch.path().string(), 1 << 20);
  SpillFile file(space);
  const SpilledWords place = file.append(Words{1, 2, 3, 4});
  const std::vector<std::string> files = nameless_files(scratch.path());
  REQUIRE(files.size() == 1);
  const int descriptor = ::open(files.front().c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(descriptor >= 0);
  for (off_t at = 0; at < 16; ++at) {
    char byte = 0;
    REQUIRE(::pread(descriptor, &byte, 1, at) == 1);
    const char other = static_cast<char>(byte ^ 1 << at % 8);
    REQUIRE(::pwrite(descriptor, &other, 1, at) == 1);
    CHECK_THROWS_AS(read(file, place), SystemError);
    REQUIRE(::pwrite(descriptor, &byte, 1, at) == 1);
    CHECK_NOTHROW(read(file, place));
  }
  REQUIRE(::ftruncate(descriptor, 15) == 0);
  CHECK_THROWS_AS(read(file, place), SystemError);
  ::close(descriptor);
}

TEST_CASE("a limit of disk holds to the byte, and what did not fit can be written where it does") {
  const Scratch scratch("spill-limit");
  DiskSpace space(scratch.path().string(), 16);
  SpillFile file(space), other(space);
  const SpilledWords place = file.append(Words{1, 2});
  CHECK_THROWS_AS(other.append(Words{3, 4, 5}), DiskFull);
  const SpilledWords fits = other.append(Words{3, 4});
  CHECK_THROWS_AS(other.append(Words{5}), DiskFull);
  CHECK(read(file, place) == Words{1, 2});
  CHECK(read(other, fits) == Words{3, 4});
  file.clear();
  CHECK(read(other, other.append(Words{5})) == Words{5});
}

TEST_CASE("a disk that is full, and a folder that is not there, are said; nothing that was written is lost") {
  const Scratch scratch("spill-full");
  DiskSpace space(scratch.path().string(), 1 << 20);
  SpillFile file(space);
  const SpilledWords place = file.append(Words{1, 2, 3});
  {
    const SmallFiles small(20);
    try {
      file.append(Words{4, 5, 6});
      FAIL("it was written");
    } catch (const DiskFull& full) {
      CHECK(full.error() == EFBIG);
    }
  }
  CHECK(space.used() == 12);
  const SpilledWords next = file.append(Words{7, 8, 9});
  CHECK(read(file, place) == Words{1, 2, 3});
  CHECK(read(file, next) == Words{7, 8, 9});
  DiskSpace nowhere((scratch.path() / "missing").string(), 1 << 20);
  CHECK_THROWS_AS(SpillFile{nowhere}, DiskFull);
}

TEST_CASE("numbered pieces give what was put in, wherever it lies") {
  std::mt19937_64 random(3);
  const Scratch scratch("spilled-pieces");
  for (const std::size_t width : {1, 3}) {
    DiskSpace space(scratch.path().string(), 1 << 24);
    NumberedPieces pieces(width);
    for (int round = 0; round < 3; ++round) {
      std::map<std::uint64_t, std::pair<Words, std::uint32_t>> wanted;
      std::uint64_t first = 0;
      while (first < 12'000) {
        first += random() % 3 == 0 ? random() % 50 : 0;
        const std::uint64_t count = random() % 2000;
        const auto tag = static_cast<std::uint32_t>(random() % 2);
        Words words(count * width);
        for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random());
        pieces.append(first, words, tag);
        for (std::uint64_t i = 0; i < count; ++i)
          wanted[first + i] = {Words(words.begin() + static_cast<std::ptrdiff_t>(i * width),
                                     words.begin() + static_cast<std::ptrdiff_t>((i + 1) * width)),
                               tag};
        first += count;
        if (random() % 4 == 0) pieces.spill(space);
      }
      CHECK(space.used() > 0);
      CHECK(pieces.bytes() < 4 * width * 12'000);
      for (int question = 0; question < 200; ++question) {
        const std::uint64_t begin = random() % 13'000, end = begin + random() % (question < 100 ? 3 : 4000);
        auto next = wanted.lower_bound(begin);
        pieces.overlapping(begin, end, [&](std::uint64_t from, NumberedPieces::Words words, std::uint32_t tag) {
          for (std::size_t at = 0; at < words.size(); at += width, ++from, ++next) {
            REQUIRE(next != wanted.end());
            REQUIRE(from == next->first);
            REQUIRE(std::ranges::equal(words.subspan(at, width), next->second.first));
            REQUIRE(tag == next->second.second);
          }
        });
        REQUIRE(next == wanted.lower_bound(end));
      }
      pieces.clear();
      CHECK(space.used() == 0);
    }
  }
}

TEST_CASE("pieces that end with a chunk, one number before it and one past it, go on behind it") {
  const Scratch scratch("spilled-ends");
  DiskSpace space(scratch.path().string(), 1 << 20);
  for (const std::uint32_t count : {1023u, 1024u, 1025u, 2048u}) {
    NumberedPieces pieces(1);
    for (std::uint32_t first = 0; first < 3; ++first) {
      pieces.append(std::uint64_t{first} * count, Words(count, first));
      pieces.spill(space);
    }
    std::uint64_t next = 0;
    pieces.overlapping(0, 9999, [&](std::uint64_t from, NumberedPieces::Words found, std::uint32_t) {
      REQUIRE(from == next);
      for (const std::uint32_t word : found) REQUIRE(word == next++ / count);
    });
    CHECK(next == 3 * count);
  }
}

TEST_CASE("a disk that is full leaves the pieces whole") {
  const Scratch scratch("spilled-full");
  DiskSpace space(scratch.path().string(), 4 * 1024);  // one chunk
  NumberedPieces pieces(1);
  Words words(3000);
  for (std::uint32_t i = 0; i < words.size(); ++i) words[i] = i;
  pieces.append(10, words);
  CHECK_THROWS_AS(pieces.spill(space), DiskFull);
  CHECK(space.used() == 4 * 1024);
  std::uint32_t next = 0;
  pieces.overlapping(0, 9999, [&](std::uint64_t from, NumberedPieces::Words found, std::uint32_t) {
    CHECK(from == 10 + next);
    for (const std::uint32_t word : found) REQUIRE(word == next++);
  });
  CHECK(next == 3000);
}
