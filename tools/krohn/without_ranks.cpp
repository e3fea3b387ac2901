// Compiled into the first command that tools/quickstart builds, in place of joined_ranks.cpp: it works alone.

#include "krohn/groups/base/error.h"
#include "tools/krohn/joined_ranks.h"

namespace krohn {

int run_as_job(const std::function<int()>& command) { return command(); }

bool has_ranks() { return false; }

std::unique_ptr<ProvingPlace> place_on_ranks(KeptSearch kept, bool) {
  if (!kept.folder.empty())
    throw SystemError(
        "--checkpoint: this first build of krohn keeps no searches; `cmake --build build` builds the rest");
  return nullptr;
}

RunSlice slices_on_ranks(const Dfa&, unsigned) { return {}; }

RankedWords words_on_ranks(const Dfa&, const Dfa&, std::uint64_t, std::uint64_t, std::uint64_t, unsigned) { return {}; }

Recheck recheck_by_ranks(const Certificate& certificate, const CheckedModel& model, const RecheckOptions& options) {
  return recheck(certificate, model, options);
}

void help_with_ranks_list(const std::string&, unsigned, const LineOf&) {}

bool has_helpers() { return false; }

void list_on_helpers(const std::string&, std::span<const std::uint64_t>, unsigned, const LineOf&,
                     const std::function<void(std::uint64_t, const std::string&)>&,
                     const std::function<void(std::uint64_t)>&) {}

}  // namespace krohn
