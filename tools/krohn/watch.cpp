#include "tools/krohn/watch.h"

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/time_limit.h"
#include "tools/krohn/joined_ranks.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/table.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

using Clock = std::chrono::steady_clock;
constexpr Clock::duration kBetweenLooks = std::chrono::milliseconds(50);

std::string memory_option(const VerbLimits& limits) { return "--memory " + size_text(limits.memory); }

/// Freed blocks that the allocator keeps are nobody's.
bool holds_more_than(std::uint64_t bytes) {
  if (MemoryLimit::held() <= bytes) return false;
  malloc_trim(0);
  return MemoryLimit::held() > bytes;
}

std::mutex telling;
std::function<std::string(const std::string&)> tell_found;

/// In a tenth of a second. Work that does not poll its time is left behind, to end with the process.
std::string found_by_now(const std::string& limit) {
  constexpr double kSeconds = 0.1;
  std::promise<std::string> promise;
  std::future<std::string> told = promise.get_future();
  std::thread([promise = std::move(promise), limit]() mutable {
    std::string text;
    const std::lock_guard lock(telling);
    try {
      const TimeLimit briefly(kSeconds, limit);
      if (tell_found) text = tell_found(limit);
    } catch (const std::exception&) {  // it is no time for complaints
    }
    promise.set_value(std::move(text));
  }).detach();
  const bool is_told = told.wait_for(std::chrono::duration<double>(1.2 * kSeconds)) == std::future_status::ready;
  return is_told ? told.get() : std::string();
}

/// The work does not hear of its limits. What was printed is flushed if nobody is printing at this moment.
[[noreturn]] void end_process(const std::string& what) {
  remove_pending_files();
  if (ftrylockfile(stdout) == 0) {
    fmt::print("{}", found_by_now(what));
    fflush_unlocked(stdout);
  }
  const std::string message =
      fmt::format("{}krohn: {}; allow more\n", isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "", what);
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, message.data(), message.size());
  _exit(kUndecided);
}

}  // namespace

void tell_if_ended(std::function<std::string(const std::string& limit)> tell) {
  const std::lock_guard lock(telling);
  tell_found = std::move(tell);
}

std::string VerbLimits::time_option() const { return fmt::format("--time {:g}", seconds); }

int within_limits(const VerbLimits& limits, bool is_alone, const std::function<int()>& work) {
  // Ranks meet in every step of a search; where one of them left it, the others would wait for ever.
  std::optional<TimeLimit> time;
  if (!has_ranks())
    time.emplace(limits.seconds, limits.time_option(), is_alone ? TimeLimit::Of::kProcess : TimeLimit::Of::kThread);
  const MemoryLimit memory(is_alone ? limits.memory : 0, memory_option(limits));
  const int status = work();
  // Whoever leaves out what a limit keeps from being found, a smaller network for one, has not done all.
  const std::string met = memory.was_met()           ? memory_option(limits)
                          : TimeLimit::met().empty() ? ""
                                                     : limits.time_option();
  if (status != kDone || met.empty()) return status;
  if (is_alone) fmt::print(stderr, "krohn: {} was met; there may be more to find\n", met);
  return kUndecided;
}

struct Watch::Thread {
  Thread(const VerbLimits& kept, const std::string& doing) : limits(kept), silence(doing) {}

  VerbLimits limits;
  SilenceBreaker silence;
  Clock::time_point start = Clock::now();
  std::mutex mutex;
  std::condition_variable ended;
  bool is_over = false;
  std::thread thread;

  std::uint64_t most_memory() const { return limits.memory + limits.memory / 10; }

  /// Memory is looked at before it can have grown past its end: a page is written in a microsecond or more.
  Clock::duration until_next_look() const {
    if (limits.memory == 0) return kBetweenLooks;
    constexpr std::uint64_t kBytesInMicrosecond = 4096;
    const std::uint64_t most = most_memory(), held = std::min(MemoryLimit::held(), most);
    return std::min(kBetweenLooks, Clock::duration(std::chrono::microseconds((most - held) / kBytesInMicrosecond)) +
                                       std::chrono::milliseconds(1));
  }

  void look() {
    const double spent = std::chrono::duration<double>(Clock::now() - start).count();
    if (limits.seconds > 0 && spent > 1.03 * limits.seconds + 0.1)
      end_process(fmt::format("the time is over ({})", limits.time_option()));
    if (limits.memory > 0 && holds_more_than(most_memory()))
      end_process(fmt::format("the memory is used up ({})", memory_option(limits)));
    silence.look();
  }

  void run() {
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, until_next_look(), [this] { return is_over; })) look();
  }
};

Watch::Watch(const VerbLimits& limits, const std::string& doing) : thread_(std::make_unique<Thread>(limits, doing)) {
  thread_->thread = std::thread([this] { thread_->run(); });
}

Watch::~Watch() {
  {
    const std::lock_guard lock(thread_->mutex);
    thread_->is_over = true;
  }
  thread_->ended.notify_all();
  thread_->thread.join();
}

}  // namespace krohn
