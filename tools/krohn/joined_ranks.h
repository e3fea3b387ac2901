// tools/krohn/joined_ranks.h — the command as one job of the processes that `mpirun` started: rank 0 does what the
// command line says and is the only one that prints; the others serve it.
#pragma once

#include <fmt/format.h>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/gpu/device/device.h"
#include "krohn/simulate/check/recheck.h"
#include "krohn/simulate/many/ranks.h"
#include "krohn/simulate/prove/place.h"
#include "krohn/simulate/run/long_comparison.h"
#include "krohn/simulate/shards/part_file.h"

namespace krohn {

/// Runs the command, under mpirun on rank 0, while the others serve it; gives its exit status on every rank.
int run_as_job(const std::function<int()>& command);

/// True if mpirun started this process.
bool has_ranks();

/// Searches of pairs by all ranks, and random words, each on a device where `on_devices`; without mpirun, searches by
/// this process as the only one. Null where krohn cannot: it was built without.
std::unique_ptr<ProvingPlace> place_on_ranks(KeptSearch kept, bool on_devices);

// Preconditions: has_ranks().

/// Long words cut over the ranks.
RunSlice slices_on_ranks(const Dfa& dfa, unsigned threads);

/// Words read whole, each by one of the ranks (simulate/many/many_place.h).
struct RankedWords {
  std::shared_ptr<const LongComparison> here;
  std::function<void(LongComparisonState& state, const std::function<void()>& check)> read;
};
RankedWords words_on_ranks(const Dfa& machine, const Dfa& automaton, std::uint64_t words, std::uint64_t length,
                           std::uint64_t seed, unsigned threads);

/// A certificate checked by all ranks.
Recheck recheck_by_ranks(const Certificate& certificate, const CheckedModel& model, const RecheckOptions& options);

// ---- Lists

/// On a rank that helps with this list: makes the lines that rank 0 asks for, and does not come back. On one that helps
/// with another list, on rank 0 and without mpirun it does nothing. To be called in every verb that works through a
/// list, before it writes anything.
void help_with_ranks_list(const std::string& name, unsigned threads, const LineOf& line_of);

/// True if the other ranks help this one with its lists; they take the same command line as far as
/// help_with_ranks_list.
bool has_helpers();

/// Precondition: has_helpers(). simulate/many/many_place.h.
void list_on_helpers(const std::string& name, std::span<const std::uint64_t> items, unsigned threads,
                     const LineOf& line_of, const std::function<void(std::uint64_t, const std::string&)>& keep,
                     const std::function<void(std::uint64_t)>& tell);

// `--device`: jobs that a CUDA device does when it can, and the processor when it cannot.

/// gpu/device/device.h, with what `--device` asks for: "cuda" insists. A line on standard error says why the
/// processor did it.
template <class Device, class Processor>
auto on_device(const std::string& asked, Device&& device, Processor&& processor) {
  const auto note = [](const std::string& why) { fmt::print(stderr, "krohn: on the processor instead: {}\n", why); };
  return on_device(asked == "cuda", note, std::forward<Device>(device), std::forward<Processor>(processor));
}

}  // namespace krohn
