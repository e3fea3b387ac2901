#include "tools/krohn/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <string_view>

#include "krohn/groups/atomic_file.h"
#include "krohn/groups/interruption.h"

namespace krohn {
namespace {

constexpr int kInterruptedStatus = 130;
std::atomic<int> polling_works = 0;
static_assert(std::atomic<int>::is_always_lock_free);

/// Only async-signal-safe calls.
extern "C" void on_signal(int) {
  if (polling_works.load() > 0 && !Interruption::requested.exchange(true)) return;
  remove_pending_files();
  constexpr std::string_view message = "krohn: interrupted\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, message.data(), message.size());
  _exit(kInterruptedStatus);
}

}  // namespace

void install_interrupt_handlers() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
  // A file that grows past a limit is then an error like a disk that is full, and not the end of the process.
  action.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &action, nullptr);
}

InterruptibleWork::InterruptibleWork() { polling_works.fetch_add(1); }
InterruptibleWork::~InterruptibleWork() { polling_works.fetch_sub(1); }

}  // namespace krohn
