// groups/pending_path.h — the temporary names under which files and folders are written, and what becomes of them when
// the process that wrote them is stopped or killed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace krohn {

/// Throws SystemError: "PATH: cannot ACTION: " and what the system says of `error`.
[[noreturn]] void fail_at(std::string_view path, std::string_view action, int error);

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

/// A hidden name beside `target` that `remove_pending_files` (atomic_file.h) knows while this lives. The first one in a
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

}  // namespace krohn
