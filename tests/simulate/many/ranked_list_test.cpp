// A list by ranks: every item once, whatever goes wrong.
#include "krohn/simulate/many/many_place.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <new>
#include <numeric>
#include <thread>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "tests/simulate/many/thread_ranks.h"

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
