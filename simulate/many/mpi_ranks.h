// simulate/many/mpi_ranks.h — the ranks that `mpirun` started. A module of its own (krohn_mpi), loaded only under
// mpirun: whoever works on one machine neither needs MPI nor waits for it to be loaded.
#pragma once

#include "krohn/simulate/many/ranks.h"

/// Initialises MPI; the one who deletes the ranks finalises it. Once in a process.
extern "C" krohn::Ranks* krohn_join_mpi_ranks();
