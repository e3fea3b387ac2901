// groups/atomic_file.h — files that are whole or absent: written under a temporary name, then renamed.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "krohn/groups/pending_path.h"

namespace krohn {

/// Writes `bytes` to a temporary file beside `path`, flushes it to the disk and renames it over `path`. On any failure
/// (full disk, no permission, interrupt) the temporary file is removed, an old file at `path` stays as it was, and
/// SystemError says why. `path` "-" writes to standard output; devices and pipes are written directly.
void write_file(const std::string& path, std::string_view bytes);

/// Throws the SystemError that write_file would end in, as far as can be told before there is anything to write: long
/// work begins with it. Devices and pipes are not touched.
void require_writable(const std::string& path);

/// Makes the folder and those above it, where they do not exist. Throws SystemError.
void make_folder(const std::string& path);

inline constexpr std::size_t kMostBytes = std::size_t{4} << 30;
inline constexpr std::size_t kMostTextBytes = std::size_t{512} << 20;

/// The whole file ("-": standard input). Throws SystemError when it cannot be read, LimitError past `max_bytes`.
/// `look` is given what there is after each piece and may throw: what is endless or enormous and no such file at all is
/// then refused by its beginning.
std::string read_file(const std::string& path, std::size_t max_bytes = kMostBytes,
                      const std::function<void(std::string_view)>& look = {});

/// The same for text. Throws InputError for what begins as a file of another kind, and at the first zero byte.
std::string read_text_file(const std::string& path, std::size_t max_bytes = kMostTextBytes);

/// What a file that begins so is, for a message: "a ZIP archive, such as PyTorch's .pt files". Empty when the beginning
/// does not tell.
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

}  // namespace krohn
