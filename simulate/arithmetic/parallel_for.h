// simulate/arithmetic/parallel_for.h — pieces of work that know nothing of each other, on several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace krohn {

/// What a thread calls with the numbers of its pieces.
using Worker = std::function<void(std::size_t)>;

/// Who does which piece: whoever is free, or every thread as many that follow each other, the same at every call, so
/// that what it wrote last time lies in its own caches.
enum class Sharing { kWhoIsFree, kSame };

/// Every thread makes one worker and calls it with some of 0 … count − 1, so that each is called once, in no order.
/// `threads` 0: as many as OpenMP gives; inside another call, one. Threads that another library's settings were left on
/// compute as groups/float_environment.h says, too. After an exception no further piece is begun; the first is thrown.
void parallel_workers(std::size_t count, unsigned threads, const std::function<Worker()>& make_worker,
                      Sharing sharing = Sharing::kWhoIsFree);

/// The same with one body for all threads.
inline void parallel_for(std::size_t count, unsigned threads, const Worker& body,
                         Sharing sharing = Sharing::kWhoIsFree) {
  parallel_workers(
      count, threads, [&] { return Worker(std::cref(body)); }, sharing);
}

}  // namespace krohn
