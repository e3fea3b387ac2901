#include "tools/krohn/guarded_process.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "krohn/groups/error.h"
#include "tools/krohn/verb.h"

namespace krohn {
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
             "krohn: {} was killed ({}); what was kept until then stays, and the same command goes on from it\n", name,
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

}  // namespace krohn
