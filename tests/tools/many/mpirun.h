// tests/tools/many/mpirun.h — the command as a job of several processes.
#pragma once

#include "tests/testing.h"

namespace krohn::test {

inline bool has_mpi() {
  const bool has = KROHN_HAS_MPI && std::system("command -v mpirun >/dev/null") == 0;
  if (!has) MESSAGE("skipped: there is no MPI");
  return has;
}

/// `mpirun -n ranks krohn`, for more ranks than processors, for root, and in containers.
inline std::string mpirun(int ranks) {
  return "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none "
         "mpirun -q --oversubscribe -n " +
         std::to_string(ranks) + " '" KROHN_COMMAND "' ";
}

}  // namespace krohn::test
