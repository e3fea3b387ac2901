#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/evaluate/lanes/batch.h"
#include "krohn/simulate/evaluate/lanes/sample.h"
#include "tests/simulate/formed_networks.h"
#include "tests/simulate/hand_built.h"
#include "tests/simulate/reference_evaluator.h"
#include "tests/testing.h"

using namespace krohn;
using namespace krohn::hand_built;
using namespace krohn::formed_networks;

namespace {

/// Words over {0, 1} without 11: states 0 and 1 accept, 2 is dead. F(n + 2) words of n letters.
Dfa no_two_ones() { return Dfa::acceptor(numbered_letters(2), {0, 1, 0, 2, 2, 2}, 0, {true, true, false}); }

Word next(AcceptedWordStream& stream) {
  Word word;
  std::vector<Letter> piece(5);
  while (const std::size_t count = stream.read(piece))
    word.insert(word.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(count));
  return word;
}

}  // namespace

TEST_CASE("every accepted word of a length is drawn equally often, no other ever") {
  const Dfa dfa = no_two_ones();
  AcceptedWordStream stream(dfa, 6, 21'000, 4);
  std::map<Word, int> drawn;
  while (stream.next_word()) ++drawn[next(stream)];
  CHECK(drawn.size() == 21);
  for (const auto& [word, times] : drawn) {
    CHECK(word.size() == 6);
    CHECK(dfa.accepts(dfa.run(word)));
    CHECK(times > 1000 - 6 * 32);
    CHECK(times < 1000 + 6 * 32);
  }
}

TEST_CASE("a word depends on the seed and its number alone, and may be left half read") {
  const Dfa dfa = no_two_ones();
  AcceptedWordStream all(dfa, 40, 3, 9), skipping(dfa, 40, 3, 9), other(dfa, 40, 3, 10);
  std::vector<Word> words;
  while (all.next_word()) words.push_back(next(all));
  REQUIRE(words.size() == 3);
  skipping.next_word();
  skipping.next_word();
  Letter letter = 0;
  skipping.read({&letter, 1});
  skipping.next_word();
  CHECK(next(skipping) == words[2]);
  other.next_word();
  CHECK(next(other) != words[0]);
}

TEST_CASE("long accepted words keep a network where its language lives") {
  const Dfa dfa = no_two_ones();
  AcceptedWordStream stream(dfa, 100'000, 2, 1);
  const Network network = one_hot(dfa);
  const SampleReport report = sample_stream(network, Precision::kBf16, stream);
  CHECK(report.lengths[0] == LengthReport{100'000, 2, 2, 2, 200'000, 200'000});
  AcceptedWordStream again(dfa, 100'000, 1, 1);
  again.next_word();
  CHECK(dfa.accepts(dfa.run(next(again))));
}

TEST_CASE("lengths without accepted words are refused") {
  const Dfa even = Dfa::acceptor(numbered_letters(1), {1, 0}, 0, {true, false});
  CHECK_THROWS_AS(AcceptedWordStream(even, 3, 1, 1), InputError);
  AcceptedWordStream stream(even, 0, 1, 1);
  CHECK(stream.next_word());
  CHECK(next(stream).empty());
  CHECK_FALSE(stream.next_word());
}

namespace {

constexpr Precision kPrecisions[] = {Precision::kFp64, Precision::kFp32, Precision::kFp16, Precision::kBf16};

/// Letter t of word w at [t · words + w].
std::vector<Letter> random_letters(Letter letters, std::size_t words, std::size_t length, std::uint64_t seed) {
  std::vector<Letter> made(words * length);
  for (std::size_t w = 0; w < words; ++w) {
    const Word word = RandomWord(letters, seed, w).slice(0, length);
    for (std::size_t t = 0; t < length; ++t) made[t * words + w] = word[t];
  }
  return made;
}

/// Equal as bit patterns, where every NaN counts as one.
bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// Every answer of every word at every position, and every number at the end, are those of the evaluator.
void check_lanes(const Network& network, Precision precision, const LaneOptions& options, std::size_t words,
                 std::size_t length) {
  CAPTURE(to_string(precision));
  CAPTURE(to_string(options.form));
  CAPTURE(words);
  CAPTURE(length);
  const std::vector<Letter> letters = random_letters(network.automaton.letters(), words, length, 31 + length);
  const auto lanes = make_lane_evaluator(network, precision, options);
  const auto quiet = lanes->fresh();
  std::vector<State> states(length * kLanes);
  lanes->run({letters.data(), words, words}, length, states);
  quiet->run({letters.data(), words, words}, length);
  std::array<State, kLanes> last, quiet_last;
  lanes->current(last);
  quiet->current(quiet_last);
  const auto one = make_evaluator(network, precision, options.form);
  for (std::size_t w = 0; w < words; ++w) {
    CAPTURE(w);
    one->reset();
    for (std::size_t t = 0; t < length; ++t) {
      const State expected = one->step(letters[t * words + w]).value_or(kNoState);
      if (states[t * kLanes + w] == expected) continue;
      CAPTURE(t);
      REQUIRE(states[t * kLanes + w] == expected);
    }
    REQUIRE(last[w] == one->current().value_or(kNoState));
    REQUIRE(quiet_last[w] == last[w]);
    const std::vector<double> expected = one->numbers(), seen = lanes->numbers(w), also = quiet->numbers(w);
    REQUIRE(seen.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(i);
      REQUIRE(same(seen[i], expected[i]));
      REQUIRE(same(also[i], expected[i]));
    }
  }
}

void check_everywhere(const Network& network, std::size_t words, std::size_t length) {
  for (const InstructionSet set : available_instruction_sets())
    for (const Precision precision : kPrecisions) {
      CAPTURE(to_string(set));
      check_lanes(network, precision, {.form = Form::kStructured, .instructions = set}, words, length);
    }
}

}  // namespace

TEST_CASE("lanes are the evaluator, bit for bit: networks with a meaning") {
  for (const Network& network : meaningful_networks()) {
    check_everywhere(network, 37, 130);
  }
}

TEST_CASE("lanes are the evaluator, bit for bit: every form alone and all together") {
  for (const Network& network : of_every_form()) {
    CAPTURE(network.layers[0].dimension);
    REQUIRE_NOTHROW(validate(network));
    check_everywhere(network, 33, 70);
  }
}

TEST_CASE("tables of every size are read alike") {
  for (const Letter letters : {3U, 9U, 17U, 40U, 100U, 150U}) {
    CAPTURE(letters);
    check_everywhere(random_network(letters, 4, 1, letters, std::nullopt), 64, 40);
    check_everywhere(rotation(letters, all_residues(letters)), 40, 40);
  }
}

TEST_CASE("batches and words of every size") {
  const Network rotations = rotation(7, all_residues(7)), cascade = flip_flop_toggle();
  for (const std::size_t words : {1, 2, 31, 32, 33, 63, 64})
    for (const std::size_t length : {0, 1, 2, 64, 65, 1000})
      for (const Network* network : {&rotations, &cascade}) check_lanes(*network, Precision::kBf16, {}, words, length);
}

TEST_CASE("the dense form, and what lanes cannot do") {
  for (const Network& network : meaningful_networks())
    check_lanes(network, Precision::kFp32, {.form = Form::kDense, .instructions = {}}, 20, 50);
  Network factored = one_hot(counter(3, all_residues(3)));
  factored.layers[0].transitions[0].a = FactoredMatrix{3, {{0, 1}, {2}}, {{1, 2}, {0}}, {0, 1}};
  CHECK(make_lane_evaluator(factored, Precision::kFp32) == nullptr);
  const std::vector<Letter> letters = random_letters(3, 33, 80, 7);
  const std::vector<State> states = batch_final_states(factored, Precision::kFp32, letters, 33, 80);
  for (std::size_t w = 0; w < 33; ++w) {
    const auto one = reference_evaluator(factored, Precision::kFp32);
    for (std::size_t t = 0; t < 80; ++t) one->step(letters[t * 33 + w]);
    CHECK(states[w] == one->current().value_or(kNoState));
  }
}

TEST_CASE("layers that do not decode leave those above them as they are") {
  const Network network = failing_cascade();
  REQUIRE_NOTHROW(validate(network));
  check_everywhere(network, 64, 200);
  const auto lanes = make_lane_evaluator(network, Precision::kFp32);
  const std::vector<Letter> letters = random_letters(3, 64, 200, 5);
  std::vector<State> states(200 * kLanes);
  lanes->run({letters.data(), 64, 64}, 200, states);
  const auto failures = std::count(states.begin(), states.end(), kNoState);
  CHECK(failures > 100);
  CHECK(failures < 200 * 64 - 100);
}

TEST_CASE("numbers that overflow do not decode, until a reset") {
  Eigen::MatrixXd growing = Eigen::MatrixXd::Identity(2, 2) * 1e4;
  growing(0, 1) = -1e4;
  Network network = one_layer(counter(3, {0, 1, 2}), unit(2, 0),
                              {DenseMatrix{growing}, ZeroMatrix{2}, MapMatrix{Transformation::from_images({1, 1})}},
                              {unit(2, 0), unit(2, 1), -unit(2, 1)});
  network.layers[0].transitions[1].b = unit(2, 0);
  check_everywhere(network, 64, 120);
}

TEST_CASE("a run may be cut anywhere, reset starts anew") {
  const Network network = rotation(60, all_residues(60));
  const std::vector<Letter> letters = random_letters(60, 64, 300, 4);
  const auto whole = make_lane_evaluator(network, Precision::kFp16), parts = whole->fresh();
  std::vector<State> states(300 * kLanes), again(300 * kLanes);
  whole->run({letters.data(), 64, 64}, 300, states);
  for (int round = 0; round < 2; ++round) {
    std::size_t at = 0;
    for (const std::size_t steps : {1, 99, 0, 63, 137}) {
      parts->run({letters.data() + at * 64, 64, 64}, steps, std::span(again).subspan(at * kLanes));
      at += steps;
    }
    CHECK(again == states);
    CHECK(parts->numbers(13) == whole->numbers(13));
    parts->reset();
  }
}

TEST_CASE("final states of a batch, on any number of threads") {
  const Network network = symmetric(4, 3, Swap::kUnnormalised);
  for (const std::size_t words : {0, 1, 2, 31, 127, 300})
    for (const std::size_t length : {0, 1, 100}) {
      const std::vector<Letter> letters = random_letters(6, words, length, 9);
      const std::vector<State> states = batch_final_states(network, Precision::kFp32, letters, words, length);
      REQUIRE(states.size() == words);
      for (const unsigned threads : {1U, 3U}) {
        BatchOptions options;
        options.threads = threads;
        CHECK(batch_final_states(network, Precision::kFp32, letters, words, length, options) == states);
      }
      for (std::size_t w = 0; w < words; ++w) {
        State state = network.automaton.initial();
        for (std::size_t t = 0; t < length; ++t) state = network.automaton.next(state, letters[t * words + w]);
        REQUIRE(states[w] == state);
      }
    }
  CHECK_THROWS_AS(batch_final_states(network, Precision::kFp32, std::vector<Letter>(7), 2, 3), InputError);
}

TEST_CASE("instruction sets have names, and one is always there") {
  const auto sets = available_instruction_sets();
  REQUIRE_FALSE(sets.empty());
  CHECK(sets.front() == InstructionSet::kPortable);
  CHECK(to_string(InstructionSet::kAvx2) == "AVX2");
  for (const InstructionSet set : {InstructionSet::kPortable, InstructionSet::kAvx2, InstructionSet::kAvx512})
    if (std::find(sets.begin(), sets.end(), set) == sets.end()) CHECK_THROWS_AS(lane_kernels(set), InputError);
}

namespace {

SampleOptions options(std::vector<std::uint64_t> lengths, std::uint64_t words, unsigned threads = 0) {
  return {.lengths = std::move(lengths), .words = words, .threads = threads};
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

TEST_CASE("a report does not depend on the number of threads") {
  const Network network = rotation(60, all_residues(60));
  const SampleReport one = sample(network, Precision::kBf16, options({100, 20'000}, 9, 1));
  for (const unsigned threads : {2U, 3U, 8U})
    CHECK(sample(network, Precision::kBf16, options({100, 20'000}, 9, threads)) == one);
  CHECK(one.failing_at.has_value());
}

TEST_CASE("words side by side report what they report one by one, at lengths in any order") {
  // bf16 keeps the count modulo 60 for a few letters only, modulo 7 for some hundred.
  for (const Network& network : {rotation(60, all_residues(60)), rotation(7, all_residues(7)), flip_flop_toggle()}) {
    const SampleReport report = sample(network, Precision::kBf16, options({700, 0, 33, 2100, 1, 700}, 71));
    CHECK(report.letters == 71 * 2100);
    std::optional<std::uint64_t> failing_at, failing_word;
    std::vector<LengthReport> rows;
    for (const std::uint64_t length : {0, 1, 33, 700, 2100})
      rows.push_back(plain_report(network, Precision::kBf16, length, 71));
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
    CHECK(report.failing_word.has_value() == failing_word.has_value());
    if (failing_word)
      CHECK(report.failing_word == RandomWord(network.automaton.letters(), 1, *failing_word).slice(0, *failing_at));
  }
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
