#include "krohn/simulate/prove/orders/chunk_search.h"

#include "krohn/groups/error.h"

namespace krohn {

ChunkSearch::ChunkSearch(OrderSystem& system, Letter letters, std::uint32_t chunk, SearchBudget& budget)
    : system_(system), letters_(letters), chunk_(chunk), budget_(budget), starts_(system.state_words()) {}

void ChunkSearch::run() {
  try {
    search();
  } catch (const LimitError& error) {
    limit_ = error.what();
  }
}

/// Chunk by chunk, the starts that are new with it; within it length by length.
void ChunkSearch::search() {
  std::vector<std::uint32_t> record(system_.state_words());
  system_.start(record.data());
  starts_.insert(record);
  from_.emplace_back(0, Word{});
  std::uint64_t before = 0;
  for (RecordSet::Index begin = 0; begin < starts_.size(); before += chunk_) {
    const RecordSet::Index end = starts_.size();
    for (std::uint32_t length = 1; length <= chunk_; ++length) {
      for (RecordSet::Index start = begin; start < end; ++start)
        if (!read_words(start, length)) return;
      right_up_to_ = before + length;
    }
    begin = end;
  }
}

/// All words of one length at the beginning of a chunk; whole chunks lead to new starts. False when one is wrong.
bool ChunkSearch::read_words(RecordSet::Index start, std::uint32_t length) {
  std::vector<std::uint32_t> record(system_.state_words());
  Word word(length, 0);
  for (;;) {
    budget_.spend(starts_.bytes() + from_.size() * (sizeof(from_[0]) + chunk_ * sizeof(Letter)));
    system_.read_chunk(starts_[start].data(), word, record.data());
    if (!system_.is_right(record.data())) {
      failing_ = whole_word(start, word);
      return false;
    }
    if (length == chunk_ && starts_.insert(record).fresh) from_.emplace_back(start, word);
    std::size_t last = word.size();
    while (last > 0 && ++word[last - 1] == letters_) word[--last] = 0;
    if (last == 0) return true;
  }
}

Word ChunkSearch::whole_word(RecordSet::Index start, const Word& last) const {
  std::vector<const Word*> chunks{&last};
  for (; start != 0; start = from_[start].first) chunks.push_back(&from_[start].second);
  Word word;
  for (auto chunk = chunks.rbegin(); chunk != chunks.rend(); ++chunk)
    word.insert(word.end(), (*chunk)->begin(), (*chunk)->end());
  return word;
}

}  // namespace krohn
