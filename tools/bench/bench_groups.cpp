// Exact orders of permutation groups, from generators to the last digit, beside what GAP and libsemigroups need. Their
// figures were measured on another machine, a 2-core AMD EPYC: compare their ratios to each other, not to ours. For
// libsemigroups in the same run there is peer_libsemigroups.py.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>

#include "krohn/groups/names/named_group.h"
#include "krohn/groups/permutations/stabiliser_chain.h"

namespace {

using namespace krohn;

struct Contest {
  const char* group;
  const char* peers;  ///< medians
};

constexpr std::array<Contest, 6> kContests = {{
    {"M12", "no figure"},
    {"M24", "GAP 0.79 ms, libsemigroups 0.13 ms"},
    {"Rubik", "GAP 3.6 ms, libsemigroups wraps 64 bits"},
    {"S100", "GAP 1940 ms, libsemigroups over 80000 ms"},
    {"S1000", "none without giant detection"},
    {"S10wrS10", "no figure"},
}};

void order_of(benchmark::State& state, const Contest& contest) {
  const PermutationGroup group = named_group(contest.group);
  for (auto _ : state) benchmark::DoNotOptimize(order(group));
  state.SetLabel(contest.peers);
}

void name_of(benchmark::State& state, const char* name) {
  const PermutationGroup group = named_group(name);
  for (auto _ : state) benchmark::DoNotOptimize(recognised_name(group));
}

}  // namespace

int main(int argc, char** argv) {
  for (const Contest& contest : kContests)
    benchmark::RegisterBenchmark(fmt::format("order/{}", contest.group).c_str(), [&contest](benchmark::State& state) {
      order_of(state, contest);
    })->Unit(benchmark::kMillisecond);
  for (const char* name : {"D4", "A5", "S5", "M11", "M24", "S1000"})
    benchmark::RegisterBenchmark(fmt::format("recognised_name/{}", name).c_str(), [name](benchmark::State& state) {
      name_of(state, name);
    })->Unit(benchmark::kMillisecond);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
