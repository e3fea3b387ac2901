// Long words cut over the ranks of a job.
#include "krohn/simulate/many/ranked_words.h"

#include <doctest/doctest.h>

#include "krohn/groups/error.h"
#include "krohn/simulate/many/many_place.h"
#include "tests/simulate/hand_built.h"
#include "tests/simulate/many/thread_ranks.h"

using namespace krohn;
using namespace krohn::hand_built;
using namespace krohn::test;

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
  // Parity beside an automaton that is wrong at a late moment: after the first run of 20 ones.
  std::vector<State> table;
  for (State run = 0; run < 21; ++run)
    for (State letter = 0; letter < 2; ++letter) table.push_back(run == 20 ? 20 : letter == 1 ? run + 1 : 0);
  std::vector<Output> outputs(21, 0);
  outputs[20] = 1;
  const Dfa one = automaton(2, {0, 0});
  const Dfa machine = Dfa::moore(one.alphabet(), table, 0, outputs, {"0", "1"});
  const LongComparison alone(machine, one, 1, 30'000'000, 1, 1);
  LongComparisonState wanted = alone.start();
  while (!alone.is_done(wanted)) alone.read_piece(wanted);
  REQUIRE(wanted.failing_at);
  REQUIRE(*wanted.failing_at > alone.piece());
  for (const unsigned size : {1u, 2u, 4u})
    on_ranks(size, [&](Ranks& ranks) {
      if (ranks.rank() != 0) {
        const int status = serve(ranks);
        if (status != 5) std::terminate();
        return;
      }
      {
        const LongComparison comparison(
            machine, one, 1, 30'000'000, 1, [&](const Dfa& dfa) { return run_on_ranks(ranks, dfa, 1); }, 1 << 28);
        LongComparisonState state = comparison.start();
        while (!comparison.is_done(state)) comparison.read_piece(state);
        CHECK(state == wanted);
      }
      release(ranks, 5);
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
