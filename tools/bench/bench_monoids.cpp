// Holonomy, enumerated monoids and Green's classes, beside what GAP and libsemigroups need. Their figures were measured
// on another machine, a 2-core AMD EPYC: compare their ratios to each other, not to ours.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <random>

#include "krohn/automata/cascades/holonomy.h"
#include "krohn/automata/language.h"
#include "krohn/automata/monoid/algebra.h"
#include "krohn/groups/transformations/transformation_monoid.h"

namespace {

using namespace krohn;

/// Two letters with random targets.
Dfa random_automaton(State states, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<State> table(2 * std::size_t{states});
  for (State& target : table) target = static_cast<State>(random() % states);
  return Dfa::acceptor(Alphabet::of_characters("ab"), std::move(table), 0, std::vector<bool>(states, true));
}

void holonomy_of(benchmark::State& state, const Dfa& dfa, const char* peers) {
  std::size_t layers = 0;
  for (auto _ : state) layers = holonomy_decomposition(dfa).layers.size();
  state.counters["layers"] = static_cast<double>(layers);
  state.SetLabel(peers);
}

void enumerate(benchmark::State& state, const std::string& name, const char* peers) {
  const Dfa dfa = named_language(name);
  const std::vector<Transformation> maps = letter_maps(dfa);
  double megabytes = 0, elements = 0;
  for (auto _ : state) {
    const TransformationMonoid monoid = TransformationMonoid::enumerate(maps, dfa.states());
    megabytes = static_cast<double>(monoid.bytes()) / 1e6;
    elements = monoid.size();
  }
  state.counters["elements"] = elements;
  state.counters["MB"] = megabytes;
  state.SetLabel(peers);
}

void green(benchmark::State& state, const std::string& name, const char* peers) {
  const Dfa dfa = named_language(name);
  const std::vector<Transformation> maps = letter_maps(dfa);
  for (auto _ : state) benchmark::DoNotOptimize(GreenStructure::of(maps, dfa.states()).size());
  state.SetLabel(peers);
}

template <class Body>
void add(const std::string& name, Body body) {
  benchmark::RegisterBenchmark(name.c_str(), body)->Unit(benchmark::kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
  add("holonomy/T6", [](auto& s) { holonomy_of(s, named_language("T6"), "GAP SgpDec 1085 ms"); });
  add("holonomy/T7", [](auto& s) { holonomy_of(s, named_language("T7"), "GAP SgpDec 12382 ms"); });
  for (const unsigned seed : {1U, 2U, 3U})
    add(fmt::format("holonomy/random15,seed={}", seed),
        [seed](auto& s) { holonomy_of(s, random_automaton(15, seed), "GAP SgpDec 3078-9389 ms for 12-15 states"); });
  add("holonomy/saturating12", [](auto& s) { holonomy_of(s, named_language("saturating12"), "GAP SgpDec 4693 ms"); });
  add("elements/T7", [](auto& s) { enumerate(s, "T7", "libsemigroups 700-800 ms, 155 MB"); });
  add("elements/T8", [](auto& s) { enumerate(s, "T8", "libsemigroups 29000 ms, 3000 MB"); });
  add("green/T8", [](auto& s) { green(s, "T8", "libsemigroups Konieczny 27 ms, GAP 35-57 ms"); });
  add("green/T9", [](auto& s) { green(s, "T9", "no figure"); });
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
