// The search of pairs on ranks, held against the search by one process, and gone on with after interrupts.
#include "krohn/simulate/many/ranks.h"

#include "krohn/simulate/many/many_place.h"
#include "krohn/simulate/prove/pairs/pair_search.h"
#include "tests/simulate/hand_built.h"
#include "tests/simulate/many/thread_ranks.h"
#include "tests/testing.h"

using namespace krohn;
using namespace krohn::hand_built;
using namespace krohn::test;

namespace {

constexpr unsigned kSizes[] = {1, 2, 3, 4, 7};
/// So that a level of 65 pairs takes two rounds.
constexpr std::uint64_t kShortRounds = 1;

/// One whose first answer is wrong.
Network wrong_at_the_start() {
  Network network = rotation(5, all_residues(5));
  network.layers[0].initial_label = 1;
  return network;
}

}  // namespace

TEST_CASE("any number of ranks, and rounds of any length, give the certificate of one process") {
  struct Subject {
    Network network;
    ArithmeticName arithmetic;
    std::uint64_t max_pairs = 20'000'000;
  };
  const ArithmeticName bf16 = Precision::kBf16, fp32 = Precision::kFp32;
  const Network asked_otherwise = [] {
    std::mt19937_64 random(5);
    Network network = one_hot(random_automaton(random, 40, 2));
    network.automaton = random_automaton(random, 40, 2);
    return network;
  }();
  std::vector<Subject> subjects{{rotation(12, all_residues(12)), bf16},
                                {rotation(60, all_residues(60)), bf16, 2000},
                                {rotation(10, all_residues(10)), bf16, 1500},
                                {rotation(12, all_residues(12)), ArithmeticName::fused(Precision::kBf16), 2000},
                                {rotation(5, all_residues(5)), fp32, 1000},
                                {rotation(7, {2, 3}), Precision::kFp64, 101},
                                {symmetric(4, 3, Swap::kMap), fp32},
                                {symmetric(4, 3, Swap::kUnit), bf16, 2000},
                                {two_reflections(6), bf16, 1000},
                                {flip_flop_toggle(), Precision::kFp16},
                                {delayed_toggle(), fp32},
                                {wrong_at_the_start(), fp32},
                                {asked_otherwise, fp32}};
  for (std::uint32_t state = 0; state < 12;
       ++state) {  // one transition of a counter is wrong: 12 places for a block's end
    Dfa dfa = counter(200, {1, 7});
    std::vector<State> table(dfa.table().begin(), dfa.table().end());
    table[(state * 17 + 3) % table.size()] = state;
    subjects.push_back({one_hot(std::move(dfa)), bf16});
    subjects.back().network.automaton = automaton(2, std::move(table));
  }
  int proved = 0, refuted = 0, limited = 0;
  for (const Subject& subject : subjects) {
    const CertifyOptions options = in(subject.arithmetic, subject.max_pairs);
    const Certificate alone = certify_reachable_set(subject.network, options);
    proved += alone.is<Proved>();
    refuted += alone.is<Refuted>();
    limited += alone.is<ProvedUpTo>();
    for (const unsigned size : kSizes)
      for (const std::uint64_t words : {kShortRounds, KeptSearch{}.round_words}) {
        CAPTURE(size);
        CAPTURE(words);
        REQUIRE(search(size, subject.network, options, {.round_words = words}) == text_of(alone));
      }
  }
  CHECK(proved >= 4);
  CHECK(refuted >= 10);
  CHECK(limited >= 3);
}

TEST_CASE("every limit on pairs stops the ranks where it stops one process") {
  const Network closed = rotation(12, all_residues(12)), wrong = rotation(60, all_residues(60));
  for (const Network* network : {&closed, &wrong})
    for (std::uint64_t most = 1; most <= 130; most += most < 60 ? 7 : 1) {
      const CertifyOptions options = in(Precision::kBf16, most);
      const std::string alone = text_of(certify_reachable_set(*network, options));
      CAPTURE(most);
      REQUIRE(search(3, *network, options, {.round_words = kShortRounds}) == alone);
    }
  // 108 pairs close the first: the limit that holds them, and one less.
  CHECK(certify_reachable_set(closed, in(Precision::kBf16, 108)).is<Proved>());
  CHECK_FALSE(certify_reachable_set(closed, in(Precision::kBf16, 107)).is<Proved>());
}

TEST_CASE("a rank that is full, and has no disk, stops the search, and what was proved stands") {
  const Network network = rotation(5, all_residues(5));
  CertifyOptions options = in(Precision::kFp32, 20'000);
  options.max_bytes = 1 << 18;
  const std::string text = search(2, network, options, {.round_words = 1 << 12, .max_disk_bytes = 0});
  CHECK(text.starts_with("proved up to a length"));
  CHECK(contains(text, "262144 bytes of pairs on a rank"));
}

TEST_CASE("a search that is interrupted in every round, and gone on with on other ranks, ends as one that is not") {
  for (const auto& [network, arithmetic, most] :
       {std::tuple<Network, ArithmeticName, std::uint64_t>{rotation(12, all_residues(12)), Precision::kBf16, 1000},
        {rotation(5, all_residues(5)), Precision::kFp32, 1000}}) {
    const Scratch scratch("ranked-search");
    const std::string alone = text_of(certify_reachable_set(network, in(arithmetic, most)));
    std::string ended;
    int interrupts = 0;
    for (; ended.empty() && interrupts < 5000; ++interrupts) {
      CertifyOptions options = in(arithmetic, most);
      int rounds = 0;
      const int stop_after = interrupts % 3 == 0 ? 2 : 1;
      options.progress = [&](std::uint64_t) {
        if (++rounds > stop_after) throw Interrupted("interrupted");
      };
      try {
        ended = search(kSizes[interrupts % 5], network, options,
                       {scratch.path().string(), interrupts % 2 == 0 ? 0.0 : 1000.0, kShortRounds});
      } catch (const LimitError& error) {
        CHECK(contains(std::string(error.what()), "goes on from"));
      }
    }
    CHECK(ended == alone);
    CHECK(interrupts > 3);
    // Once more: it is at its end, and says the same.
    CHECK(search(2, network, in(arithmetic, most), {scratch.path().string()}) == alone);
  }
}

TEST_CASE("a search that met its limit goes on past it") {
  const Network network = rotation(5, all_residues(5));
  const Scratch scratch("ranked-raised");
  for (const std::uint64_t most : {1u, 64u, 65u, 500u, 1500u}) {
    const CertifyOptions options = in(Precision::kBf16, most);
    CHECK(search(2, network, options, {scratch.path().string(), 1000, kShortRounds}) ==
          text_of(certify_reachable_set(network, options)));
  }
  CHECK_THROWS_AS(search(2, network, in(Precision::kBf16, 63), {scratch.path().string()}), InputError);
}

namespace {

/// A search that stopped somewhere, and its folder.
void begin_search(const Scratch& scratch, const Network& network) {
  CertifyOptions options = in(Precision::kBf16);
  int rounds = 0;
  options.progress = [&](std::uint64_t) {
    if (++rounds > 3) throw Interrupted("interrupted");
  };
  REQUIRE_THROWS_AS(search(2, network, options, {scratch.path().string(), 1000, kShortRounds}), LimitError);
}

}  // namespace

TEST_CASE("what a killed job wrote after its last commit does not count") {
  const Network network = rotation(12, all_residues(12));
  const std::string alone = text_of(certify_reachable_set(network, in(Precision::kBf16)));
  const Scratch scratch("ranked-killed");
  begin_search(scratch, network);
  for (const auto& entry : std::filesystem::directory_iterator(scratch.path()))
    if (entry.path().extension() == ".pairs") std::ofstream(entry.path(), std::ios::app) << "half a piece";
  scratch.write("0000000000000000-0.pairs", "of a job that committed nothing");
  CHECK(search(3, network, in(Precision::kBf16), {scratch.path().string()}) == alone);
  CHECK_FALSE(std::filesystem::exists(scratch / "0000000000000000-0.pairs"));
}

TEST_CASE("no byte of a kept search can change unnoticed") {
  const Network network = rotation(12, all_residues(12));
  const Scratch scratch("ranked-damaged");
  begin_search(scratch, network);
  int bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(scratch.path())) {
    if (entry.path().extension() != ".pairs") continue;
    const std::string whole = contents(entry.path());
    for (std::size_t at = 0; at < whole.size(); at += 7, ++bytes) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ 1 << at % 8);
      std::ofstream(entry.path(), std::ios::binary) << changed;
      OneRank one;
      CHECK_THROWS_AS(search_pairs_on_ranks(one, network, in(Precision::kBf16), {scratch.path().string()}), InputError);
    }
    std::ofstream(entry.path(), std::ios::binary) << whole.substr(0, whole.size() - 1);
    if (!whole.empty())
      CHECK_THROWS_AS(search(2, network, in(Precision::kBf16), {scratch.path().string()}), InputError);
    std::ofstream(entry.path(), std::ios::binary) << whole;
  }
  CHECK(bytes > 50);
  // A digit of the list says how far the proof reaches, another what has been expanded.
  const std::string list = contents(scratch / "pairs.json");
  for (std::size_t at = 0; at < list.size(); ++at) {
    if (list[at] < '0' || list[at] > '9') continue;
    std::string changed = list;
    changed[at] = static_cast<char>('0' + (list[at] - '0' + 1) % 10);
    scratch.write("pairs.json", changed);
    CAPTURE(changed);
    CHECK_THROWS_AS(search(1, network, in(Precision::kBf16), {scratch.path().string()}), InputError);
  }
}

TEST_CASE("a kept search is of one question") {
  const Network network = rotation(12, all_residues(12)), other = rotation(11, all_residues(11));
  const Scratch scratch("ranked-other");
  begin_search(scratch, network);
  const KeptSearch kept{scratch.path().string()};
  CHECK_THROWS_AS(search(2, other, in(Precision::kBf16), kept), InputError);
  CHECK_THROWS_AS(search(2, network, in(Precision::kFp16), kept), InputError);
  CertifyOptions dense = in(Precision::kBf16);
  dense.form = Form::kDense;
  CHECK_THROWS_AS(search(1, network, dense, kept), InputError);
  const std::string list = contents(scratch / "pairs.json");
  for (const char* name :
       {"pairs", "expanded", "level_begin", "level_end", "depth", "bytes", "file", "parts", "format"}) {
    std::string changed = list;
    changed.replace(changed.find('"' + std::string(name) + '"') + 1, 1, "X");
    scratch.write("pairs.json", changed);
    CAPTURE(name);
    CHECK_THROWS_AS(search(2, network, in(Precision::kBf16), kept), Error);
  }
  for (const char* text : {"", "[]", "{", "{}"}) {
    scratch.write("pairs.json", text);
    CHECK_THROWS_AS(search(2, network, in(Precision::kBf16), kept), InputError);
  }
}

TEST_CASE("ranks send what docs/reference/many-machines.md says") {
  // Five letters, three words a record: every pair is handed out once, and each of its successors goes to its owner.
  const Network network = rotation(5, all_residues(5));
  constexpr std::uint64_t kPairs = 20'000, kRecord = 12;
  for (const unsigned size : {2u, 4u, 8u}) {
    std::uint64_t sent = 0;
    on_ranks(size, [&](Ranks& ranks) {
      const Certificate certificate = search_pairs_on_ranks(ranks, network, in(Precision::kFp32, kPairs), {});
      const std::uint64_t mine[] = {dynamic_cast<ThreadRank&>(ranks).bytes_sent()};
      for (const std::uint64_t bytes : ranks.gather(mine))
        if (ranks.rank() == 0) sent += bytes;
      if (ranks.rank() == 0) CHECK(certificate.pairs == kPairs);
    });
    const double away = (size - 1.0) / size, each = static_cast<double>(sent) / kPairs / away / kRecord;
    MESSAGE(size << " ranks: " << static_cast<double>(sent) / kPairs << " bytes a pair, " << each << " records");
    CHECK(each > 1);
    CHECK(each < 1 + 5);
  }
}

TEST_CASE("two jobs do not work on one folder") {
  const Network network = rotation(5, all_residues(5));
  const Scratch scratch("ranked-locked");
  CertifyOptions options = in(Precision::kFp32, 1000);
  int refused = 0;
  options.progress = [&](std::uint64_t) {
    if (refused > 0) return;
    OneRank second;
    CHECK_THROWS_AS(search_pairs_on_ranks(second, network, in(Precision::kFp32, 1000), {scratch.path().string()}),
                    SystemError);
    ++refused;
  };
  OneRank first;
  search_pairs_on_ranks(first, network, options, {scratch.path().string()});
  CHECK(refused == 1);
}

TEST_CASE("ranks that serve a place prove what rank 0 asks, one network after another") {
  const Network networks[] = {rotation(12, all_residues(12)), symmetric(4, 3, Swap::kMap), flip_flop_toggle()};
  on_served_ranks(3, [&](Ranks& ranks) {
    const ManyPlace place(ranks, {});
    for (const Network& network : networks) {
      const CertifyOptions options = in(Precision::kBf16);
      CHECK(text_of(place.search_pairs(network, options)) == text_of(certify_reachable_set(network, options)));
    }
  });
}
