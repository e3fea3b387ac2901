// tools/krohn/watch.h — a thread beside the work of a verb: it keeps --time and --memory, and breaks long silence.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace krohn {

/// The values of --time and --memory.
struct VerbLimits {
  double seconds = 0;        ///< in all; 0: no limit
  std::uint64_t memory = 0;  ///< of the process; 0: no limit

  /// "--time 60", as messages name it.
  std::string time_option() const;
};

/// Does the work within its limits. Work that polls them (groups/base/time_limit.h) ends by itself and tells what it
/// has found. Only the limits of threads are set where `is_alone` is false: other work goes on in the process.
int within_limits(const VerbLimits& limits, bool is_alone, const std::function<int()>& work);

/// Sets how to tell what has been found so far, should work that does not hear of a limit be ended from outside: a text
/// for standard output, from the limit. It replaces the one before; an empty one says that the work tells by itself
/// now. It is called in another thread, with a tenth of a second, and owns what it reads.
void tell_if_ended(std::function<std::string(const std::string& limit)> tell);

/// While one lives, a thread looks twenty times a second, and more often where little memory is left. Of work that does
/// not poll its limits it makes an end, a thirtieth past the time or a tenth past the memory: what was printed stays,
/// what was found is told, unfinished files go, and the exit status is that of a limit. On standard error it says what
/// is being done (progress.h), `doing` where nothing else is said.
class Watch {
 public:
  Watch(const VerbLimits& limits, const std::string& doing);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  struct Thread;
  std::unique_ptr<Thread> thread_;
};

}  // namespace krohn
