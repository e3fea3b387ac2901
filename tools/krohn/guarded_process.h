// tools/krohn/guarded_process.h — one process of a job, watched from outside: when something kills it, somebody is left
// to say so, and to end the job with krohn's own status instead of a signal's.
#pragma once

#include <string>

namespace krohn {

/// Goes on in a child of this process, and does not come back in the parent, which passes signals on and ends as the
/// child does; where that was killed, with one line that names it so, and kUndecided. A parent that is killed takes the
/// child with it. To be called before there are threads.
void go_on_guarded(const std::string& name);

}  // namespace krohn
