// Runs networks over 4096 words of 1000 letters in fp32: one word after another, and side by side in lanes. The rival
// is PyTorch, run by tools/bench/peer_pytorch.py on the same networks. --cycles prints cycles a letter instead.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "krohn/automata/language.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/simulate/evaluate/lanes/batch.h"

namespace {

using namespace krohn;

constexpr std::size_t kWords = 4096, kLength = 1000, kWordsOneByOne = 64;

struct Subject {
  std::string name, language, construction;
};

/// peer_pytorch.py compiles the same.
const std::vector<Subject> kSubjects{
    {"S5 by reflections", "S5/transpositions", "permutation-base-reflections"},
    {"modarith5 by a one-hot cascade", "modarith5", "cascade-holonomy"},
    {"Z60 by rotations", "Z60", "rotation"},
};

Network network_of(const Subject& subject) {
  BuildOptions wishes;
  wishes.construction = subject.construction;
  if (subject.construction == "permutation-base-reflections") wishes.keys = KeyStyle::kUnnormalised;
  return build(named_language(subject.language), wishes);
}

std::vector<Letter> random_letters(Letter letters) {
  std::vector<Letter> made(kWords * kLength);
  for (std::size_t w = 0; w < kWords; ++w) {
    const Word word = RandomWord(letters, 1, w).slice(0, kLength);
    for (std::size_t t = 0; t < kLength; ++t) made[t * kWords + w] = word[t];
  }
  return made;
}

/// Processor seconds of all threads, which other programs disturb less than the clock on the wall.
double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// How often a second this thread adds one after another, now: what other programs leave of a core.
double cycles_per_nanosecond() {
  constexpr std::uint64_t kSteps = 20'000'000;
  std::uint64_t sum = 0;
  const double start = processor_seconds();
  for (std::uint64_t i = 0; i < kSteps; ++i) {
    ++sum;
    benchmark::DoNotOptimize(sum);
  }
  return static_cast<double>(kSteps) / (1e9 * (processor_seconds() - start));
}

/// Cycles a letter of kLanes words that stay in the cache, by network: the fastest of some rounds, each beside its own
/// measure of the cycle.
double cycles_in_cache(const Network& network, const std::vector<Letter>& letters) {
  constexpr int kRounds = 40;
  std::vector<Letter> block(kLanes * kLength);
  for (std::size_t t = 0; t < kLength; ++t)
    std::copy_n(letters.begin() + static_cast<std::ptrdiff_t>(t * kWords), kLanes,
                block.begin() + static_cast<std::ptrdiff_t>(t * kLanes));
  const auto lanes = make_lane_evaluator(network, Precision::kFp32);
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const double speed = cycles_per_nanosecond(), start = processor_seconds();
    for (int again = 0; again < 10; ++again) {
      lanes->reset();
      lanes->run({block.data(), kLanes, kLanes}, kLength);
    }
    const double nanoseconds = (processor_seconds() - start) * 1e9 / static_cast<double>(10 * kLanes * kLength);
    best = std::min(best, nanoseconds * speed);
  }
  return best;
}

/// Nanoseconds a letter, by network and contender: the fastest iteration.
std::map<std::string, std::map<std::string, double>>& results() {
  static std::map<std::string, std::map<std::string, double>> all;
  return all;
}

template <class Body>
void add(const std::string& network, const std::string& contender, std::size_t words, Body body) {
  const auto timed = [=](benchmark::State& state) {
    double& best = results()[network].emplace(contender, 1e9).first->second;
    for (auto _ : state) {
      const double start = processor_seconds();
      body();
      const double seconds = processor_seconds() - start;
      best = std::min(best, seconds * 1e9 / static_cast<double>(words * kLength));
      state.SetIterationTime(seconds);
    }
    state.counters["ns_per_letter"] = best;
  };
  benchmark::RegisterBenchmark(fmt::format("networks/{}/{}", network, contender).c_str(), timed)
      ->UseManualTime()
      ->Iterations(5)
      ->Unit(benchmark::kMillisecond);
}

void add_all(const Subject& subject) {
  const auto network = std::make_shared<const Network>(network_of(subject));
  const auto letters = std::make_shared<const std::vector<Letter>>(random_letters(network->automaton.letters()));
  add(subject.name, "one by one", kWordsOneByOne, [network, letters] {
    const auto evaluator = make_evaluator(*network, Precision::kFp32);
    std::vector<State> states(kLength);
    Word word(kLength);
    for (std::size_t w = 0; w < kWordsOneByOne; ++w) {
      for (std::size_t t = 0; t < kLength; ++t) word[t] = (*letters)[t * kWords + w];
      evaluator->reset();
      evaluator->run(word, states);
      benchmark::DoNotOptimize(states.data());
    }
  });
  for (const InstructionSet set : available_instruction_sets())
    for (const Precision precision : {Precision::kFp32, Precision::kFp64, Precision::kFp16, Precision::kBf16})
      add(subject.name, fmt::format("lanes, {}, {}", to_string(precision), to_string(set)), kWords,
          [network, letters, set, precision] {
            BatchOptions options;
            options.threads = 1;
            options.instructions = set;
            benchmark::DoNotOptimize(batch_final_states(*network, precision, *letters, kWords, kLength, options));
          });
}

void print_ratios() {
  for (const auto& [network, contenders] : results()) {
    const auto plain = contenders.find("one by one");
    if (plain == contenders.end()) continue;
    for (const auto& [name, nanoseconds] : contenders)
      if (name != plain->first)
        fmt::print("ratio networks/{}/{}: {:.3f} ns a letter against {:.1f} one by one: {:.1f} times as fast\n",
                   network, name, nanoseconds, plain->second, plain->second / nanoseconds);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--cycles") {
    for (const Subject& subject : kSubjects) {
      const Network network = network_of(subject);
      fmt::print("networks/{}: {:.2f} cycles a letter, 64 words in the cache\n", subject.name,
                 cycles_in_cache(network, random_letters(network.automaton.letters())));
    }
    return 0;
  }
  for (const Subject& subject : kSubjects) add_all(subject);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  print_ratios();
  return 0;
}
