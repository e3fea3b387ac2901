#include "krohn/groups/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <filesystem>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "krohn/groups/error.h"

namespace krohn {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 16;

[[noreturn]] void fail(std::string_view path, std::string_view action, int error) {
  throw SystemError(fmt::format("{}: cannot {}: {}", path, action, std::strerror(error)));
}

// --- The registry of pending temporary files. A signal handler may look at it at any moment, so it is a fixed array
// whose entries become visible by one atomic store, and nothing in it is ever allocated.

enum : int { kFree, kReserved, kPending };

struct PendingFile {
  std::atomic<int> status = kFree;
  std::array<char, PATH_MAX> path{};
};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler reads it");

constexpr std::size_t kNoSlot = 256;
std::array<PendingFile, kNoSlot> pending_files;

/// Makes `path` known to `remove_pending_files`. Returns kNoSlot when the table is full or the path too long: the file
/// is then still removed by its destructor, only not by a signal.
std::size_t register_pending(const std::string& path) {
  if (path.size() >= PATH_MAX) return kNoSlot;
  for (std::size_t slot = 0; slot < kNoSlot; ++slot) {
    int expected = kFree;
    if (!pending_files[slot].status.compare_exchange_strong(expected, kReserved)) continue;
    std::memcpy(pending_files[slot].path.data(), path.c_str(), path.size() + 1);
    pending_files[slot].status.store(kPending);
    return slot;
  }
  return kNoSlot;
}

void unregister_pending(std::size_t slot) {
  if (slot < kNoSlot) pending_files[slot].status.store(kFree);
}

// --- Paths

/// `path` with a final chain of links resolved, so that the rename replaces the file and not the link to it.
std::string resolve_links(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return path;
  char* resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) fail(path, "follow the link", errno);
  std::string result(resolved);
  std::free(resolved);
  return result;
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// A name that does not depend on the length of the target's, unique in this process; O_EXCL settles the rest.
std::string temporary_name(const std::string& target) {
  static std::atomic<std::uint64_t> counter = 0;
  return fmt::format("{}/.{}-{}.krohn-tmp", directory_of(target), getpid(), counter++);
}

/// A rename survives a crash only when its directory has reached the disk too. Some file systems cannot flush a
/// directory; the file itself is safe by then, so that is not an error.
void flush_directory(const std::string& directory) {
  const int descriptor = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

/// Closes its descriptor, except the standard ones.
class OwnedDescriptor {
 public:
  explicit OwnedDescriptor(int descriptor) : descriptor_(descriptor) {}
  OwnedDescriptor(const OwnedDescriptor&) = delete;
  OwnedDescriptor& operator=(const OwnedDescriptor&) = delete;
  ~OwnedDescriptor() {
    if (descriptor_ > STDERR_FILENO) close(descriptor_);
  }
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Reads some bytes; 0 at the end.
std::size_t read_some(int descriptor, char* to, std::size_t size, std::string_view name) {
  for (;;) {
    const ssize_t count = read(descriptor, to, size);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) fail(name, "read", errno);
  }
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path), slot_(kNoSlot) {
  if (path == "-") {
    descriptor_ = STDOUT_FILENO;
    path_ = "standard output";
    return;
  }
  if (path.empty()) throw SystemError("the name of the file to write is empty");
  target_ = resolve_links(path);
  struct stat old {};
  const bool exists = stat(target_.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) fail(path_, "write", EISDIR);
  if (exists && !S_ISREG(old.st_mode)) {  // a device or a pipe has no contents to protect
    descriptor_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(path_, "write", errno);
    return;
  }
  temporary_ = temporary_name(target_);
  slot_ = register_pending(temporary_);  // before the file exists: a signal in between finds nothing to remove
  descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    const int error = errno;
    unregister_pending(slot_);
    fail(path_, "write", error);
  }
  if (exists) (void)!fchmod(descriptor_, old.st_mode & 07777);  // best effort: another owner's file may refuse
}

AtomicFile::~AtomicFile() {
  if (descriptor_ > STDERR_FILENO) close(descriptor_);
  remove_temporary();
}

void AtomicFile::remove_temporary() {
  if (temporary_.empty()) return;
  unlink(temporary_.c_str());
  unregister_pending(slot_);
  temporary_.clear();
}

void AtomicFile::write_through(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(path_, "write", errno);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void AtomicFile::write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() >= kBufferBytes) {
    write_through(buffer_);
    buffer_.clear();
  }
  if (bytes.size() >= kBufferBytes)
    write_through(bytes);
  else
    buffer_ += bytes;
}

void AtomicFile::commit() {
  write_through(buffer_);
  buffer_.clear();
  if (temporary_.empty()) return;
  if (fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP) fail(path_, "flush to the disk", errno);
  const int closed = close(descriptor_);
  descriptor_ = -1;
  if (closed != 0 && errno != EINTR) fail(path_, "write", errno);
  if (rename(temporary_.c_str(), target_.c_str()) != 0) fail(path_, "rename the finished file", errno);
  unregister_pending(slot_);
  temporary_.clear();
  flush_directory(directory_of(target_));
}

void write_file(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw SystemError(fmt::format("{}: cannot make the folder: {}", path, error.message()));
}

std::string read_file(const std::string& path, std::size_t max_bytes) {
  const std::string name = path == "-" ? "standard input" : path;
  const OwnedDescriptor file(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail(name, "read", errno);
  struct stat status {};
  if (fstat(file.get(), &status) != 0) fail(name, "read", errno);
  if (S_ISDIR(status.st_mode)) fail(name, "read", EISDIR);
  const auto refuse = [&] { throw LimitError(fmt::format("{}: larger than the limit of {} bytes", name, max_bytes)); };
  std::string bytes;
  if (S_ISREG(status.st_mode)) {
    if (static_cast<std::uint64_t>(status.st_size) > max_bytes) refuse();
    bytes.reserve(static_cast<std::size_t>(status.st_size) + 1);
  }
  std::array<char, kBufferBytes> chunk;
  while (const std::size_t count = read_some(file.get(), chunk.data(), chunk.size(), name)) {
    if (count > max_bytes - bytes.size()) refuse();
    bytes.append(chunk.data(), count);
  }
  return bytes;
}

void remove_pending_files() noexcept {
  const int error = errno;
  for (const PendingFile& file : pending_files)
    if (file.status.load() == kPending) unlink(file.path.data());
  errno = error;
}

}  // namespace krohn
