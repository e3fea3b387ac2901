// simulate/many/pair_pieces.h — the pairs, or what is known of them, that a rank holds of a numbering that all share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "krohn/simulate/many/spill_file.h"

namespace krohn {

/// Ranges of numbers, and `width` words for each number in them. The words lie in chunks, which can go to the disk.
class NumberedPieces {
 public:
  using Words = std::span<const std::uint32_t>;

  explicit NumberedPieces(std::size_t width) : width_(width) {}
  std::size_t width() const { return width_; }

  /// What follows in number and has the same `tag` as what came last is one range with it.
  void append(std::uint64_t first, Words words, std::uint32_t tag = 0) {
    const std::uint64_t count = words.size() / width_;
    if (count == 0) return;
    if (!pieces_.empty() && pieces_.back().tag == tag && pieces_.back().first + pieces_.back().count == first &&
        pieces_.back().offset + pieces_.back().count == size_)
      pieces_.back().count += count;
    else
      pieces_.push_back({first, count, size_, tag});
    size_ += count;
    while (!words.empty()) {
      if (chunks_.size() == whole_) chunks_.emplace_back();
      std::vector<std::uint32_t>& tail = chunks_.back().words;
      const std::size_t taken = std::min(words.size(), kChunk * width_ - tail.size());
      tail.insert(tail.end(), words.begin(), words.begin() + static_cast<std::ptrdiff_t>(taken));
      words = words.subspan(taken);
      if (tail.size() == kChunk * width_) ++whole_;
    }
  }

  /// After pieces came in any order: makes `overlapping` work.
  void sort() { std::ranges::sort(pieces_, {}, &Piece::first); }

  void clear() {
    pieces_.clear();
    chunks_.clear();
    size_ = whole_ = spilled_ = 0;
    read_ = UINT64_MAX;
    if (file_) file_->clear();
  }

  /// Calls `take(first, words, tag)` for what is held of [begin, end), in order.
  template <class Take>
  void overlapping(std::uint64_t begin, std::uint64_t end, Take&& take) {
    auto piece = std::ranges::upper_bound(pieces_, begin, {}, &Piece::first);
    if (piece != pieces_.begin()) --piece;
    for (; piece != pieces_.end() && piece->first < end; ++piece) {
      std::uint64_t from = std::max(begin, piece->first);
      const std::uint64_t to = std::min(end, piece->first + piece->count);
      while (from < to) {
        const std::uint64_t at = piece->offset + from - piece->first;
        const std::uint64_t here = std::min(to - from, kChunk - at % kChunk);
        take(from, chunk(at / kChunk).subspan(at % kChunk * width_, here * width_), piece->tag);
        from += here;
      }
    }
  }

  /// In memory.
  std::uint64_t bytes() const {
    return pieces_.capacity() * sizeof(Piece) + chunks_.capacity() * sizeof(Chunk) +
           (chunks_.size() - spilled_) * kChunk * width_ * sizeof(std::uint32_t);
  }

  /// Moves every whole chunk to the disk. Throws DiskFull; what did not go there stays.
  void spill(DiskSpace& space) {
    if (spilled_ == whole_) return;
    if (!file_) file_ = std::make_unique<SpillFile>(space);
    for (; spilled_ < whole_; ++spilled_) {
      Chunk& chunk = chunks_[spilled_];
      chunk.place = file_->append(chunk.words);
      chunk.words = {};
    }
  }

 private:
  /// Numbers in a chunk.
  static constexpr std::uint64_t kChunk = 1024;
  struct Piece {
    std::uint64_t first = 0, count = 0, offset = 0;
    std::uint32_t tag = 0;
  };
  struct Chunk {
    std::vector<std::uint32_t> words;
    SpilledWords place;
  };

  Words chunk(std::uint64_t index) {
    if (index >= spilled_) return chunks_[index].words;
    if (read_ != index) {
      buffer_.resize(chunks_[index].place.words);
      read_ = UINT64_MAX;
      file_->read(chunks_[index].place, buffer_);
      read_ = index;
    }
    return buffer_;
  }

  std::size_t width_;
  std::vector<Piece> pieces_;
  std::vector<Chunk> chunks_;
  std::uint64_t size_ = 0, whole_ = 0, spilled_ = 0;  ///< numbers held; chunks that are whole, and of them on the disk
  std::unique_ptr<SpillFile> file_;
  std::vector<std::uint32_t> buffer_;
  std::uint64_t read_ = UINT64_MAX;  ///< the chunk in the buffer
};

}  // namespace krohn
