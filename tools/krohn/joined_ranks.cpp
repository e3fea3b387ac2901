#include "tools/krohn/joined_ranks.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "krohn/groups/error.h"
#include "krohn/groups/interruption.h"
#include "krohn/simulate/many/many_place.h"
#include "tools/krohn/interrupt.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

Ranks* joined = nullptr;

/// Of this job, as Open MPI, PMIx and PMI tell a process before it says anything; 0: nobody started a job.
unsigned started_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* size = std::getenv(name)) return static_cast<unsigned>(std::strtoul(size, nullptr, 10));
  return std::getenv("PMIX_RANK") != nullptr ? 1 : 0;
}

/// Beside the command where it was built, in the folder of libraries where it was installed; empty: not there.
std::string module_path() {
  std::error_code error;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* place : {"krohn_mpi.so", KROHN_INSTALLED_MODULE})
    if (const auto path = folder / place; std::filesystem::exists(path, error)) return path.string();
  return {};
}

std::unique_ptr<Ranks> join() {
  const unsigned started = started_ranks();
  if (started == 0) return nullptr;
  const std::string path = module_path();
  if (path.empty()) {
    if (started == 1) return nullptr;
    throw SystemError(fmt::format(
        "mpirun started {} processes, and this krohn was built without MPI, so that each would do the same work: start "
        "it without mpirun, or install libopenmpi-dev and build it again",
        started));
  }
  void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);  // Open MPI's own modules look for its symbols
  if (module == nullptr) throw SystemError(fmt::format("{}: cannot load: {}", path, dlerror()));
  const auto make = reinterpret_cast<Ranks* (*)()>(dlsym(module, "krohn_join_mpi_ranks"));
  if (make == nullptr) throw SystemError(fmt::format("{}: is of another krohn; build it again", path));
  return std::unique_ptr<Ranks>(make());
}

int serve_interruptibly(Ranks& ranks) {
  const InterruptibleWork work;
  return serve(ranks, [] { Interruption::check(); });
}

/// On one rank, without mpirun.
class LonePlace final : public ProvingPlace {
 public:
  explicit LonePlace(KeptSearch kept) : place_(rank_, std::move(kept)) {}
  Certificate search_pairs(const Network& network, const CertifyOptions& options) const override {
    return place_.search_pairs(network, options);
  }

 private:
  OneRank rank_;
  ManyPlace place_;
};

}  // namespace

int run_as_job(const std::function<int()>& command) try {
  const std::unique_ptr<Ranks> ranks = join();
  joined = ranks.get();
  if (!ranks) return command();
  if (ranks->rank() != 0) return serve_interruptibly(*ranks);
  const int status = command();
  release(*ranks, status);
  return status;
} catch (const Error& error) {
  fmt::print(stderr, "krohn: {}\n", error.what());
  return kBadInput;
}

bool has_ranks() { return joined != nullptr; }

std::unique_ptr<ProvingPlace> place_on_ranks(KeptSearch kept) {
  if (joined != nullptr) return std::make_unique<ManyPlace>(*joined, std::move(kept));
  return std::make_unique<LonePlace>(std::move(kept));
}

RunSlice slices_on_ranks(const Dfa& dfa, unsigned threads) { return run_on_ranks(*joined, dfa, threads); }

}  // namespace krohn
