// Runs automata over 10^8 letters: the plain table loop, eight streams, packed letters, all threads, one long word.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "simulate/run_dfa.h"

namespace {

using namespace krohn;

constexpr std::uint64_t kLetters = 100'000'000, kWords = 64;

/// Letters permute the states at random: nothing merges, and every state keeps being visited.
Dfa random_permutations(State states) {
  std::vector<State> table(std::size_t{states} * 2);
  for (Letter letter = 0; letter < 2; ++letter) {
    std::vector<State> images(states);
    for (State state = 0; state < states; ++state) {
      const std::uint64_t place = RandomWord(state + 1, letter).at(state);  // Fisher and Yates, from the inside out
      images[state] = images[place];
      images[place] = state;
    }
    for (State state = 0; state < states; ++state) table[std::size_t{state} * 2 + letter] = images[state];
  }
  return Dfa::acceptor(Alphabet::of_characters("ab"), std::move(table), 0, std::vector<bool>(states, true));
}

/// The same letters in every form that is run. Made once: 400 MB of plain letters, 25 MB packed.
struct Letters {
  std::vector<Word> words;
  std::vector<PackedWord> packed;
  PackedWord long_word;

  Letters() : long_word(RandomWord(2, 1), kLetters) {
    for (std::uint64_t i = 0; i < kWords; ++i) {
      words.push_back(RandomWord(2, 1, i).slice(0, kLetters / kWords));
      packed.emplace_back(2, words.back());
    }
  }
};

const Letters& letters() {
  static const Letters made;
  return made;
}

/// Nanoseconds a letter, by automaton and contender: the fastest iteration.
std::map<State, std::map<std::string, double>>& results() {
  static std::map<State, std::map<std::string, double>> all;
  return all;
}

template <class Body>
void add(State states, const std::string& contender, Body body) {
  const auto timed = [=](benchmark::State& state) {
    const Dfa dfa = random_permutations(states);
    letters();
    double& best = results()[states].emplace(contender, 1e9).first->second;
    for (auto _ : state) {
      const auto start = std::chrono::steady_clock::now();
      benchmark::DoNotOptimize(body(dfa));
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      best = std::min(best, seconds * 1e9 / static_cast<double>(kLetters));
      state.SetIterationTime(seconds);
    }
    state.counters["ns_per_letter"] = best;
  };
  benchmark::RegisterBenchmark(fmt::format("run/{}_states/{}", states, contender).c_str(), timed)
      ->UseManualTime()
      ->Iterations(5)
      ->Unit(benchmark::kMillisecond);
}

/// The time to build the runner and its tables is part of what is measured.
void add_all(State states) {
  add(states, "plain loop", [](const Dfa& dfa) {
    State sum = 0;
    for (const Word& word : letters().words) sum += dfa.run(word);
    return sum;
  });
  add(states, "streams", [](const Dfa& dfa) { return Runner(dfa, {.threads = 1}).run_words(letters().words); });
  add(states, "packed streams", [](const Dfa& dfa) { return Runner(dfa, {.threads = 1}).run_words(letters().packed); });
  add(states, "packed streams, threads", [](const Dfa& dfa) { return Runner(dfa).run_words(letters().packed); });
  add(states, "random words, threads",
      [](const Dfa& dfa) { return Runner(dfa).run_random_words(1, 0, kWords, kLetters / kWords); });
  add(states, "one long word", [](const Dfa& dfa) { return Runner(dfa, {.threads = 1}).run(letters().long_word, 0); });
  add(states, "one long word, threads", [](const Dfa& dfa) { return Runner(dfa).run(letters().long_word, 0); });
}

void print_ratios() {
  for (const auto& [states, contenders] : results()) {
    const auto plain = contenders.find("plain loop");
    if (plain == contenders.end()) continue;
    for (const auto& [name, nanoseconds] : contenders)
      if (name != plain->first)
        fmt::print(
            "ratio run/{}_states/{}: {:.3f} ns a letter against {:.3f} of the plain loop: {:.1f} times as fast\n",
            states, name, nanoseconds, plain->second, plain->second / nanoseconds);
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (const State states : {5u, 60u, 120u, 10'000u}) add_all(states);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  print_ratios();
  return 0;
}
