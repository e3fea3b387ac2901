// The truth over 10^9 letters: automata of 5 to 10,000 states, one long word and many words, against the plain loop
// over the table in the same run. `bench_run [LETTERS [ROUNDS [THREADS]]]`; the default, 10^9, 5 and 2, takes some
// minutes and 600 MB. Contenders take turns in every round and medians are compared, because other programs come and
// go. Two ratios are printed: of the times on the wall, and of the plain loop's processor time to all processor time,
// which is what one core gains. Set OMP_WAIT_POLICY=passive, or waiting threads count as working ones.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "krohn/automata/families/families.h"
#include "krohn/automata/language.h"
#include "krohn/simulate/run/run_dfa.h"

namespace {

using namespace krohn;

struct Setting {
  std::uint64_t letters = 1'000'000'000, rounds = 5;
  unsigned threads = 2;
};

struct Time {
  double wall = 0, processor = 0;  ///< nanoseconds a letter
};

constexpr std::uint64_t kManyWords = 64;
/// The plain loop reads words of four bytes a letter: a tenth of the letters gives its time.
constexpr std::uint64_t kPlainShare = 10;

/// Whatever is computed, so that it cannot be left out.
volatile State sink;

Time time_of(std::uint64_t letters, const std::function<State()>& body) {
  const auto wall = std::chrono::steady_clock::now();
  const std::clock_t processor = std::clock();
  sink = body();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count();
  const double processor_seconds = static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC;
  return {seconds * 1e9 / static_cast<double>(letters), processor_seconds * 1e9 / static_cast<double>(letters)};
}

double median(std::vector<Time> times, double Time::*field) {
  std::sort(times.begin(), times.end(), [&](const Time& a, const Time& b) { return a.*field < b.*field; });
  return times[times.size() / 2].*field;
}

State sum(const std::vector<State>& states) {
  State result = 0;
  for (const State state : states) result += state;
  return result;
}

/// One automaton: all contenders in every round. Making the tables is part of what is timed.
void compare(const std::string& name, const Dfa& dfa, const Setting& setting) {
  const Letter letters = dfa.letters();
  const std::uint64_t each = setting.letters / kManyWords;
  const Word plain = RandomWord(letters, 1).slice(0, setting.letters / kPlainShare);
  const PackedWord packed(RandomWord(letters, 1), setting.letters);
  std::vector<PackedWord> many;
  for (std::uint64_t i = 0; i < kManyWords; ++i) many.emplace_back(RandomWord(letters, 1, i), each);
  const auto runner = [&](unsigned threads) { return Runner(dfa, {.threads = threads}); };
  struct Contender {
    std::string name;
    std::uint64_t letters;
    std::function<State()> body;
    std::vector<Time> times;
  };
  std::vector<Contender> contenders{
      {"plain loop", plain.size(), [&] { return dfa.run(plain); }, {}},
      {"one word, 1 thread", setting.letters, [&] { return runner(1).run(packed, 0); }, {}},
      {"one word", setting.letters, [&] { return runner(setting.threads).run(packed, 0); }, {}},
      {"one random word, made on the way",
       setting.letters,
       [&] { return runner(setting.threads).run(RandomWord(letters, 1), 0, setting.letters, 0); },
       {}},
      {"many words, 1 thread", each * kManyWords, [&] { return sum(runner(1).run_words(many)); }, {}},
      {"many words", each * kManyWords, [&] { return sum(runner(setting.threads).run_words(many)); }, {}},
      {"many random words, made on the way",
       each * kManyWords,
       [&] { return sum(runner(setting.threads).run_random_words(1, 0, kManyWords, each)); },
       {}},
  };
  for (std::uint64_t round = 0; round < setting.rounds; ++round)
    for (Contender& contender : contenders) contender.times.push_back(time_of(contender.letters, contender.body));
  fmt::print("\n{}: {}\n{:<36} {:>9} {:>9} {:>8} {:>10}\n", name, runner(setting.threads).description(), "", "wall ns",
             "CPU ns", "wall ×", "one core ×");
  const double plain_wall = median(contenders[0].times, &Time::wall);
  const double plain_processor = median(contenders[0].times, &Time::processor);
  for (const Contender& contender : contenders) {
    const double wall = median(contender.times, &Time::wall), processor = median(contender.times, &Time::processor);
    fmt::print("{:<36} {:>9.4f} {:>9.4f} {:>8.1f} {:>10.1f}\n", contender.name, wall, processor, plain_wall / wall,
               plain_processor / processor);
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) try {
  Setting setting;
  if (argc > 1) setting.letters = static_cast<std::uint64_t>(std::stod(argv[1]));  // "1e8" too
  if (argc > 2) setting.rounds = std::stoull(argv[2]);
  if (argc > 3) setting.threads = static_cast<unsigned>(std::stoul(argv[3]));
  fmt::print("{} letters, medians of {} rounds, {} threads where not said, instructions: {}\n", setting.letters,
             setting.rounds, setting.threads, to_string(best_instructions()));
  compare("5 states, permutations", random_permutation_automaton(5, 2, 1), setting);
  compare("12 states, permutations", random_permutation_automaton(12, 2, 1), setting);
  compare("S_5 by two generators, 120 states", load_language("name:S5/standard"), setting);
  compare("120 states, permutations", random_permutation_automaton(120, 2, 1), setting);
  compare("120 states, random maps", random_automaton(120, 2, 1), setting);
  compare("10,000 states, permutations", random_permutation_automaton(10'000, 2, 1), setting);
  compare("10,000 states, random maps", random_automaton(10'000, 2, 1), setting);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "bench_run: {}\n", error.what());
  return 2;
}
