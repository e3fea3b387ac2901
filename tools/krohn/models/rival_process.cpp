#include "tools/krohn/models/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "tools/krohn/progress.h"

namespace krohn {
namespace {

/// The exit status of a command that is found by PATH; 127 where it is not.
int status_of(std::vector<std::string> command, bool is_quiet) {
  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (is_quiet)
    for (const int file : {STDOUT_FILENO, STDERR_FILENO})
      posix_spawn_file_actions_addopen(&files, file, "/dev/null", O_WRONLY, 0);
  pid_t process = 0;
  const int failed = posix_spawnp(&process, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) return 127;
  const InterruptibleWork work;  // so that an interrupt ends that process first
  constexpr timespec kMoment{0, 20'000'000};
  int status = 0;
  for (pid_t ended = 0; ended == 0;) {
    ended = waitpid(process, &status, WNOHANG);
    if (ended < 0 && errno != EINTR) throw SystemError(fmt::format("{}: {}", command[0], std::strerror(errno)));
    if (ended < 0) ended = 0;
    if (ended == 0 && Interruption::requested) {
      kill(process, SIGTERM);
      while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
      }
      Interruption::check();
    }
    if (ended == 0) nanosleep(&kMoment, nullptr);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int run_rivals(const std::vector<std::string>& arguments, std::string_view asked) {
  const char* chosen = std::getenv("KROHN_PYTHON");
  const std::string python = chosen == nullptr || *chosen == '\0' ? "python3" : chosen;
  if (status_of({python, "-c", "import krohn.rivals"}, true) != 0) {
    std::string missing = "krohn.rivals";
    for (const char* const each : {"safetensors", "torch", "krohn"})
      if (status_of({python, "-c", fmt::format("import {}", each)}, true) != 0) missing = each;
    throw InputError(asked,
                     fmt::format("PyTorch trains these, and {} has no {}: `pip install './tools/python[rivals]'` in "
                                 "krohn's checkout, or set KROHN_PYTHON to a Python that has it",
                                 python, missing));
  }
  std::vector<std::string> command{python, "-m", "krohn.rivals"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::fflush(stdout);
  return status_of(std::move(command), false);
}

}  // namespace krohn
