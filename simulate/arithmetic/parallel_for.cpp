#include "krohn/simulate/arithmetic/parallel_for.h"

#include <omp.h>

#include <atomic>
#include <exception>
#include <optional>

#include "krohn/groups/base/float_environment.h"

namespace krohn {

void parallel_workers(std::size_t count, unsigned threads, const std::function<Worker()>& make_worker,
                      Sharing sharing) {
  const std::size_t wanted = threads == 0 ? static_cast<std::size_t>(omp_get_max_threads()) : threads;
  const int used = static_cast<int>(std::clamp<std::size_t>(count, 1, wanted));
  std::exception_ptr error;
  // Loops are our own: what is left of a loop of OpenMP's goes on when a piece fails, and may be 10^17 pieces.
  std::atomic<bool> failed = false;
  std::atomic<std::size_t> next = 0;
  const auto guarded = [&](const auto& part) {
    if (failed) return;
    try {
      part();
    } catch (...) {
#pragma omp critical(krohn_parallel_for)
      if (!error) error = std::current_exception();
      failed = true;
    }
  };
  const bool as_zero = SubnormalsAsZero::here();
  struct Environment {
    std::optional<FloatEnvironment> kept;
    std::optional<SubnormalsAsZero> or_not;
  };
  const auto begin = [&](Environment& environment, Worker& work) {
    guarded([&] {
      environment.kept.emplace();
      environment.or_not.emplace(as_zero);
      work = make_worker();
    });
  };
  if (used == 1) {
    // A region of one thread would make what is parallel within nested, and OpenMP starts threads of nested regions
    // anew every time.
    Environment environment;
    Worker work;
    begin(environment, work);
    for (std::size_t i = 0; i < count && !failed; ++i) guarded([&] { work(i); });
  } else {
#pragma omp parallel num_threads(used)
    {
      Environment environment;
      Worker work;
      begin(environment, work);
      if (sharing == Sharing::kSame) {
        const auto team = static_cast<std::size_t>(omp_get_num_threads()),
                   own = static_cast<std::size_t>(omp_get_thread_num());
        const std::size_t share = count / team, longer = count % team;
        const std::size_t first = own * share + std::min(own, longer), end = first + share + (own < longer ? 1 : 0);
        for (std::size_t i = first; i < end && !failed; ++i) guarded([&] { work(i); });
      } else {
        for (std::size_t i; !failed && (i = next++) < count;) guarded([&] { work(i); });
      }
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace krohn
