#include "tools/krohn/joined_ranks.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "krohn/gpu/networks/device_place.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/evaluate/lanes/sample.h"
#include "krohn/simulate/many/many_place.h"
#include "tools/krohn/command.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/verb.h"

namespace krohn {

// One process of a job, watched from outside: when something kills it, somebody is left
// to say so, and to end the job with krohn's own status instead of a signal's.

/// Goes on in a child of this process, and does not come back in the parent, which passes signals on and ends as the
/// child does; where that was killed, with one line that names it so, and kUndecided. A parent that is killed takes the
/// child with it. To be called before there are threads.
void go_on_guarded(const std::string& name);

namespace {

constexpr int kPassedOn[] = {SIGINT, SIGTERM, SIGHUP};
volatile sig_atomic_t guarded = 0;

extern "C" void pass_on(int signal) { kill(static_cast<pid_t>(guarded), signal); }

void pass_signals_on() {
  struct sigaction action = {};
  action.sa_handler = pass_on;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (const int signal : kPassedOn) sigaction(signal, &action, nullptr);
}

int status_of(pid_t child, const std::string& name) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return kBadInput;
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  fmt::print(stderr,
             "krohn: {} was killed ({}); its checkpoints stay, and the same command continues from them\n", name,
             strsignal(WTERMSIG(status)));
  return kUndecided;
}

}  // namespace

void go_on_guarded(const std::string& name) {
  sigset_t passed_on, before;
  sigemptyset(&passed_on);
  for (const int signal : kPassedOn) sigaddset(&passed_on, signal);
  sigprocmask(SIG_BLOCK, &passed_on, &before);
  const pid_t guard = getpid(), child = fork();
  if (child < 0) throw SystemError(fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (child == 0) {
    // In a group of its own, so that a signal to the group of the job comes once, passed on.
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != guard) _exit(kUndecided);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return;
  }
  guarded = child;
  pass_signals_on();
  sigprocmask(SIG_SETMASK, &before, nullptr);
  _exit(status_of(child, name));
}

namespace {

Ranks* joined = nullptr;

/// For this job, as Open MPI, PMIx and PMI tell a process before it says anything; 0: nobody started a job.
unsigned started_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* size = std::getenv(name)) return static_cast<unsigned>(std::strtoul(size, nullptr, 10));
  return std::getenv("PMIX_RANK") != nullptr ? 1 : 0;
}

/// As these say what it is called: "rank 3".
std::string started_name() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
    if (const char* rank = std::getenv(name)) return fmt::format("rank {}", rank);
  return "a rank";
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
  if (started > 1) go_on_guarded(started_name());
  void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);  // Open MPI's own modules look for its symbols
  if (module == nullptr) throw SystemError(fmt::format("{}: cannot load: {}", path, dlerror()));
  const auto make = reinterpret_cast<Ranks* (*)()>(dlsym(module, "krohn_join_mpi_ranks"));
  if (make == nullptr) throw SystemError(fmt::format("{}: is of another krohn; build it again", path));
  return std::unique_ptr<Ranks>(make());
}

/// How this process reads random words.
SampleWords sampler(const Ranks& ranks, bool on_device) {
  if (!on_device) return sample_from;
  take_device(ranks.number_on_machine());
  return [place = DevicePlace(true, {})](std::uint64_t first, const Network& network, ArithmeticName arithmetic,
                                         const SampleOptions& options) {
    return place.sample_from(first, network, arithmetic, options);
  };
}

/// The list that this rank helps with, while it takes the command line of rank 0.
struct AskedHelp {
  std::string list;
  RankService::Help help;
};
const AskedHelp* asked_help = nullptr;

/// Ends the work of a verb on a rank that has helped.
struct HasHelped {};

void take_list(const std::vector<std::string>& arguments, const std::string& list, const RankService::Help& help) {
  const AskedHelp asked{list, help};
  asked_help = &asked;
  try {
    take_command(arguments);
  } catch (const HasHelped&) {
  } catch (...) {
    asked_help = nullptr;
    throw;
  }
  asked_help = nullptr;
}

int serve_interruptibly(Ranks& ranks) {
  const InterruptibleWork work;
  RankService service;
  service.check = [] { Interruption::check(); };
  service.sampler = [&ranks](bool on_device) { return sampler(ranks, on_device); };
  service.take_list = take_list;
  return serve(ranks, service);
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

std::unique_ptr<ProvingPlace> place_on_ranks(KeptSearch kept, bool on_devices) {
  if (joined != nullptr)
    return std::make_unique<ManyPlace>(*joined, std::move(kept), sampler(*joined, on_devices), on_devices);
  return std::make_unique<LonePlace>(std::move(kept));
}

RunSlice slices_on_ranks(const Dfa& dfa, unsigned threads) { return run_on_ranks(*joined, dfa, threads); }

RankedWords words_on_ranks(const Dfa& machine, const Dfa& automaton, std::uint64_t words, std::uint64_t length,
                           std::uint64_t seed, unsigned threads) {
  SharedComparison shared = compare_on_ranks(*joined, machine, automaton, words, length, seed, threads);
  return {std::move(shared.here), std::move(shared.read)};
}

Recheck recheck_by_ranks(const Certificate& certificate, const CheckedModel& model, const RecheckOptions& options) {
  return check_on_ranks(*joined, certificate, model, options);
}

void help_with_ranks_list(const std::string& name, unsigned threads, const LineOf& line_of) {
  if (asked_help == nullptr || asked_help->list != name) return;
  asked_help->help(threads, line_of);
  throw HasHelped{};
}

bool has_helpers() { return joined != nullptr && joined->rank() == 0; }

void list_on_helpers(const std::string& name, std::span<const std::uint64_t> items, unsigned threads,
                     const LineOf& line_of, const std::function<void(std::uint64_t, const std::string&)>& keep,
                     const std::function<void(std::uint64_t)>& tell) {
  list_on_ranks(*joined, given_arguments(), name, {items, threads, line_of, keep, tell});
}

}  // namespace krohn
