// groups/base/atomic_file.h — files and folders that are written whole or not at all.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace krohn {

// The temporary names under which files and folders are written, and what becomes of them when
// the process that wrote them is stopped or killed.

/// Throws SystemError: "PATH: cannot ACTION: " and what the system says of `error`.
[[noreturn]] void fail_at(std::string_view path, std::string_view action, int error);
/// Writes all of them to an open file. Returns 0, or the number of the error that stopped it.
int write_bytes(int descriptor, std::string_view bytes);

/// The folder that `path` lies in: "." for a bare name.
std::string directory_of(const std::string& path);

/// `path` with a final chain of links resolved, so that a rename replaces what the link points to and not the link.
std::string resolve_links(const std::string& path);

/// A rename survives a crash only when its directory has reached the disk too. Some file systems cannot flush a
/// directory; what was renamed is safe by then, so that is not an error.
void flush_directory(const std::string& directory);

/// Locks what is written under a temporary name, for as long as the descriptor is open: other krohns see by it that its
/// writer lives, on whatever machine. File systems without locks go without.
void lock_as_pending(int descriptor);

/// A hidden name beside `target` that `remove_pending_files` knows while this lives. The first one in a
/// directory also removes what killed processes left there: names of this kind whose process is gone and whose lock is
/// free.
class PendingPath {
 public:
  PendingPath() = default;  ///< no name
  explicit PendingPath(const std::string& target);
  /// A name in a folder that is itself pending, so that a signal empties the folder before it removes it.
  static PendingPath within(const PendingPath& folder, const std::string& name);
  PendingPath(PendingPath&& other) noexcept { swap(other); }
  PendingPath& operator=(PendingPath&& other) noexcept {
    swap(other);
    return *this;
  }
  /// Forgets the name. Removes nothing.
  ~PendingPath();

  const std::string& text() const { return text_; }

 private:
  static constexpr std::size_t kNoSlot = 256;
  static std::size_t claim_slot(const std::string& path);
  void swap(PendingPath& other) noexcept {
    text_.swap(other.text_);
    std::swap(slot_, other.slot_);
  }

  std::string text_;
  std::size_t slot_ = kNoSlot;
};

/// Writes `bytes` to a temporary file beside `path`, flushes it to the disk and renames it over `path`. On any failure
/// (full disk, no permission, interrupt) the temporary file is removed, an old file at `path` stays as it was, and
/// SystemError says why. `path` "-" writes to standard output; devices and pipes are written directly.
void write_file(const std::string& path, std::string_view bytes);

/// Throws the SystemError that write_file would end in, as far as can be told before there is anything to write: long
/// work begins with it. Devices and pipes are not touched.
void require_writable(const std::string& path);

/// Makes the folder and those above it, where they do not exist. Throws SystemError.
void make_folder(const std::string& path);

inline constexpr std::size_t kMaxBytes = std::size_t{4} << 30;
inline constexpr std::size_t kMaxTextBytes = std::size_t{512} << 20;

/// The whole file ("-": standard input). Throws SystemError when it cannot be read, LimitError past `max_bytes`.
/// `look` is given what there is after each piece and may throw: what is endless or enormous and no such file at all is
/// then refused by its beginning.
std::string read_file(const std::string& path, std::size_t max_bytes = kMaxBytes,
                      const std::function<void(std::string_view)>& look = {});

/// The same for text. Throws InputError for what begins as a file of another kind, and at the first zero byte.
std::string read_text_file(const std::string& path, std::size_t max_bytes = kMaxTextBytes);

/// The kind of a file with this beginning, for a message: "a ZIP archive, such as PyTorch's .pt files". Empty when the
/// beginning does not tell.
std::string kind_of_binary(std::string_view beginning);

/// A file written piece by piece that appears at `path` only when `commit` returns. Without a commit nothing is left.
///     AtomicFile file("words.jsonl");
///     while (…) file.write(line);
///     file.commit();
class AtomicFile {
 public:
  /// Opens a temporary file beside `path` with the permissions of the file that it will replace, if there is one.
  /// A symbolic link is followed: its target is replaced, the link stays. Throws SystemError.
  explicit AtomicFile(const std::string& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  /// Removes the temporary file unless `commit` succeeded.
  ~AtomicFile();

  /// Appends. Collects small pieces into larger writes. Throws SystemError.
  void write(std::string_view bytes);
  /// Flushes to the disk and renames. Call once, last. Throws SystemError.
  void commit();

 private:
  void write_through(std::string_view bytes);
  void remove_temporary();

  std::string path_;       ///< as the user wrote it, for messages
  std::string target_;     ///< with links resolved
  PendingPath temporary_;  ///< without a name when `path` is written directly
  std::string buffer_;
  int descriptor_ = -1;
};

/// Removes the temporary files and folders of whatever is being written. Async-signal-safe: the command's handlers of
/// SIGINT and SIGTERM call it before they end the process, so that an interrupt leaves nothing half-written.
void remove_pending_files() noexcept;

// Folders that are replaced whole or not at all: files that belong together, such as a config
// and the weights that it describes, never stand beside a stranger's.

/// Makes `path` a folder with these files (names and contents). They are written into a hidden folder beside it,
/// flushed to the disk, and the two folders change places in one step. Whenever the process is killed, `path` is the
/// old folder or the new one. Of an old folder the files named in `outdated` go, those that are written anew are
/// replaced, and everything else is kept. A symbolic link is followed; folders above `path` are made. File systems that
/// cannot exchange two folders have the old one renamed to PATH.krohn-old and the new one to PATH: a kill between the
/// two leaves both, whole. Throws SystemError, also when `path` is or contains the folder in which this process works,
/// which would be left in a folder without a name.
void write_folder(const std::string& path, std::span<const std::pair<std::string, std::string>> files,
                  const std::vector<std::string_view>& outdated = {});

}  // namespace krohn
