// simulate/prove/orders/chunk_search.h — chunks in the UT form do not compose: every word of a chunk is tried, length
// by length, from every state that a chunk can start from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "krohn/simulate/prove/orders/map_sets.h"

namespace krohn {

class ChunkSearch {
 public:
  ChunkSearch(OrderSystem& system, Letter letters, std::uint32_t chunk, SearchBudget& budget);

  /// Until a word fails, no chunk starts from a new state, or a limit is met. O(starts · letters^chunk · chunk).
  void run();

  const std::optional<Word>& failing() const { return failing_; }     ///< a shortest one
  const std::optional<std::string>& limit() const { return limit_; }  ///< what stopped the search
  std::uint64_t right_up_to() const { return right_up_to_; }  ///< all words of at most so many letters are right
  std::uint64_t starts() const { return starts_.size(); }     ///< states at the beginnings of chunks

 private:
  void search();
  bool read_words(RecordSet::Index start, std::uint32_t length);
  Word whole_word(RecordSet::Index start, const Word& last) const;

  OrderSystem& system_;
  Letter letters_;
  std::uint32_t chunk_;
  SearchBudget& budget_;
  RecordSet starts_;
  std::vector<std::pair<RecordSet::Index, Word>> from_;  ///< per start: the start and the chunk before it
  std::optional<Word> failing_;
  std::optional<std::string> limit_;
  std::uint64_t right_up_to_ = 0;
};

}  // namespace krohn
