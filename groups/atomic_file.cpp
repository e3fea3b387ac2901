#include "krohn/groups/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <filesystem>

#include <array>
#include <cerrno>
#include <cstdint>

#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"

namespace krohn {

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
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_at(path_, "write", errno);
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
    return "a ZIP archive, as PyTorch's .pt and NumPy's .npz files are; krohn reads .safetensors, which "
           "safetensors.torch.save_file writes";
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

}  // namespace krohn
