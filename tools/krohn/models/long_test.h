// tools/krohn/models/long_test.h — `krohn verify --length` beyond what letter-by-letter evaluation can read: through
// the machine of the network's reachable states, saved now and then.
#pragma once

#include <string>

#include "krohn/simulate/run/long_comparison.h"
#include "tools/krohn/models/run_folder.h"

namespace krohn {

struct LongTestOptions {
  unsigned threads = 0;
  bool on_cuda = false;
  bool on_ranks = false;  ///< all that mpirun started (tools/krohn/joined_ranks.h)
  std::string save;       ///< where to save the run every few seconds; empty: nowhere
  std::string resume;     ///< a saved run to go on with, and to save to unless `save` says otherwise
};

struct LongTestReport {
  std::uint64_t states = 0;  ///< of the machine
  std::uint64_t letters = 0;
  LongComparisonState end;
  std::string by;  ///< how the device read the words through the machine; empty on the processor
};

/// Runs the test to its end. After Ctrl-C it saves the run and throws LimitError (exit status 3) that says how to go
/// on; without a file to save to, Interrupted as everywhere.
LongTestReport run_long_test(const Dfa& machine, const Dfa& automaton, const TestedWords& tested,
                             const LongTestOptions& options);

}  // namespace krohn
