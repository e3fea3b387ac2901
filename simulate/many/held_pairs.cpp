#include "krohn/simulate/many/held_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

namespace krohn {
namespace {

/// One that is not there is a limit of the disk where the disk is needed, and nothing where it is not.
std::string folder_of_system() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  const char* const named = std::getenv("TMPDIR");
  if (error) return named != nullptr ? named : "/tmp";
  return folder.string();
}

}  // namespace

std::string RoomLimit::text(std::size_t rank, std::uint64_t most, std::uint64_t most_on_disk,
                            const std::string& folder) const {
  if (kind == kMemory) return fmt::format("{} bytes of pairs on a rank", most);
  if (error == 0) return fmt::format("{} bytes of disk on a rank", most_on_disk);
  return fmt::format("the disk of rank {} ({}: {})", rank, folder.empty() ? "temporary files" : folder,
                     DiskFull::said_of(static_cast<int>(error)));
}

HeldPairs::HeldPairs(std::size_t width, std::uint64_t most, const std::string& folder, std::uint64_t most_on_disk)
    : most_(most),
      space_(folder.empty() ? folder_of_system() : folder, most_on_disk),
      owned_(width),
      now_(width),
      next_(width),
      keys_(1) {}

void HeldPairs::start_level() {
  std::swap(now_, next_);
  next_.clear();
}

void HeldPairs::keep_keys(std::uint64_t first, std::span<const std::uint64_t> keys) {
  const auto high = [](std::uint64_t key) { return static_cast<std::uint32_t>(key >> 32); };
  std::vector<std::uint32_t> low;
  for (std::size_t i = 0; i < keys.size();) {
    const std::uint64_t begin = first + i;
    const std::uint32_t tag = high(keys[i]);
    low.clear();
    for (; i < keys.size() && high(keys[i]) == tag; ++i) low.push_back(static_cast<std::uint32_t>(keys[i]));
    keys_.append(begin, low, tag);
  }
}

void HeldPairs::take_up(const PairPiece& piece, const PairSearchStand& stand) {
  keep_keys(piece.first, piece.keys);
  const std::size_t width = now_.width();
  const auto take = [&](NumberedPieces& pieces, std::uint64_t begin, std::uint64_t end) {
    begin = std::max(begin, piece.first);
    end = std::min(end, piece.first + piece.keys.size());
    if (begin < end)
      pieces.append(begin, std::span(piece.records).subspan((begin - piece.first) * width, (end - begin) * width));
  };
  take(now_, stand.expanded, stand.level_end);
  take(next_, stand.level_end, stand.pairs);
}

void HeldPairs::sort() {
  keys_.sort();
  now_.sort();
  next_.sort();
}

std::optional<std::uint64_t> HeldPairs::key(std::uint64_t pair) {
  std::optional<std::uint64_t> key;
  keys_.overlapping(pair, pair + 1, [&](std::uint64_t, NumberedPieces::Words low, std::uint32_t high) {
    key = std::uint64_t{high} << 32 | low[0];
  });
  return key;
}

RoomLimit HeldPairs::make_room(std::uint64_t committed) {
  if (space_.most() == 0) {
    if (owned_.bytes() + piece_bytes() > most_) return {RoomLimit::kMemory};
    return {};
  }
  try {
    for (NumberedPieces* pieces : {&now_, &next_, &keys_})
      if (pieces->bytes() > most_ / 8) pieces->spill(space_);
    owned_.make_room(most_ - std::min(most_, piece_bytes()), space_);
  } catch (const DiskFull& full) {
    return {RoomLimit::kDisk, static_cast<std::uint64_t>(full.error())};
  }
  if (space_.used() + committed > space_.most()) return {RoomLimit::kDisk};
  // What cannot go to the disk has to leave the search something to work with.
  if (owned_.run_bytes() > most_ / 2) return {RoomLimit::kMemory};
  return {};
}

}  // namespace krohn
