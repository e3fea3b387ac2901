// Compiled into the first command that tools/quickstart builds, in place of joined_ranks.cpp: it works alone.

#include "krohn/groups/error.h"
#include "tools/krohn/joined_ranks.h"

namespace krohn {

int run_as_job(const std::function<int()>& command) { return command(); }

bool has_ranks() { return false; }

std::unique_ptr<ProvingPlace> place_on_ranks(KeptSearch kept) {
  if (!kept.folder.empty())
    throw SystemError(
        "--checkpoint: this first build of krohn keeps no searches; `cmake --build build` builds the rest");
  return nullptr;
}

RunSlice slices_on_ranks(const Dfa&, unsigned) { return {}; }

}  // namespace krohn
