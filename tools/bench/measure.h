// tools/bench/measure.h — time and peak memory of one piece of work, in a process of its own; the same work done by
// OpenFst, whose headers are in one file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace krohn::bench {

/// A contender's report of its own work: the preparation of its input is not timed, but its memory counts.
struct Work {
  double seconds = 0;
  std::uint64_t states = 0;  ///< of the result
};

struct Measurement {
  double seconds = 0;
  double peak_megabytes = 0;  ///< resident, of the whole child process
  std::uint64_t states = 0;
};

/// Runs `work` in a forked child, so that the peak is its own. Throws SystemError when the child fails.
Measurement measure_in_child(const std::function<Work()>& work);

/// Processor seconds that `body` takes, which other programs disturb less than the clock on the wall.
double seconds_of(const std::function<void()>& body);

/// Registers ours and, where OpenFst is there, the rival's measurement as Google Benchmarks with manual time, three
/// iterations each, and remembers the fastest of each.
void register_pair(const std::string& name, std::function<Work()> ours, std::function<Work()> rival);

/// Runs everything that was registered, then prints one line of ratios for each pair. Returns main's exit status.
int run_and_compare(int argc, char** argv, const std::string& rival_name);

// OpenFst's time for its part of the work, and the states of its trimmed result.

/// False when the benchmarks were built without OpenFst; then the functions below must not be called.
bool has_openfst();

/// fst::Minimize on a StdVectorFst acceptor. The automaton comes state by state, so that no other copy of it exists:
/// target(state, letter) is called in row-major order, accepts(state) after the letters of each state.
Work openfst_minimise(std::uint32_t states, std::uint32_t letters, std::uint32_t initial,
                      const std::function<std::uint32_t(std::uint32_t, std::uint32_t)>& target,
                      const std::function<bool(std::uint32_t)>& accepts);

/// fst::Determinize, then fst::Minimize, on the obvious automaton without ε-moves of (a|b)*a(a|b){count}.
Work openfst_letter_from_end(std::uint32_t count);

}  // namespace krohn::bench
