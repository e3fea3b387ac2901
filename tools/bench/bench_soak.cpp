// Long campaigns against brute force: `bench_soak [CAMPAIGN …]`, all of them by default. Each prints what it looked at,
// how often, and every fault with the automaton that shows it. Status 1 when there is any. The quick parts of the same
// campaigns are tests (tests/algebra_campaign.h, tests/network_campaign.h).

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <map>

#include "krohn/automata/operations/minimise.h"
#include "tests/groups/transitive_groups.h"
#include "tests/network_campaign.h"

namespace {

using namespace krohn;

constexpr std::size_t kWords = 600;  ///< read by every network, of one length

void check_all(const Dfa& dfa, Tally& tally) {
  check_networks(dfa, kWords, tally);
  check_cascades(dfa, tally);
}

/// Every table for cascades and networks, and every language on it for verdicts.
void small_languages(Tally& tally) {
  const auto check = [&](const Dfa& dfa) {
    if (canonical(dfa).states() != dfa.states()) return;
    check_all(dfa, tally);
    for (std::uint32_t set = 0; set < 1U << dfa.states(); ++set)
      if (const Dfa minimal = minimise(accepting(dfa, set)); minimal.states() == dfa.states())
        check_verdicts(minimal, tally);
  };
  for (State n = 1; n <= 3; ++n) for_all_tables(n, 2, check);
  for (State n = 1; n <= 2; ++n) for_all_tables(n, 3, check);
}

void transitive_permutation_groups(Tally& tally) {
  std::mt19937 random(3);
  for (const TransitiveGroup& row : transitive_groups()) {
    if (row.group.degree() > 6) continue;
    for (const auto& letters : generating_sets(row.group.generator_values(), random)) {
      const Dfa dfa = on_points(letters);
      check_all(dfa, tally);
      check_verdicts(dfa, tally, 150);
    }
  }
}

/// Everything of every machine; the networks take nine tenths of the time.
void random_machines(Tally& tally) {
  std::mt19937 random(2026);
  for (int drawn = 0; drawn < 10'000; ++drawn) {
    const State states = 2 + static_cast<State>(random() % 6);
    const Dfa dfa = canonical(random_automaton(random, states, 1 + static_cast<Letter>(random() % 3)));
    check_cascades(dfa, tally, 200);
    check_verdicts(minimise(accepting(dfa, static_cast<std::uint32_t>(random()))), tally, 100);
    check_networks(dfa, kWords / 4, tally);
  }
}

const std::map<std::string, std::function<void(Tally&)>> kCampaigns{
    {"languages", small_languages}, {"groups", transitive_permutation_groups}, {"machines", random_machines}};

bool run(const std::string& name) {
  const auto start = std::chrono::steady_clock::now();
  Tally tally;
  kCampaigns.at(name)(tally);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  fmt::print(
      "{}: {} automata with networks, {} networks built, read and proved, {} refused with a reason, {} letters "
      "read; {} cascades, {} groups of layers; {} verdicts; {} monoids too large for brute force; {:.0f} s\n",
      name, tally.automata, tally.networks, tally.refused, tally.steps, tally.cascades, tally.groups, tally.verdicts,
      tally.skipped, seconds.count());
  fmt::print("  wrong: {}\n", tally.wrong.size());
  for (const std::string& fault : tally.wrong) fmt::print("  {}\n", fault);
  std::fflush(stdout);
  return tally.wrong.empty();
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<std::string> names(arguments + 1, arguments + count);
  if (names.empty())
    for (const auto& [name, campaign] : kCampaigns) names.push_back(name);
  bool right = true;
  for (const std::string& name : names) {
    if (!kCampaigns.contains(name)) {
      fmt::print(stderr, "bench_soak: no campaign is called {}\n", name);
      return 2;
    }
    right = run(name) && right;
  }
  return right ? 0 : 1;
}
