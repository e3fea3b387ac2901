// groups/interruption.h — whether the user asked long work to stop.
#pragma once

#include <atomic>

namespace krohn {

/// Set by whoever hears of it (a handler of signals), looked at by long work now and then.
class Interruption {
 public:
  /// Throws Interrupted when the user asked to stop. Callable from any thread.
  static void check() {
    if (requested.load(std::memory_order_relaxed)) stop();
  }

  static std::atomic<bool> requested;
  static_assert(std::atomic<bool>::is_always_lock_free);  // a handler may set it

 private:
  [[noreturn]] static void stop();
};

}  // namespace krohn
