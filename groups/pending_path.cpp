#include "krohn/groups/pending_path.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>

#include "krohn/groups/atomic_file.h"
#include "krohn/groups/error.h"

namespace krohn {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".krohn-tmp";

// --- The registry of pending paths. A signal handler may look at it at any moment, so it is a fixed array whose
// entries become visible by one atomic store, and nothing in it is ever allocated.

enum : int { kFree, kReserved, kPending };

struct Slot {
  std::atomic<int> status = kFree;
  std::array<char, PATH_MAX> path{};
};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler reads it");

std::array<Slot, 256> slots;

// --- What the dead left

/// The process that a temporary name belongs to: ".PID-NUMBER.krohn-tmp".
std::optional<pid_t> owner_of(std::string_view name) {
  if (!name.starts_with('.') || !name.ends_with(kSuffix)) return std::nullopt;
  const char* const end = name.data() + name.size() - kSuffix.size();
  pid_t process = 0;
  std::uint64_t number = 0;
  const auto [dash, no_process] = std::from_chars(name.data() + 1, end, process);
  if (no_process != std::errc{} || process <= 0 || dash == end || *dash != '-') return std::nullopt;
  const auto [last, no_number] = std::from_chars(dash + 1, end, number);
  return no_number == std::errc{} && last == end ? std::optional(process) : std::nullopt;
}

bool is_alive(pid_t process) { return kill(process, 0) == 0 || errno != ESRCH; }

/// A process of another machine or container looks dead from here; its lock does not.
void remove_unlocked(const fs::path& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return;
  std::error_code ignored;
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) fs::remove_all(path, ignored);
  close(descriptor);
}

void remove_leftovers(const std::string& directory) {
  static std::mutex mutex;
  static std::set<std::string> seen;
  {
    const std::lock_guard lock(mutex);
    if (!seen.insert(directory).second) return;
  }
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    if (const auto owner = owner_of(entry->path().filename().string()); owner && !is_alive(*owner))
      remove_unlocked(entry->path());
}

/// A name that does not depend on the length of the target's, unique in this process; O_EXCL settles the rest.
std::string temporary_name(const std::string& directory) {
  static std::atomic<std::uint64_t> counter = 0;
  return fmt::format("{}/.{}-{}{}", directory, getpid(), counter++, kSuffix);
}

}  // namespace

void fail_at(std::string_view path, std::string_view action, int error) {
  throw SystemError(fmt::format("{}: cannot {}: {}", path, action, std::strerror(error)));
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string resolve_links(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return path;
  char* resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) fail_at(path, "follow the link", errno);
  std::string result(resolved);
  std::free(resolved);
  return result;
}

void flush_directory(const std::string& directory) {
  const int descriptor = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

void lock_as_pending(int descriptor) { (void)flock(descriptor, LOCK_EX | LOCK_NB); }

PendingPath::PendingPath(const std::string& target) {
  const std::string directory = directory_of(target);
  remove_leftovers(directory);
  text_ = temporary_name(directory);
  slot_ = claim_slot(text_);
}

PendingPath PendingPath::within(const PendingPath& folder, const std::string& name) {
  PendingPath path;
  path.text_ = folder.text_ + '/' + name;
  path.slot_ = claim_slot(path.text_);
  return path;
}

PendingPath::~PendingPath() {
  if (slot_ < kNoSlot) slots[slot_].status.store(kFree);
}

/// kNoSlot when the table is full or the path too long: what is there is then still removed by its writer, only not by
/// a signal.
std::size_t PendingPath::claim_slot(const std::string& path) {
  static_assert(kNoSlot == slots.size());
  if (path.size() >= PATH_MAX) return kNoSlot;
  for (std::size_t slot = 0; slot < kNoSlot; ++slot) {
    int expected = kFree;
    if (!slots[slot].status.compare_exchange_strong(expected, kReserved)) continue;
    std::memcpy(slots[slot].path.data(), path.c_str(), path.size() + 1);
    slots[slot].status.store(kPending);
    return slot;
  }
  return kNoSlot;
}

void remove_pending_files() noexcept {
  const int error = errno;
  for (const Slot& slot : slots)  // files, also those in folders …
    if (slot.status.load() == kPending) unlink(slot.path.data());
  for (const Slot& slot : slots)  // … before the folders
    if (slot.status.load() == kPending) rmdir(slot.path.data());
  errno = error;
}

}  // namespace krohn
