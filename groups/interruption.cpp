#include "krohn/groups/interruption.h"

#include "krohn/groups/error.h"

namespace krohn {

std::atomic<bool> Interruption::requested = false;

void Interruption::stop() { throw Interrupted("interrupted"); }

}  // namespace krohn
