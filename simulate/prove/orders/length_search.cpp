#include "krohn/simulate/prove/orders/length_search.h"

#include <bit>
#include <utility>

#include "krohn/groups/error.h"

namespace krohn {
namespace {

/// H_t is the total of the lowest bit applied to the state before it.
class ScanPlan final : public BlockPlan {
 public:
  explicit ScanPlan(Totals& totals) : totals_(totals) {}
  std::uint64_t base(std::uint64_t t) const override { return t & (t - 1); }
  const MapSet& maps(std::uint64_t t) override { return totals_[static_cast<std::size_t>(std::countr_zero(t))]; }
  /// Whether it is t without some of its lowest bits.
  bool needs(std::uint64_t earlier, std::uint64_t t) const override {
    return earlier == 0 || (t >> std::countr_zero(earlier)) == (earlier >> std::countr_zero(earlier));
  }

 private:
  Totals& totals_;
};

class ChunkPlan final : public BlockPlan {
 public:
  explicit ChunkPlan(MapSets& maps) : maps_(maps) {}
  std::uint64_t base(std::uint64_t) const override { return 0; }
  const MapSet& maps(std::uint64_t t) override {
    if (prefixes_.empty()) prefixes_.push_back(maps_.letters());
    while (prefixes_.size() < t) prefixes_.push_back(maps_.compose(maps_.letters(), prefixes_.back()));
    return prefixes_[t - 1];
  }
  bool needs(std::uint64_t earlier, std::uint64_t) const override { return earlier == 0; }

 private:
  MapSets& maps_;
  std::vector<MapSet> prefixes_;
};

/// Letter t after the totals of t's bits, the lowest first, applied to the state at the last position of the first
/// half.
class DoublingPlan final : public BlockPlan {
 public:
  DoublingPlan(MapSets& maps, Totals& totals) : maps_(maps), totals_(totals) {}
  std::uint64_t base(std::uint64_t t) const override { return std::bit_floor(t) - 1; }
  const MapSet& maps(std::uint64_t t) override {
    now_ = maps_.letters();
    for (std::size_t k = 0; t >> (k + 1) != 0; ++k)
      if ((t >> k & 1U) != 0) now_ = maps_.compose(now_, totals_[k]);
    return now_;
  }
  bool needs(std::uint64_t earlier, std::uint64_t) const override { return std::has_single_bit(earlier + 1); }

 private:
  MapSets& maps_;
  Totals& totals_;
  MapSet now_;
};

}  // namespace

std::unique_ptr<BlockPlan> make_block_plan(Order::Kind kind, MapSets& maps, Totals& totals) {
  switch (kind) {
    case Order::Kind::kChunked:
      return std::make_unique<ChunkPlan>(maps);
    case Order::Kind::kScan:
      return std::make_unique<ScanPlan>(totals);
    default:
      return std::make_unique<DoublingPlan>(maps, totals);
  }
}

LengthSearch::LengthSearch(OrderSystem& system, MapSets& maps, SearchBudget& budget, BlockPlan& plan,
                           std::uint64_t block)
    : system_(system),
      maps_(maps),
      budget_(budget),
      plan_(plan),
      block_(block),
      record_(system.state_words()),
      starts_(system.state_words()) {}

void LengthSearch::run() {
  try {
    search();
  } catch (const LimitError& error) {
    limit_ = error.what();
  }
}

void LengthSearch::search() {
  Stage& first = stages_.emplace(0, Stage(system_.state_words(), 0, 0)).first->second;
  system_.start(record_.data());
  first.states.insert(record_);
  first.from.push_back({});
  starts_.insert(record_);
  for (std::uint64_t done = 0;; done += block_) {
    for (std::uint64_t t = 1; t <= block_; ++t) {
      std::erase_if(stages_, [&](const auto& stage) { return !plan_.needs(stage.first, t); });
      if (!add_stage(t)) return;
      right_up_to_ = done + t;
    }
    if (!start_next_block()) return;
  }
}

/// All states after t letters of the block; false when one is wrong.
bool LengthSearch::add_stage(std::uint64_t t) {
  const MapSet& maps = plan_.maps(t);
  const Stage& base = stages_.at(plan_.base(t));
  Stage stage(system_.state_words(), t, base.length);
  for (RecordSet::Index state = 0; state < base.states.size(); ++state)
    for (const MadeMap& map : maps) {
      budget_.spend(maps_.bytes() + stage.states.bytes() + starts_.bytes());
      system_.apply(maps_.record(map), base.states[state].data(), record_.data());
      if (!stage.states.insert(record_).fresh) continue;
      stage.from.push_back({state, map});
      if (system_.is_right(record_.data())) continue;
      failing_ = word_of(stage, stage.states.size() - 1);
      return false;
    }
  stages_.insert_or_assign(t, std::move(stage));
  return true;
}

/// Keeps the states that no earlier block started from; false when there are none.
bool LengthSearch::start_next_block() {
  const Stage& end = stages_.at(block_);
  Stage next(system_.state_words(), 0, 0);
  std::vector<Word> words;
  for (RecordSet::Index state = 0; state < end.states.size(); ++state) {
    if (!starts_.insert(end.states[state]).fresh) continue;
    next.states.insert(end.states[state]);
    next.from.push_back({});
    words.push_back(word_of(end, state));
  }
  words_before_ = std::move(words);
  stages_.clear();
  const bool any = next.states.size() > 0;
  stages_.emplace(0, std::move(next));
  return any;
}

Word LengthSearch::word_of(const Stage& last, std::uint32_t state) const {
  std::vector<MadeMap> maps;
  for (const Stage* stage = &last; stage->length != 0; stage = &stages_.at(stage->base)) {
    maps.push_back(stage->from[state].map);
    state = stage->from[state].state;
  }
  Word word = words_before_.empty() ? Word{} : words_before_[state];
  for (auto map = maps.rbegin(); map != maps.rend(); ++map) maps_.append_word(*map, word);
  return word;
}

}  // namespace krohn
