// tools/krohn/joined_ranks.h — the command as one job of the processes that `mpirun` started: rank 0 does what the
// command line says and is the only one that prints; the others serve it.
#pragma once

#include <functional>
#include <memory>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/simulate/many/ranked_search.h"
#include "krohn/simulate/prove/place.h"
#include "krohn/simulate/run/long_comparison.h"

namespace krohn {

/// Runs the command, under mpirun on rank 0, while the others serve it; gives its exit status on every rank.
int run_as_job(const std::function<int()>& command);

/// Whether mpirun started this process.
bool has_ranks();

/// Searches of pairs by all ranks; without mpirun, by this process as the only one. Null where krohn cannot: it was
/// built without.
std::unique_ptr<ProvingPlace> place_on_ranks(KeptSearch kept);

/// Long words cut over the ranks. Precondition: has_ranks().
RunSlice slices_on_ranks(const Dfa& dfa, unsigned threads);

}  // namespace krohn
