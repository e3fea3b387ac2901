// simulate/many/spill_file.h — files for what memory does not hold. They have no name, so that they go with their
// process, however that ends.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "krohn/groups/error.h"

namespace krohn {

/// The disk takes no more. What was written before can still be read.
class DiskFull : public LimitError {
 public:
  /// What the system says; 0: nothing, the limit of a DiskSpace is met.
  explicit DiskFull(int error) : LimitError(said_of(error)), error_(error) {}
  int error() const { return error_; }
  static std::string said_of(int error);

 private:
  int error_;
};

/// Where a rank's files go, and how much it may write there.
class DiskSpace {
 public:
  /// `most` 0: the disk is not used.
  DiskSpace(std::string folder, std::uint64_t most) : folder_(std::move(folder)), most_(most) {}

  const std::string& folder() const { return folder_; }
  std::uint64_t most() const { return most_; }
  std::uint64_t used() const { return used_; }
  /// Throws DiskFull, and takes nothing, where there would be more than the most.
  void take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes) { used_ -= bytes; }

 private:
  std::string folder_;
  std::uint64_t most_, used_ = 0;
};

/// Words that were written together, and a sum of them: what is read is what was written, or it is said.
struct SpilledWords {
  std::uint64_t offset = 0, sum = 0;
  std::uint32_t words = 0;
};

class SpillFile {
 public:
  /// In the space's folder. The space outlives it. Throws DiskFull.
  explicit SpillFile(DiskSpace& space);
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  /// At the end. Throws DiskFull, and then the file is as it was.
  SpilledWords append(std::span<const std::uint32_t> words);
  /// Precondition: place.words long. Throws SystemError when the disk gives something else than it was given.
  void read(const SpilledWords& place, std::span<std::uint32_t> words) const;
  /// Forgets everything.
  void clear();

 private:
  DiskSpace& space_;
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;
};

}  // namespace krohn
