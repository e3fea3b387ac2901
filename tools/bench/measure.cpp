#include "tools/bench/measure.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <deque>
#include <optional>

#include "krohn/groups/base/error.h"

namespace krohn::bench {
namespace {

struct Pair {
  std::string name;
  std::optional<Measurement> ours, rival;
};

/// A deque, so that the registered benchmarks can keep references.
std::deque<Pair>& pairs() {
  static std::deque<Pair> all;
  return all;
}

void keep_best(std::optional<Measurement>& best, const Measurement& measurement) {
  if (!best || measurement.seconds < best->seconds) best = measurement;
}

void register_one(const std::string& name, std::function<Work()> work, std::optional<Measurement>& best) {
  const auto body = [work = std::move(work), &best](benchmark::State& state) {
    for (auto _ : state) {
      const Measurement measurement = measure_in_child(work);
      state.SetIterationTime(measurement.seconds);
      keep_best(best, measurement);
    }
    state.counters["peak_MB"] = best->peak_megabytes;
    state.counters["states"] = static_cast<double>(best->states);
  };
  benchmark::RegisterBenchmark(name.c_str(), body)->UseManualTime()->Iterations(3)->Unit(benchmark::kMillisecond);
}

[[noreturn]] void child(int pipe_end, const std::function<Work()>& work) {
  int status = 1;
  try {
    const Work done = work();
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const Measurement result{done.seconds, static_cast<double>(usage.ru_maxrss) / 1024, done.states};
    if (write(pipe_end, &result, sizeof result) == static_cast<ssize_t>(sizeof result)) status = 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
  }
  _exit(status);
}

}  // namespace

Measurement measure_in_child(const std::function<Work()>& work) {
  int ends[2];
  if (pipe(ends) != 0) throw SystemError("cannot make a pipe for the measured process");
  const pid_t process = fork();
  if (process < 0) throw SystemError("cannot fork the measured process");
  if (process == 0) child(ends[1], work);
  close(ends[1]);
  Measurement result;
  const bool complete = read(ends[0], &result, sizeof result) == static_cast<ssize_t>(sizeof result);
  close(ends[0]);
  int status = 0;
  waitpid(process, &status, 0);
  if (!complete || status != 0) throw SystemError("the measured process failed");
  return result;
}

double seconds_of(const std::function<void()>& body) {
  const std::clock_t start = std::clock();
  body();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

void register_pair(const std::string& name, std::function<Work()> ours, std::function<Work()> rival) {
  Pair& pair = pairs().emplace_back(Pair{name, {}, {}});
  register_one(name + "/krohn", std::move(ours), pair.ours);
  if (has_openfst()) register_one(name + "/rival", std::move(rival), pair.rival);
}

int run_and_compare(int argc, char** argv, const std::string& rival_name) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  for (const Pair& pair : pairs()) {
    if (!pair.ours || !pair.rival) continue;
    fmt::print("ratio {}: {:.0f} ms against {:.0f} ms of {}: {:.1f} times as fast, {:.2f} of its {:.0f} MB\n",
               pair.name, pair.ours->seconds * 1e3, pair.rival->seconds * 1e3, rival_name,
               pair.rival->seconds / pair.ours->seconds, pair.ours->peak_megabytes / pair.rival->peak_megabytes,
               pair.rival->peak_megabytes);
  }
  return 0;
}

}  // namespace krohn::bench
