#include "krohn/groups/atomic_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "krohn/groups/atomic_file.h"
#include "krohn/groups/error.h"
#include "krohn/groups/pending_path.h"

namespace krohn {

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
    int error = 0;
    while (error == 0 && !bytes.empty()) {
      const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
      if (count >= 0)
        bytes.remove_prefix(static_cast<std::size_t>(count));
      else if (errno != EINTR)
        error = errno;
    }
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
