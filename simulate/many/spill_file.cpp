#include "krohn/simulate/many/spill_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "krohn/groups/record_set.h"

namespace krohn {
std::string DiskFull::said_of(int error) { return error == 0 ? "the limit of the disk is met" : std::strerror(error); }

void DiskSpace::take(std::uint64_t bytes) {
  if (bytes > most_ - used_) throw DiskFull(0);
  used_ += bytes;
}

SpillFile::SpillFile(DiskSpace& space) : space_(space) {
  std::string path = space.folder() + "/.krohn-pairs-XXXXXX";
  descriptor_ = ::mkostemp(path.data(), O_CLOEXEC);
  if (descriptor_ < 0) throw DiskFull(errno);
  ::unlink(path.c_str());
}

SpillFile::~SpillFile() {
  space_.give_back(bytes_);
  ::close(descriptor_);
}

SpilledWords SpillFile::append(std::span<const std::uint32_t> words) {
  const SpilledWords place{bytes_, RecordSet::hash(words), static_cast<std::uint32_t>(words.size())};
  const std::uint64_t bytes = words.size_bytes();
  space_.take(bytes);
  const auto* const from = reinterpret_cast<const char*>(words.data());
  for (std::uint64_t done = 0; done < bytes;) {
    const ssize_t count = ::pwrite(descriptor_, from + done, bytes - done, static_cast<off_t>(place.offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int error = errno;
      space_.give_back(bytes);
      throw DiskFull(error);
    }
    done += static_cast<std::uint64_t>(count);
  }
  bytes_ += bytes;
  return place;
}

void SpillFile::read(const SpilledWords& place, std::span<std::uint32_t> words) const {
  auto* const to = reinterpret_cast<char*>(words.data());
  std::uint64_t done = 0;
  while (done < words.size_bytes()) {
    const ssize_t count =
        ::pread(descriptor_, to + done, words.size_bytes() - done, static_cast<off_t>(place.offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<std::uint64_t>(count);
  }
  if (done < words.size_bytes() || RecordSet::hash(words) != place.sum)
    throw SystemError(space_.folder() +
                      ": the disk does not give back what was written to it; take a folder on another one");
}

void SpillFile::clear() {
  space_.give_back(bytes_);
  bytes_ = 0;
  (void)!::ftruncate(descriptor_, 0);  // best effort: what follows is written over it
}

}  // namespace krohn
