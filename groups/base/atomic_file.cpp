#include "krohn/groups/base/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>

#include "krohn/groups/base/error.h"

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

namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 16;

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
    if (errno != EINTR) fail_at(name, "read", errno);
  }
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path) {
  if (path == "-") {
    descriptor_ = STDOUT_FILENO;
    path_ = "standard output";
    return;
  }
  if (path.empty()) throw SystemError("the name of the file to write is empty");
  struct stat old {};
  const bool exists = stat(path.c_str(), &old) == 0;
  // A device or a pipe may have no name but the link's, as behind /dev/stdout.
  target_ = exists && !S_ISREG(old.st_mode) ? path : resolve_links(path);
  if (exists && S_ISDIR(old.st_mode)) fail_at(path_, "write", EISDIR);
  if (exists && !S_ISREG(old.st_mode)) {  // a device or a pipe has no contents to protect
    descriptor_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail_at(path_, "write", errno);
    return;
  }
  temporary_ = PendingPath(target_);  // known before the file exists: a signal in between finds nothing to remove
  descriptor_ = open(temporary_.text().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    const int error = errno;
    temporary_ = PendingPath();
    fail_at(path_, "write", error);
  }
  lock_as_pending(descriptor_);
  if (exists) (void)!fchmod(descriptor_, old.st_mode & 07777);  // best effort: another owner's file may refuse
}

int write_bytes(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

AtomicFile::~AtomicFile() {
  if (descriptor_ > STDERR_FILENO) close(descriptor_);
  remove_temporary();
}

void AtomicFile::remove_temporary() {
  if (temporary_.text().empty()) return;
  unlink(temporary_.text().c_str());
  temporary_ = PendingPath();
}

void AtomicFile::write_through(std::string_view bytes) {
  if (const int error = write_bytes(descriptor_, bytes); error != 0) fail_at(path_, "write", error);
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
  if (temporary_.text().empty()) return;
  if (fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP) fail_at(path_, "flush to the disk", errno);
  if (rename(temporary_.text().c_str(), target_.c_str()) != 0) fail_at(path_, "rename the finished file", errno);
  temporary_ = PendingPath();
  close(descriptor_);  // not sooner: with it goes the lock. Its bytes are on the disk.
  descriptor_ = -1;
  flush_directory(directory_of(target_));
}

void write_file(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

void require_writable(const std::string& path) {
  std::error_code error;
  const auto kind = std::filesystem::status(path, error).type();
  if (path != "-" && (kind == std::filesystem::file_type::not_found || kind == std::filesystem::file_type::regular ||
                      kind == std::filesystem::file_type::directory))
    const AtomicFile file(path);
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw SystemError(fmt::format("{}: cannot make the folder: {}", path, error.message()));
}

std::string read_file(const std::string& path, std::size_t max_bytes,
                      const std::function<void(std::string_view)>& look) {
  const std::string name = path == "-" ? "standard input" : path;
  const OwnedDescriptor file(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail_at(name, "read", errno);
  struct stat status {};
  if (fstat(file.get(), &status) != 0) fail_at(name, "read", errno);
  if (S_ISDIR(status.st_mode)) fail_at(name, "read", EISDIR);
  const auto refuse = [&] {
    throw LimitError(fmt::format("{}: larger than the limit of {}", name, counted(max_bytes, "byte")));
  };
  std::string bytes;
  if (S_ISREG(status.st_mode) && static_cast<std::uint64_t>(status.st_size) <= max_bytes)
    bytes.reserve(static_cast<std::size_t>(status.st_size) + 1);
  std::array<char, kBufferBytes> chunk;
  while (const std::size_t count = read_some(file.get(), chunk.data(), chunk.size(), name)) {
    if (count > max_bytes - bytes.size()) refuse();
    bytes.append(chunk.data(), count);
    if (look) look(bytes);
    // A file that is too large is refused at once, but only after its beginning could say that it is none at all.
    if (S_ISREG(status.st_mode) && static_cast<std::uint64_t>(status.st_size) > max_bytes) refuse();
  }
  return bytes;
}

std::string read_text_file(const std::string& path, std::size_t max_bytes) {
  std::size_t looked_at = 0;
  return read_file(path, max_bytes, [&](std::string_view text) {
    const std::string name = path == "-" ? "standard input" : path;
    if (const std::string kind = looked_at == 0 ? kind_of_binary(text) : ""; !kind.empty())
      throw InputError(name, "not a text file; it is " + kind);
    const std::size_t zero = text.find('\0', looked_at);
    looked_at = text.size();
    if (zero != std::string_view::npos) throw InputError(name, fmt::format("not a text file: byte {} is zero", zero));
  });
}

std::string kind_of_binary(std::string_view beginning) {
  using namespace std::string_view_literals;
  if (beginning.starts_with("PK\3\4"sv))
    return "a ZIP archive, as PyTorch's .pt (a Python pickle, which is a program and is not run) and NumPy's .npz "
           "files are; "
           "krohn reads .safetensors, which safetensors.torch.save_file writes";
  if (beginning.size() > 1 && beginning[0] == '\x80' && beginning[1] >= 2 && beginning[1] <= 5)
    return "a Python pickle, which is a program and is not run; krohn reads .safetensors, which "
           "safetensors.torch.save_file writes";
  if (beginning.starts_with("\x93NUMPY"sv)) return "a NumPy array";
  if (beginning.starts_with("\x1F\x8B"sv)) return "compressed by gzip; unpack it first";
  if (beginning.starts_with("\x89HDF"sv)) return "an HDF5 file";
  if (beginning.starts_with("\x89PNG"sv) || beginning.starts_with("%PDF"sv)) return "a picture";
  if (beginning.starts_with("\x7F"
                            "ELF"sv))
    return "a program";
  if (beginning.size() > 9 && beginning[8] == '{' && beginning[6] == 0 && beginning[7] == 0)
    return "a .safetensors file; name it so";
  if (beginning.size() > 2 && beginning[0] == 8 && beginning[1] >= 1 && beginning[1] <= 20 &&
      (beginning[2] == 0x12 || beginning[2] == 0x1A || beginning[2] == 0x3A))
    return "an ONNX model, which krohn writes but does not read; keep the .safetensors file beside it";
  return "";
}

namespace {

namespace fs = std::filesystem;

using Files = std::span<const std::pair<std::string, std::string>>;

/// Refuses a folder that cannot change places with another without harm.
void require_replaceable(const std::string& target, const std::string& path) {
  std::error_code error;
  if (!fs::exists(target, error)) return;
  if (!fs::is_directory(target, error)) fail_at(path, "write a folder there", ENOTDIR);
  const fs::path here = fs::current_path(error), folder = fs::canonical(target, error);
  if (error) throw SystemError(fmt::format("{}: cannot be replaced: {}", path, error.message()));
  if (std::mismatch(folder.begin(), folder.end(), here.begin(), here.end()).first == folder.end())
    throw SystemError(
        fmt::format("{}: the folder is replaced as a whole, and this command runs inside it; name another folder, or "
                    "run the command from outside",
                    path));
}

/// The new folder under its temporary name. Without `commit` it is removed.
class NewFolder {
 public:
  NewFolder(const std::string& target, const std::string& path) : path_(path), target_(target), temporary_(target) {
    if (mkdir(temporary_.text().c_str(), 0777) != 0) fail_at(path_, "write a folder there", errno);
    descriptor_ = open(temporary_.text().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor_ >= 0) lock_as_pending(descriptor_);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder() {
    std::error_code ignored;
    fs::remove_all(temporary_.text(), ignored);  // after a commit: the old folder, or nothing
    if (descriptor_ >= 0) close(descriptor_);
  }

  void write(const std::string& name, std::string_view bytes) {
    pending_.push_back(PendingPath::within(temporary_, name));
    const std::string& file = pending_.back().text();
    const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) fail_at(in_folder(name), "write", errno);
    int error = write_bytes(descriptor, bytes);
    if (error == 0 && fsync(descriptor) != 0 && errno != EINVAL && errno != ENOTSUP) error = errno;
    close(descriptor);
    if (error != 0) fail_at(in_folder(name), "write", error);
  }

  /// Takes over what the old folder has and this one lacks, by links to the same files: the old folder stays as it is.
  void keep_others(const std::vector<std::string_view>& outdated) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(target_, error)) {
      const std::string name = entry.path().filename().string();
      const fs::path to = fs::path(temporary_.text()) / name;
      if (fs::exists(to) || std::ranges::find(outdated, name) != outdated.end()) continue;
      fs::copy(entry.path(), to,
               fs::copy_options::recursive | fs::copy_options::create_hard_links | fs::copy_options::copy_symlinks,
               error);
      if (error)
        throw SystemError(fmt::format("{}: cannot be kept in the new folder: {}; name a folder that does not exist yet",
                                      in_folder(name), error.message()));
    }
    if (error) throw SystemError(fmt::format("{}: cannot be listed: {}", path_, error.message()));
    struct stat old {};
    if (stat(target_.c_str(), &old) == 0) (void)!fchmod(descriptor_, old.st_mode & 07777);  // best effort
  }

  void commit() {
    flush_directory(temporary_.text());
    pending_.clear();  // from here on a signal must not touch the files: they may already stand in their place
    const char *from = temporary_.text().c_str(), *to = target_.c_str();
    std::error_code error;
    if (!fs::exists(target_, error)) {
      if (rename(from, to) != 0) fail_at(path_, "rename the finished folder", errno);
    } else if (!exchange(from, to)) {
      replace_in_two_steps(from, to);
    }
    flush_directory(directory_of(target_));
  }

 private:
  std::string in_folder(const std::string& name) const { return (fs::path(path_) / name).string(); }

  /// False where the system or the file system has no such step.
  bool exchange(const char* from, const char* to) const {
#ifdef RENAME_EXCHANGE
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) == 0) return true;
    if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP) fail_at(path_, "rename the finished folder", errno);
#else
    (void)from, (void)to;
#endif
    return false;
  }

  void replace_in_two_steps(const char* from, const char* to) const {
    const std::string aside = target_ + ".krohn-old";
    if (rename(to, aside.c_str()) != 0) fail_at(path_, "rename the old folder to " + aside, errno);
    if (rename(from, to) != 0) {
      const int why = errno;
      (void)!rename(aside.c_str(), to);
      fail_at(path_, "rename the finished folder", why);
    }
    std::error_code ignored;
    fs::remove_all(aside, ignored);
  }

  std::string path_, target_;
  PendingPath temporary_;
  std::vector<PendingPath> pending_;
  int descriptor_ = -1;
};

}  // namespace

void write_folder(const std::string& path, Files files, const std::vector<std::string_view>& outdated) {
  std::string target = path;
  while (target.size() > 1 && target.ends_with('/')) target.pop_back();
  if (target.empty()) throw SystemError("the name of the folder to write is empty");
  target = resolve_links(target);
  require_replaceable(target, path);
  make_folder(directory_of(target));
  NewFolder folder(target, path);
  for (const auto& [name, bytes] : files) folder.write(name, bytes);
  std::error_code error;
  if (fs::exists(target, error)) folder.keep_others(outdated);
  folder.commit();
}

}  // namespace krohn
