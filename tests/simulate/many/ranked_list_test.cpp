// A list by ranks: every item once, whatever goes wrong.

#include <atomic>
#include <new>
#include <thread>

#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/evaluate/lanes/sample.h"
#include "krohn/simulate/many/many_place.h"
#include "tests/simulate/hand_built.h"
#include "tests/simulate/many/thread_ranks.h"
#include "tests/testing.h"

using namespace krohn;
using namespace krohn::test;

namespace {

constexpr unsigned kSizes[] = {1, 2, 3, 4, 7};

std::string line_of(std::uint64_t item) { return "{\"square\": " + std::to_string(item * item) + "}"; }

/// The result on rank 0; rethrows its exceptions.
std::map<std::uint64_t, std::string> kept_of(
    unsigned size, unsigned threads, const std::vector<std::uint64_t>& items,
    const std::function<std::string(unsigned rank, std::uint64_t)>& line,
    const std::function<void(std::uint64_t)>& tell = {},
    const std::function<void(unsigned rank)>& check = [](unsigned) {}) {
  std::map<std::uint64_t, std::string> kept;
  on_ranks(size, [&](Ranks& ranks) {
    const LineOf own = [&, rank = ranks.rank()](std::uint64_t item) { return line(rank, item); };
    if (ranks.rank() != 0) return help_with_list(ranks, threads, own, [&] { check(ranks.rank()); });
    const std::thread::id here = std::this_thread::get_id();
    work_on_list(ranks, {items, threads, own,
                         [&](std::uint64_t item, const std::string& made) {
                           if (std::this_thread::get_id() != here) throw SystemError("another thread keeps lines");
                           if (!kept.emplace(item, made).second) throw SystemError("an item twice");
                         },
                         tell});
  });
  return kept;
}

std::vector<std::uint64_t> first(std::uint64_t count) {
  std::vector<std::uint64_t> items(count);
  std::iota(items.begin(), items.end(), std::uint64_t{5});
  return items;
}

}  // namespace

TEST_CASE("lists of all lengths give every line once, on any number of ranks and threads") {
  for (const unsigned size : kSizes)
    for (const unsigned threads : {0u, 1u, 3u})
      for (const std::uint64_t count : {0u, 1u, 2u, 7u, 8u, 9u, 63u, 500u}) {
        CAPTURE(size);
        CAPTURE(threads);
        CAPTURE(count);
        std::uint64_t told = 0;
        const auto kept = kept_of(
            size, threads, first(count), [](unsigned, std::uint64_t item) { return line_of(item); },
            [&](std::uint64_t lines) { told = std::max(told, lines); });
        REQUIRE(kept.size() == count);
        CHECK(told == count);
        for (const auto& [item, line] : kept) CHECK(line == line_of(item));
      }
}

TEST_CASE("a rank that is slow holds up nothing but its own item") {
  // Rank 1 sleeps over its first item until all others are there; with shares cut beforehand it would hold more.
  std::atomic<std::uint64_t> others = 0;
  std::atomic<int> of_slow = 0;
  const auto kept = kept_of(3, 1, first(20), [&](unsigned rank, std::uint64_t item) {
    if (rank == 1 && ++of_slow == 1)
      while (others < 19) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    else
      ++others;
    return line_of(item);
  });
  CHECK(kept.size() == 20);
  CHECK(of_slow == 1);
}

TEST_CASE("what one rank throws ends the list, with its words, and keeps the lines that were made") {
  const auto items = first(40);
  for (const unsigned thrower : {0u, 1u, 2u}) {
    CAPTURE(thrower);
    const auto throws_as = [&](const auto& error) {
      std::atomic<int> made = 0;
      return kept_of(3, 1, items, [&](unsigned rank, std::uint64_t item) {
        // Every rank makes one line first, so that all of them are at work.
        if (rank == thrower && ++made > 1) throw error;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return line_of(item);
      });
    };
    CHECK_THROWS_WITH_AS(throws_as(InputError("a bad item")), "a bad item", InputError);
    CHECK_THROWS_WITH_AS(throws_as(LimitError("too large")), "too large", LimitError);
    CHECK_THROWS_AS(throws_as(SystemError("a full disk")), SystemError);
    CHECK_THROWS_AS(throws_as(std::runtime_error("anything")), std::exception);
    if (thrower > 0)
      CHECK_THROWS_WITH_AS(throws_as(std::bad_alloc()),
                           doctest::Contains(("rank " + std::to_string(thrower) + " is out of memory").c_str()),
                           LimitError);
  }
}

TEST_CASE("lines that were made are kept though another item fails") {
  std::map<std::uint64_t, std::string> kept;
  std::atomic<bool> is_made = false;
  CHECK_THROWS_AS(
      on_ranks(
          2,
          [&](Ranks& ranks) {
            const LineOf line = [&, rank = ranks.rank()](std::uint64_t item) {
              if (rank == 1) {
                is_made = true;
                std::this_thread::sleep_for(std::chrono::milliseconds(30));
                return line_of(item);
              }
              while (!is_made) std::this_thread::yield();
              throw LimitError("rank 0's item");
            };
            if (ranks.rank() != 0) return help_with_list(ranks, 1, line, [] {});
            const auto items = first(2);
            work_on_list(
                ranks,
                {items, 1, line, [&](std::uint64_t item, const std::string& made) { kept.emplace(item, made); }, {}});
          }),
      LimitError);
  REQUIRE(kept.size() == 1);
  CHECK(kept.begin()->second == line_of(kept.begin()->first));
}

TEST_CASE("an interrupt of any rank ends the list, and reaches the items of all") {
  for (const bool is_rank_0 : {true, false}) {
    CAPTURE(is_rank_0);
    Interruption::requested = false;
    std::atomic<int> under_way = 0;
    const auto endless = [&](unsigned, std::uint64_t) -> std::string {
      ++under_way;
      for (;;) {
        Interruption::check();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    };
    const auto stop = [&] {
      if (under_way == 3) throw Interrupted("interrupted");
    };
    CHECK_THROWS_AS(kept_of(
                        3, 1, first(9), endless,
                        [&](std::uint64_t) {
                          if (is_rank_0) stop();
                        },
                        [&](unsigned rank) {
                          if (!is_rank_0 && rank == 2) stop();
                        }),
                    Interrupted);
    Interruption::requested = false;
  }
}

// Random words shared out over ranks, held against one process.

using namespace krohn::hand_built;

namespace {

SampleOptions options_of(std::vector<std::uint64_t> lengths, std::uint64_t words) {
  return {.lengths = std::move(lengths), .words = words, .seed = 3, .threads = 1};
}

LongComparisonState by_one_process(const Compared& compared, std::uint64_t words, std::uint64_t length) {
  const LongComparison alone(compared.machine, compared.automaton, words, length, 1, 1);
  LongComparisonState state = alone.start();
  while (!alone.is_done(state)) alone.read_piece(state);
  return state;
}

}  // namespace

TEST_CASE("parts of a test add up to the test, wherever it is cut") {
  const Network network = rotation(60, all_residues(60));  // bf16 fails after some hundred letters
  constexpr std::uint64_t kWords = 19;
  const SampleOptions options = options_of({0, 900, 11}, kWords);
  const SampleReport whole = sample(network, Precision::kBf16, options);
  REQUIRE(whole.failing_at);
  for (std::uint64_t cut = 1; cut < kWords; ++cut) {
    SampleOptions before = options, after = options;
    before.words = cut, after.words = kWords - cut;
    SampleReport sum = sample(network, Precision::kBf16, before);
    add_report(sum, sample_from(cut, network, Precision::kBf16, after));
    CHECK(sum == whole);
  }
}

TEST_CASE("words by ranks are reported as by one process") {
  for (const Network& network : {rotation(60, all_residues(60)), rotation(5, {1, 2})})
    for (const std::uint64_t words : {1u, 2u, 6u, 7u, 8u, 63u, 64u, 65u, 300u})
      for (const unsigned size : kSizes) {
        CAPTURE(words);
        CAPTURE(size);
        const SampleOptions options = options_of({400, 3}, words);
        const SampleReport alone = sample(network, Precision::kBf16, options);
        on_ranks(size, [&](Ranks& ranks) {
          const SampleReport report = sample_on_ranks(ranks, network, Precision::kBf16, options, sample_from);
          const std::uint64_t mine[] = {report == alone};
          for (const std::uint64_t same : ranks.gather(mine))
            if (ranks.rank() == 0) CHECK(same == 1);
        });
      }
}

TEST_CASE("rank 0 asks, the others serve, and each reads its words where it is told to") {
  const Network network = rotation(60, all_residues(60));
  const SampleOptions options = options_of({700}, 40);
  const SampleReport alone = sample(network, Precision::kFp16, options);
  for (const bool on_device : {false, true}) {
    std::atomic<int> on_devices = 0;
    const auto service = [&](const Ranks&) {
      return RankService{.sampler = [&](bool device) {
        on_devices += device ? 1 : 0;
        return SampleWords(sample_from);
      }};
    };
    const auto ask = [&](Ranks& ranks) {
      const ManyPlace place(ranks, {}, {}, on_device);
      CHECK(place.sample(network, Precision::kFp16, options) == alone);
    };
    on_served_ranks(3, ask, service);
    CHECK(on_devices == (on_device ? 2 : 0));
  }
}

TEST_CASE("a rank that cannot read its words says why, and the others are served on") {
  const Network network = rotation(5, {1, 2});
  const auto service = [](const Ranks& ranks) {
    return RankService{.sampler = [rank = ranks.rank()](bool device) -> SampleWords {
      if (device && rank == 2) throw SystemError("no device on rank 2");
      return sample_from;
    }};
  };
  const auto ask = [&](Ranks& ranks) {
    const SampleOptions options = options_of({10}, 5);
    CHECK_THROWS_WITH_AS(ManyPlace(ranks, {}, {}, true).sample(network, Precision::kFp32, options),
                         "no device on rank 2", SystemError);
    CHECK(ManyPlace(ranks, {}).sample(network, Precision::kFp32, options) ==
          sample(network, Precision::kFp32, options));
  };
  on_served_ranks(3, ask, service);
}

TEST_CASE("whole words of a comparison end as with one process, right or wrong in any word") {
  struct Fact {
    State ones;
    std::uint64_t words, length;
  };
  for (const auto& [ones, words, length] : {Fact{3, 5, 200}, Fact{12, 300, 50}, Fact{12, 300, 5000}, Fact{60, 130, 100},
                                            Fact{60, 1, 70'000}, Fact{60, 3, 0}, Fact{18, 3, 200'000}}) {
    const Compared compared = wrong_after(ones);
    const LongComparisonState wanted = by_one_process(compared, words, length);
    for (const unsigned size : kSizes) {
      CAPTURE(ones);
      CAPTURE(words);
      CAPTURE(size);
      on_served_ranks(size, [&](Ranks& ranks) {
        const SharedComparison shared =
            compare_on_ranks(ranks, compared.machine, compared.automaton, words, length, 1, 1);
        LongComparisonState state = shared.here->start();
        while (!shared.here->is_done(state)) shared.read(state, [] {});
        CHECK(state == wanted);
      });
    }
  }
}

TEST_CASE("a comparison that was left in a word is gone on with by ranks") {
  const Compared compared = wrong_after(60);
  const LongComparison alone(compared.machine, compared.automaton, 4, 200'000, 1, 1);
  LongComparisonState begun = alone.start();
  while (begun.word < 1 || begun.position == 0) alone.read_piece(begun);
  const LongComparisonState wanted = by_one_process(compared, 4, 200'000);
  on_served_ranks(3, [&](Ranks& ranks) {
    const SharedComparison shared = compare_on_ranks(ranks, compared.machine, compared.automaton, 4, 200'000, 1, 1);
    LongComparisonState state = begun;
    while (!shared.here->is_done(state)) shared.read(state, [] {});
    CHECK(state == wanted);
  });
}

TEST_CASE("an interrupt between words leaves the comparison where it was") {
  const Compared compared = wrong_after(60);
  on_served_ranks(2, [&](Ranks& ranks) {
    const SharedComparison shared = compare_on_ranks(ranks, compared.machine, compared.automaton, 50, 100, 1, 1);
    LongComparisonState state = shared.here->start();
    const LongComparisonState before = state;
    CHECK_THROWS_AS(shared.read(state, [] { throw Interrupted("interrupted"); }), Interrupted);
    CHECK(state == before);
    shared.read(state, [] {});
    CHECK(state.word == 50);
  });
}
