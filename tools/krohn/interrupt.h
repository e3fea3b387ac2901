// tools/krohn/interrupt.h — Ctrl-C: nothing half-written stays behind.
#pragma once

namespace krohn {

/// On SIGINT, SIGTERM and SIGHUP: removes the temporary files of unfinished output, says "krohn: interrupted", and ends
/// with status 130. Call once, at the start of main.
void install_interrupt_handlers();

/// While one exists, the first signal only sets a flag that the work polls (groups/interruption.h), so that it can say
/// how far it came. A second signal ends the program as above.
class InterruptibleWork {
 public:
  InterruptibleWork();
  ~InterruptibleWork();
  InterruptibleWork(const InterruptibleWork&) = delete;
  InterruptibleWork& operator=(const InterruptibleWork&) = delete;
};

}  // namespace krohn
