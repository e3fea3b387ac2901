// simulate/prove/orders/length_search.h — all words length by length in an order that composes letters: what fails
// first is a shortest word (MATH.md §5, "Orders").
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "krohn/simulate/prove/orders/map_sets.h"

namespace krohn {

/// How the states after t letters of a block are made: by the maps of a set, from the states after `base(t)` letters.
class BlockPlan {
 public:
  virtual ~BlockPlan() = default;
  virtual std::uint64_t base(std::uint64_t t) const = 0;
  /// The set stays until the next call.
  virtual const MapSet& maps(std::uint64_t t) = 0;
  /// Whether the states after `earlier` letters are, or lie on the way to, the base of t or of something after t.
  virtual bool needs(std::uint64_t earlier, std::uint64_t t) const = 0;
};

/// Of the order's kind. `maps` and `totals` must outlive it.
std::unique_ptr<BlockPlan> make_block_plan(Order::Kind kind, MapSets& maps, Totals& totals);

class LengthSearch {
 public:
  /// Blocks of `block` letters.
  LengthSearch(OrderSystem& system, MapSets& maps, SearchBudget& budget, BlockPlan& plan, std::uint64_t block);

  /// Until a word fails, no block starts from a new state, or a limit is met.
  void run();

  const std::optional<Word>& failing() const { return failing_; }     ///< a shortest one
  const std::optional<std::string>& limit() const { return limit_; }  ///< what stopped the search
  std::uint64_t right_up_to() const { return right_up_to_; }  ///< all words of at most so many letters are right
  std::uint64_t starts() const { return starts_.size(); }     ///< states at the beginnings of blocks

 private:
  /// All states after some number of letters of the block, each with the state before it and the map between.
  struct Stage {
    struct From {
      std::uint32_t state;
      MadeMap map;
    };
    Stage(std::size_t words, std::uint64_t length, std::uint64_t base) : states(words), length(length), base(base) {}
    RecordSet states;
    std::vector<From> from;
    std::uint64_t length, base;
  };

  void search();
  bool add_stage(std::uint64_t t);
  bool start_next_block();
  Word word_of(const Stage& last, std::uint32_t state) const;

  OrderSystem& system_;
  MapSets& maps_;
  SearchBudget& budget_;
  BlockPlan& plan_;
  std::uint64_t block_;
  std::vector<std::uint32_t> record_;
  RecordSet starts_;
  std::map<std::uint64_t, Stage> stages_;  ///< by length
  std::vector<Word> words_before_;         ///< how each state of stage 0 was reached; empty in the first block
  std::optional<Word> failing_;
  std::optional<std::string> limit_;
  std::uint64_t right_up_to_ = 0;
};

}  // namespace krohn
