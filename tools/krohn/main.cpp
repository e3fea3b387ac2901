// krohn — from a regular language to a proved linear recurrent network.

#include "tools/krohn/command.h"
#include "tools/krohn/joined_ranks.h"
#include "tools/krohn/progress.h"

int main(int argc, char** argv) {
  krohn::install_interrupt_handlers();
  return krohn::run_as_job([&] { return krohn::run_command(argc, argv); });
}
