#include <doctest/doctest.h>

#include "krohn/groups/error.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "tests/simulate/hand_built.h"

using namespace krohn;
using namespace krohn::hand_built;

namespace {

SampleOptions options(std::vector<std::uint64_t> lengths, std::uint64_t words, unsigned threads = 0) {
  SampleOptions chosen;
  chosen.lengths = std::move(lengths);
  chosen.words = words;
  chosen.threads = threads;
  return chosen;
}

/// The report at one length, by the plainest loop.
LengthReport plain_report(const Network& network, Precision precision, std::uint64_t length, std::uint64_t words) {
  LengthReport report{length, words, 0, 0, length * words, 0};
  const Dfa& dfa = network.automaton;
  for (std::uint64_t w = 0; w < words; ++w) {
    const auto evaluator = reference_evaluator(network, precision);
    const Word word = RandomWord(dfa.letters(), 1, w).slice(0, length);
    std::optional<State> answer = evaluator->current();
    State state = dfa.initial();
    const auto output_is_right = [&] { return answer && dfa.output(*answer) == dfa.output(state); };
    for (const Letter letter : word) {
      answer = evaluator->step(letter);
      state = dfa.next(state, letter);
      report.right_letters += output_is_right();
    }
    report.right_state += answer == state;
    report.right_output += output_is_right();
  }
  return report;
}

/// A stream of given words.
class GivenWords final : public WordStream {
 public:
  explicit GivenWords(std::vector<Word> words) : words_(std::move(words)) {}
  bool next_word() override {
    at_ = 0;
    return next_++ < words_.size();
  }
  std::size_t read(std::span<Letter> out) override {
    const Word& word = words_[next_ - 1];
    const std::size_t count = std::min({out.size(), word.size() - at_, std::size_t{7}});
    std::copy_n(word.begin() + static_cast<std::ptrdiff_t>(at_), count, out.begin());
    at_ += count;
    return count;
  }

 private:
  std::vector<Word> words_;
  std::size_t next_ = 0, at_ = 0;
};

}  // namespace

TEST_CASE("accuracy at chosen lengths is what a plain loop counts") {
  // bf16 keeps the count modulo 60 for a few letters only, modulo 7 for some hundred.
  for (const Network& network : {rotation(60, all_residues(60)), rotation(7, all_residues(7))}) {
    const SampleReport report = sample(network, Precision::kBf16, options({3000, 0, 50, 3000, 1}, 5));
    REQUIRE(report.lengths.size() == 4);
    CHECK(report.letters == 5 * 3000);
    for (const LengthReport& row : report.lengths) CHECK(row == plain_report(network, Precision::kBf16, row.length, 5));
  }
}

TEST_CASE("a report does not depend on the number of threads") {
  const Network network = rotation(60, all_residues(60));
  const SampleReport one = sample(network, Precision::kBf16, options({100, 20'000}, 9, 1));
  for (const unsigned threads : {2U, 3U, 8U})
    CHECK(sample(network, Precision::kBf16, options({100, 20'000}, 9, threads)) == one);
  CHECK(one.failing_at.has_value());
}

TEST_CASE("words side by side report what they report one by one") {
  for (const Network& network : {rotation(60, all_residues(60)), rotation(7, all_residues(7)), flip_flop_toggle()}) {
    const auto many = options({0, 1, 33, 700, 2100}, 71);
    const SampleReport report = sample(network, Precision::kBf16, many);
    CHECK(report.letters == 71 * 2100);
    std::optional<std::uint64_t> failing_at, failing_word;
    std::vector<LengthReport> rows;
    for (const std::uint64_t length : many.lengths) rows.push_back(plain_report(network, Precision::kBf16, length, 71));
    CHECK(report.lengths == rows);
    for (std::uint64_t w = 0; w < 71; ++w) {
      const auto evaluator = make_evaluator(network, Precision::kBf16);
      State state = network.automaton.initial();
      const Word word = RandomWord(network.automaton.letters(), 1, w).slice(0, 2100);
      for (std::uint64_t t = 0; t < word.size() && t < failing_at.value_or(word.size()); ++t) {
        state = network.automaton.next(state, word[t]);
        if (evaluator->step(word[t]) == state || t + 1 == failing_at) continue;
        failing_at = t + 1;
        failing_word = w;
      }
    }
    CHECK(report.failing_at == failing_at);
    CHECK(report.failing_word_index == failing_word);
  }
}

TEST_CASE("the failing word is a word on which the network fails, and only at its end") {
  const Network network = rotation(60, all_residues(60));
  const SampleReport report = sample(network, Precision::kBf16, options({30'000}, 6));
  REQUIRE(report.failing_word);
  CHECK(report.failing_word->size() == *report.failing_at);
  const auto evaluator = make_evaluator(network, Precision::kBf16);
  State state = network.automaton.initial();
  for (std::size_t t = 0; t < report.failing_word->size(); ++t) {
    state = network.automaton.next(state, (*report.failing_word)[t]);
    const bool last = t + 1 == report.failing_word->size();
    REQUIRE((evaluator->step((*report.failing_word)[t]) == state) != last);
  }
  CHECK(RandomWord(60, 1, *report.failing_word_index).slice(0, *report.failing_at) == *report.failing_word);
}

TEST_CASE("an exact network is right everywhere and has no failing word") {
  const SampleReport report = sample(symmetric(4, 3, Swap::kDoubled), Precision::kBf16, options({10'000, 100'000}, 3));
  CHECK_FALSE(report.failing_at);
  CHECK_FALSE(report.failing_word);
  CHECK(report.lengths[1] == LengthReport{100'000, 3, 3, 3, 300'000, 300'000});
}

TEST_CASE("progress is told, and can stop the work from inside") {
  const Network network = one_hot(counter(3, all_residues(3)));
  SampleOptions chosen = options({5'000'000}, 2, 2);
  std::uint64_t last = 0;
  chosen.progress = [&](std::uint64_t done, std::uint64_t all) {
    CHECK(done > last);
    CHECK(all == 10'000'000);
    last = done;
  };
  sample(network, Precision::kFp32, chosen);
  CHECK(last == 10'000'000);
  chosen.progress = [](std::uint64_t, std::uint64_t) { throw Interrupted("stop"); };
  CHECK_THROWS_AS(sample(network, Precision::kFp32, chosen), Interrupted);
  CHECK_THROWS_AS(sample(network, Precision::kFp32, options({}, 1)), InputError);
  CHECK_THROWS_AS(sample(network, Precision::kFp32, options({5}, 0)), InputError);
}

TEST_CASE("words of a stream are compared as they are") {
  const Network network = rotation(60, all_residues(60));
  const Word bad = *sample(network, Precision::kBf16, options({30'000}, 6)).failing_word;
  Word longer = bad;
  longer.insert(longer.begin(), 0);
  GivenWords words({Word{1, 2, 3}, longer, bad, Word{}});
  const SampleReport report = sample_stream(network, Precision::kBf16, words);
  REQUIRE(report.lengths.size() == 1);
  CHECK(report.lengths[0].words == 4);
  CHECK(report.lengths[0].length == bad.size() + 1);
  CHECK(report.letters == 3 + 2 * bad.size() + 1);
  CHECK(report.failing_word == bad);
  CHECK(report.failing_word_index == 2);
  CHECK(report.lengths[0].right_state == 2);
}
