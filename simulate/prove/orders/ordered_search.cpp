#include "krohn/simulate/prove/orders/ordered_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <utility>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/record_set.h"
#include "krohn/groups/base/time_limit.h"

namespace krohn {
namespace {

// The sets of maps that words of one shape make in an order, each map with a word
// that makes it.

/// Counts what a search does, for its limits and its progress.
class SearchBudget {
  static constexpr std::uint64_t kPerReport = 1 << 14,
                                 kPerLook = 16;  ///< at the clock: a product may take milliseconds

 public:
  explicit SearchBudget(const CertifyOptions& options) : options_(options) {}

  /// The next phase may do as much again.
  void renew() { spent_ = 0; }
  std::uint64_t left() const { return options_.max_pairs - spent_; }
  /// Before one composition or application, with all bytes held. Throws LimitError, naming what was spent.
  void spend(std::uint64_t bytes) {
    require(1);
    if (bytes > options_.max_bytes) throw LimitError(fmt::format("{} bytes of maps and states", options_.max_bytes));
    ++spent_;
    ++total_;
    if (total_ % kPerLook == 0) TimeLimit::check();
    if (total_ % kPerReport == 0 && options_.progress) options_.progress(total_);
  }
  /// Before many: throws at once when they are more than what is left.
  void require(std::uint64_t count) const {
    if (count > left()) throw LimitError(fmt::format("{} products of maps and states", options_.max_pairs));
  }
  std::uint64_t total() const { return total_; }

 private:
  const CertifyOptions& options_;
  std::uint64_t spent_ = 0, total_ = 0;
};

/// The origin of a word: two parts, or one letter.
struct Part {
  std::uint32_t later, earlier;
};
constexpr std::uint32_t kLetter = UINT32_MAX;   ///< as `later`: `earlier` is a letter
constexpr std::uint32_t kNothing = UINT32_MAX;  ///< a part without letters

void append_word(const std::vector<Part>& parts, std::uint32_t part, Word& word) {
  std::vector<std::uint32_t> open{part};
  while (!open.empty()) {
    const std::uint32_t top = open.back();
    open.pop_back();
    if (top == kNothing) continue;
    if (parts[top].later == kLetter) {
      word.push_back(parts[top].earlier);
    } else {
      open.push_back(parts[top].later);  // read after the earlier one
      open.push_back(parts[top].earlier);
    }
  }
}

/// One map of a set: its record, and how its word is put together.
struct MadeMap {
  RecordSet::Index record, word;
  friend bool operator==(const MadeMap& a, const MadeMap& b) { return a.record == b.record; }
};

/// Maps made by the same shape of composition; each record once, in order of arrival.
using MapSet = std::vector<MadeMap>;

/// Keeps the first map of each record.
class Distinct {
 public:
  bool is_new(const MadeMap& map) { return seen_.insert(map.record).second; }
  void add(const MadeMap& map) {
    if (is_new(map)) maps.push_back(map);
  }
  MapSet maps;

 private:
  std::unordered_set<RecordSet::Index> seen_;
};

/// All maps that a search made, and the sets of them.
class MapSets {
 public:
  MapSets(OrderSystem& system, Letter letters, SearchBudget& budget)
      : system_(system), budget_(budget), records_(system.map_words()), record_(system.map_words()) {
    Distinct distinct;
    for (Letter letter = 0; letter < letters; ++letter) {
      system_.letter(letter, record_.data());
      parts_.push_back({kLetter, letter});
      distinct.add({records_.insert(record_).index, static_cast<std::uint32_t>(parts_.size() - 1)});
    }
    letters_ = std::move(distinct.maps);
  }

  /// The maps of single letters.
  const MapSet& letters() const { return letters_; }

  /// All maps `second` after `first`.
  MapSet compose(std::span<const MadeMap> second, std::span<const MadeMap> first) {
    Distinct made;
    for (const MadeMap& s : second)
      for (const MadeMap& f : first) add_product(made, s, f);
    return std::move(made.maps);
  }

  /// All maps of both, those of `a` first.
  MapSet join(const MapSet& a, const MapSet& b) {
    Distinct distinct;
    for (const MapSet* set : {&a, &b})
      for (const MadeMap& map : *set) distinct.add(map);
    return std::move(distinct.maps);
  }

  bool same(const MapSet& a, const MapSet& b) const {
    const auto records = [](const MapSet& set) {
      std::vector<RecordSet::Index> numbers;
      for (const MadeMap& map : set) numbers.push_back(map.record);
      std::sort(numbers.begin(), numbers.end());
      return numbers;
    };
    return a.size() == b.size() && records(a) == records(b);
  }

  /// Everything that letters make in any association: the least set with the letters that is closed under composition.
  /// Nothing when it would have more than `most` maps. O(maps²).
  std::optional<MapSet> closure(std::size_t most) {
    Distinct all;
    for (const MadeMap& map : letters_) all.add(map);
    for (std::size_t i = 0; i < all.maps.size(); ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        if (all.maps.size() > most) return std::nullopt;
        const MadeMap a = all.maps[i], b = all.maps[j];
        add_product(all, a, b);
        add_product(all, b, a);
      }
    return std::move(all.maps);
  }

  const std::uint32_t* record(const MadeMap& map) const { return records_[map.record].data(); }
  std::size_t size() const { return records_.size(); }
  std::uint64_t bytes() const { return records_.bytes() + parts_.size() * sizeof(Part); }

  /// Appends a word whose letters, composed in the shape of the set, are the map.
  void append_word(const MadeMap& map, Word& word) const { krohn::append_word(parts_, map.word, word); }

 private:
  void add_product(Distinct& to, const MadeMap& second, const MadeMap& first) {
    budget_.spend(bytes());
    system_.compose(record(second), record(first), record_.data());
    const MadeMap map{records_.insert(record_).index, static_cast<std::uint32_t>(parts_.size())};
    if (!to.is_new(map)) return;
    parts_.push_back({second.word, first.word});
    to.maps.push_back(map);
  }

  OrderSystem& system_;
  SearchBudget& budget_;
  RecordSet records_;
  std::vector<Part> parts_;
  MapSet letters_;
  std::vector<std::uint32_t> record_;
};

/// B_k, the totals of 2^k letters: all products of two members of B_{k−1}. Once B_k is B_j, the sequence repeats.
class Totals {
 public:
  Totals(MapSets& maps, SearchBudget& budget) : maps_(maps), budget_(budget), levels_{maps.letters()} {}

  /// B_k. Throws LimitError when it, or one before it, would cost more than what is left of the budget.
  const MapSet& operator[](std::size_t k) {
    while (!first_repeated_ && k >= levels_.size()) add_level();
    if (k < levels_.size()) return levels_[k];
    const std::size_t first = *first_repeated_;
    return levels_[first + (k - first) % (levels_.size() - first)];
  }

  /// Goes on until the sequence repeats. Throws LimitError likewise.
  void find_period() {
    while (!first_repeated_) add_level();
  }

  /// The number of sets before the sequence repeats, and the k from which on it does.
  std::size_t levels() const { return levels_.size(); }
  std::optional<std::size_t> first_repeated() const { return first_repeated_; }

 private:
  void add_level() {
    const MapSet& last = levels_.back();
    budget_.require(std::uint64_t{last.size()} * last.size());
    MapSet next = maps_.compose(last, last);
    for (std::size_t j = 0; j < levels_.size() && !first_repeated_; ++j)
      if (maps_.same(levels_[j], next)) first_repeated_ = j;
    if (!first_repeated_) levels_.push_back(std::move(next));
  }

  MapSets& maps_;
  SearchBudget& budget_;
  std::vector<MapSet> levels_;
  std::optional<std::size_t> first_repeated_;
};

/// Words length by length: what fails first is a shortest word.
class WordSearch {
 public:
  explicit WordSearch(std::size_t state_words) : starts_(state_words) {}
  virtual ~WordSearch() = default;

  /// Until a word fails, nothing starts from a new state, or a limit is met.
  void run() {
    try {
      search();
    } catch (const LimitError& error) {
      limit_ = error.what();
    }
  }

  const std::optional<Word>& failing() const { return failing_; }     ///< a shortest one
  const std::optional<std::string>& limit() const { return limit_; }  ///< the limit that stopped the search
  std::uint64_t right_up_to() const { return right_up_to_; }  ///< all words of at most so many letters are right
  std::uint64_t starts() const { return starts_.size(); }     ///< states at the beginnings of chunks or blocks

 protected:
  virtual void search() = 0;

  RecordSet starts_;
  std::optional<Word> failing_;
  std::optional<std::string> limit_;
  std::uint64_t right_up_to_ = 0;
};

// Chunks in the UT form do not compose: every word of a chunk is tried, length
// by length, from every state that a chunk can start from.

/// O(starts · letters^chunk · chunk).
class ChunkSearch final : public WordSearch {
 public:
  ChunkSearch(OrderSystem& system, Letter letters, std::uint32_t chunk, SearchBudget& budget)
      : WordSearch(system.state_words()), system_(system), letters_(letters), chunk_(chunk), budget_(budget) {}

 private:
  /// Chunk by chunk, the starts that are new with it; within it length by length.
  void search() override {
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
  bool read_words(RecordSet::Index start, std::uint32_t length) {
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

  Word whole_word(RecordSet::Index start, const Word& last) const {
    std::vector<const Word*> chunks{&last};
    for (; start != 0; start = from_[start].first) chunks.push_back(&from_[start].second);
    Word word;
    for (auto chunk = chunks.rbegin(); chunk != chunks.rend(); ++chunk)
      word.insert(word.end(), (*chunk)->begin(), (*chunk)->end());
    return word;
  }

  OrderSystem& system_;
  Letter letters_;
  std::uint32_t chunk_;
  SearchBudget& budget_;
  std::vector<std::pair<RecordSet::Index, Word>> from_;  ///< per start: the start and the chunk before it
};

// All words length by length in an order that composes letters: what fails
// first is a shortest word (MATH.md §5, "Orders").

/// How the states after t letters of a block are made: by the maps of a set, from the states after `base(t)` letters.
class BlockPlan {
 public:
  virtual ~BlockPlan() = default;
  virtual std::uint64_t base(std::uint64_t t) const = 0;
  /// The set stays until the next call.
  virtual const MapSet& maps(std::uint64_t t) = 0;
  /// True if the states after `earlier` letters are, or lie on the way to, the base of t or of something after t.
  virtual bool needs(std::uint64_t earlier, std::uint64_t t) const = 0;
};

/// H_t is the total of the lowest bit applied to the state before it.
class ScanPlan final : public BlockPlan {
 public:
  explicit ScanPlan(Totals& totals) : totals_(totals) {}
  std::uint64_t base(std::uint64_t t) const override { return t & (t - 1); }
  const MapSet& maps(std::uint64_t t) override { return totals_[static_cast<std::size_t>(std::countr_zero(t))]; }
  /// True if it is t without some of its lowest bits.
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

/// A search of the order's kind. `maps` and `totals` must outlive it.
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

class LengthSearch final : public WordSearch {
 public:
  /// Blocks of `block` letters.
  LengthSearch(OrderSystem& system, MapSets& maps, SearchBudget& budget, BlockPlan& plan, std::uint64_t block)
      : WordSearch(system.state_words()),
        system_(system),
        maps_(maps),
        budget_(budget),
        plan_(plan),
        block_(block),
        record_(system.state_words()) {}

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

  void search() override {
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
  bool add_stage(std::uint64_t t) {
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
  bool start_next_block() {
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

  Word word_of(const Stage& last, std::uint32_t state) const {
    std::vector<MadeMap> maps;
    for (const Stage* stage = &last; stage->length != 0; stage = &stages_.at(stage->base)) {
      maps.push_back(stage->from[state].map);
      state = stage->from[state].state;
    }
    Word word = words_before_.empty() ? Word{} : words_before_[state];
    for (auto map = maps.rbegin(); map != maps.rend(); ++map) maps_.append_word(*map, word);
    return word;
  }

  OrderSystem& system_;
  MapSets& maps_;
  SearchBudget& budget_;
  BlockPlan& plan_;
  std::uint64_t block_;
  std::vector<std::uint32_t> record_;
  std::map<std::uint64_t, Stage> stages_;  ///< by length
  std::vector<Word> words_before_;         ///< how each state of stage 0 was reached; empty in the first block
};

// Failing words beyond the reach of exhaustive search. Maps that round are
// composed of worse and worse ones: in a scan the total of a block is the product of its halves' totals, so that their
// errors add up, and from chunk to chunk the states drift on.

constexpr std::uint64_t kLongestDriftingWord = std::uint64_t{1} << 22;

/// A map or a state, and a word that makes it.
struct Followed {
  std::vector<std::uint32_t> record;
  std::uint32_t word = kNothing;
};

/// Two records for each key and entry, with the least and the greatest.
class Extremes {
 public:
  void offer(std::span<const std::uint32_t> key, const std::vector<double>& entries,
             const std::vector<std::uint32_t>& record, Part word) {
    if (!std::all_of(entries.begin(), entries.end(), [](double entry) { return std::isfinite(entry); })) return;
    key_.assign(key.begin(), key.end());
    auto& best = best_[key_];
    const bool fresh = best.empty();
    best.resize(2 * entries.size());
    for (std::size_t i = 0; i < best.size(); ++i) {
      const double value = i % 2 == 0 ? entries[i / 2] : -entries[i / 2];
      if (fresh || value < best[i].value) best[i] = {value, record, word};
    }
  }

  /// All that were kept, each once; their words become parts.
  std::vector<Followed> take(std::vector<Part>& parts) {
    std::vector<Followed> all;
    for (auto& [key, best] : best_) {
      std::sort(best.begin(), best.end(), [](const Kept& a, const Kept& b) { return a.record < b.record; });
      for (std::size_t i = 0; i < best.size(); ++i) {
        if (i > 0 && best[i].record == all.back().record) continue;
        all.push_back({best[i].record, static_cast<std::uint32_t>(parts.size())});
        parts.push_back(best[i].word);
      }
    }
    return all;
  }

 private:
  struct Kept {
    double value = 0;
    std::vector<std::uint32_t> record;
    Part word{};
  };
  std::vector<std::uint32_t> key_;
  std::map<std::vector<std::uint32_t>, std::vector<Kept>> best_;
};

class DriftSearch {
 public:
  DriftSearch(OrderSystem& system, Letter letters, SearchBudget& budget)
      : system_(system), budget_(budget), map_(system.map_words()), state_(system.state_words()) {
    Extremes extremes;
    for (Letter letter = 0; letter < letters; ++letter) {
      system_.letter(letter, map_.data());
      offer_map(extremes, {kLetter, letter});
    }
    letters_ = extremes.take(parts_);
    system_.start(state_.data());
    start_ = {{state_, kNothing}};
  }

  /// The totals of 2^k letters, from the beginning or, in `doubling`, after those of all smaller k.
  std::optional<Word> follow_totals(bool doubling) {
    std::vector<Followed> totals = letters_, states = start_;
    for (std::uint64_t length = 1; length <= kLongestDriftingWord && !totals.empty(); length *= 2) {
      const std::vector<Followed> reached = apply(totals, states);
      if (failing_) return failing_;
      if (doubling) states = reached;
      totals = compose(totals, totals);
    }
    return std::nullopt;
  }

  /// Block after block, each by its maps one after another.
  std::optional<Word> follow_blocks(const std::vector<std::vector<Followed>>& maps, std::uint64_t block) {
    std::vector<Followed> states = start_;
    for (std::uint64_t letters = 0; letters + block <= kLongestDriftingWord && !states.empty(); letters += block)
      for (const std::vector<Followed>& set : maps) {
        states = apply(set, states);
        if (failing_) return failing_;
      }
    return std::nullopt;
  }

  /// The whole chunk.
  std::vector<std::vector<Followed>> chunk(std::uint64_t block) {
    std::vector<Followed> prefix = letters_;
    for (std::uint64_t i = 1; i < block; ++i) prefix = compose(letters_, prefix);
    return {prefix};
  }

  /// The totals of a block's bits, the highest first.
  std::vector<std::vector<Followed>> totals_of_bits(std::uint64_t block) {
    std::vector<std::vector<Followed>> maps;
    std::vector<Followed> totals = letters_;
    for (std::uint64_t bit = 1; bit <= block; bit *= 2) {
      if (bit > 1) totals = compose(totals, totals);
      if ((block & bit) != 0) maps.insert(maps.begin(), totals);
    }
    return maps;
  }

 private:
  void offer_map(Extremes& extremes, Part word) {
    extremes.offer(system_.moved_states(map_.data()), system_.map_entries(map_.data()), map_, word);
  }

  std::vector<Followed> compose(const std::vector<Followed>& second, const std::vector<Followed>& first) {
    budget_.require(std::uint64_t{second.size()} * first.size());
    Extremes extremes;
    for (const Followed& s : second)
      for (const Followed& f : first) {
        budget_.spend(0);
        system_.compose(s.record.data(), f.record.data(), map_.data());
        offer_map(extremes, {s.word, f.word});
      }
    return extremes.take(parts_);
  }

  /// Notes the first state that is wrong.
  std::vector<Followed> apply(const std::vector<Followed>& maps, const std::vector<Followed>& states) {
    Extremes extremes;
    for (const Followed& state : states)
      for (const Followed& map : maps) {
        budget_.spend(0);
        system_.apply(map.record.data(), state.record.data(), state_.data());
        if (!system_.is_right(state_.data())) {
          failing_.emplace();
          append_word(parts_, state.word, *failing_);
          append_word(parts_, map.word, *failing_);
          return {};
        }
        extremes.offer({state_.data(), 1}, system_.state_entries(state_.data()), state_, {map.word, state.word});
      }
    return extremes.take(parts_);
  }

  OrderSystem& system_;
  SearchBudget& budget_;
  std::vector<std::uint32_t> map_, state_;
  std::vector<Part> parts_;
  std::vector<Followed> letters_, start_;
  std::optional<Word> failing_;
};

/// A word of at most kLongestDriftingWord letters that is read wrongly in the order; nothing when none was found, which
/// says nothing. Of the maps that do the same to the automaton, and of the states that stand beside the same state of
/// it, only those are followed that are least or greatest in some entry.
///   scan, doubling      the totals of 2^k letters, k = 0, 1, …, read from the beginning (in `doubling`, after 2^k − 1
///                       letters)
///   chunked:C, scan:N   block after block
/// Not for doubling:N. Throws LimitError.
std::optional<Word> find_by_drift(OrderSystem& system, Letter letters, Order order, SearchBudget& budget) {
  DriftSearch search(system, letters, budget);
  if (order.block == 0) return search.follow_totals(order.kind == Order::Kind::kDoubling);
  if (order.kind == Order::Kind::kChunked) return search.follow_blocks(search.chunk(order.block), order.block);
  if (order.kind == Order::Kind::kScan) return search.follow_blocks(search.totals_of_bits(order.block), order.block);
  return std::nullopt;
}

/// States closed under maps, without regard to length, until one is wrong.
class ReachedStates {
 public:
  ReachedStates(OrderSystem& system, const MapSets& maps, SearchBudget& budget)
      : system_(system), maps_(maps), budget_(budget), states_(system.state_words()), record_(system.state_words()) {
    system_.start(record_.data());
    states_.insert(record_);
  }

  /// Adds all that `set` makes of the states so far, and, with `repeatedly`, of those that it makes.
  void apply(const MapSet& set, bool repeatedly) {
    const RecordSet::Index now = states_.size();
    for (RecordSet::Index state = 0; state < (repeatedly ? states_.size() : now) && right_; ++state)
      for (const MadeMap& map : set) {
        budget_.spend(maps_.bytes() + states_.bytes());
        system_.apply(maps_.record(map), states_[state].data(), record_.data());
        const auto reached = states_.insert(record_);
        // H_0 came with its label. A word that leads back to it is decoded like any other.
        if (reached.fresh || reached.index == 0) right_ = right_ && system_.is_right(record_.data());
      }
  }

  bool right() const { return right_; }
  std::uint64_t size() const { return states_.size(); }

 private:
  OrderSystem& system_;
  const MapSets& maps_;
  SearchBudget& budget_;
  RecordSet states_;
  std::vector<std::uint32_t> record_;
  bool right_ = true;
};

/// All searches of one network, strongest claim first.
class OrderSearch {
 public:
  OrderSearch(const Dfa& automaton, OrderSystem& system, const CertifyOptions& options)
      : automaton_(automaton), system_(system), options_(options), budget_(options) {}

  Certificate run() {
    if (!system_.starts_right()) return refuted(Word{});
    if (automaton_.letters() == 0) return proved("the empty word is read rightly, and there is no other");
    if (!system_.has_maps()) return by_chunks();
    maps_.emplace(system_, automaton_.letters(), budget_);
    if (auto proof = closed_under_composition()) return *proof;
    totals_.emplace(*maps_, budget_);
    if (options_.order.block == 0)
      if (auto proof = closed_totals()) return *proof;
    return by_length();
  }

 private:
  /// The most maps whose products are all tried.
  static constexpr std::size_t kMaxClosedMaps = 2048;

  template <class Phase>
  std::invoke_result_t<Phase> phase(Phase&& body) {
    budget_.renew();
    try {
      return body();
    } catch (const LimitError&) {
      return std::nullopt;  // the next phase may still do
    }
  }

  /// Every product of two maps is one of the maps: whatever the association, nothing else is ever made.
  std::optional<Certificate> closed_under_composition() {
    return phase([&]() -> std::optional<Certificate> {
      const std::optional<MapSet> all = maps_->closure(kMaxClosedMaps);
      if (!all) return std::nullopt;
      ReachedStates states(system_, *maps_, budget_);
      states.apply(*all, true);
      if (!states.right()) return std::nullopt;
      Certificate certificate =
          proved(fmt::format("words make {} of the letters' stored matrices, closed under composition in every "
                             "association, and these reach {}, all read correctly",
                             counted(all->size(), "map"), counted(states.size(), "state")));
      certificate.claim = Proved{.every_association = true};
      return certificate;
    });
  }

  /// The totals of 2^k letters repeat from some k on.
  std::optional<Certificate> closed_totals() {
    return phase([&]() -> std::optional<Certificate> {
      totals_->find_period();
      const std::uint64_t states = options_.order.kind == Order::Kind::kScan ? scanned_states() : doubled_states();
      wrong_ = states == 0;
      if (wrong_) return std::nullopt;
      return proved(fmt::format(
          "the totals of 2^k letters are {} in {} sets that repeat from k = {} on, and they "
          "reach {} in this order, all read rightly",
          counted(maps_->size(), "map"), totals_->levels(), *totals_->first_repeated(), counted(states, "state")));
    });
  }

  /// From the highest bit down: any number of totals of the repeating levels, then at most one of each level below.
  std::uint64_t scanned_states() {
    ReachedStates states(system_, *maps_, budget_);
    MapSet repeating;
    const std::size_t first = *totals_->first_repeated();
    for (std::size_t k = first; k < totals_->levels(); ++k) repeating = maps_->join(repeating, (*totals_)[k]);
    states.apply(repeating, true);
    for (std::size_t k = first; k-- > 0;) states.apply((*totals_)[k], false);
    return states.right() ? states.size() : 0;
  }

  /// Level by level: W_k = all maps of t − 2^k under t with highest bit k, Z_k = the states at position 2^k − 1; until
  /// all three of B_k, W_k and Z_k are what they were a period before.
  std::uint64_t doubled_states() {
    const std::size_t first = *totals_->first_repeated(), period = totals_->levels() - first;
    std::vector<MapSet> w{maps_->letters()};
    std::vector<std::vector<std::uint32_t>> z;
    RecordSet all(system_.state_words()), ends(system_.state_words());
    std::vector<std::uint32_t> record(system_.state_words());
    system_.start(record.data());
    z.push_back({ends.insert(record).index});
    for (std::size_t k = 0;; ++k) {
      for (const std::uint32_t end : z[k])
        for (const MadeMap& map : w[k]) {
          budget_.spend(maps_->bytes() + all.bytes() + ends.bytes());
          system_.apply(maps_->record(map), ends[end].data(), record.data());
          if (all.insert(record).fresh && !system_.is_right(record.data())) return 0;
        }
      if (k >= first + period && maps_->same(w[k], w[k - period]) && z[k] == z[k - period]) return all.size();
      std::vector<std::uint32_t>& next = z.emplace_back();
      for (std::size_t i = 0; i < z[k].size(); ++i)
        for (const MadeMap& map : (*totals_)[k]) {
          budget_.spend(maps_->bytes() + all.bytes() + ends.bytes());
          system_.apply(maps_->record(map), ends[z[k][i]].data(), record.data());
          next.push_back(ends.insert(record).index);
        }
      std::sort(next.begin(), next.end());
      next.erase(std::unique(next.begin(), next.end()), next.end());
      w.push_back(maps_->join(w[k], maps_->compose(w[k], (*totals_)[k])));
    }
  }

  Certificate by_length() {
    budget_.renew();
    const std::uint64_t block = options_.order.block == 0 ? UINT64_MAX : options_.order.block;
    const std::unique_ptr<BlockPlan> plan = make_block_plan(options_.order.kind, *maps_, *totals_);
    LengthSearch search(system_, *maps_, budget_, *plan, block);
    search.run();
    if (search.failing()) return refuted(*search.failing());
    if (search.limit()) {
      if (auto word = phase([&] { return find_by_drift(system_, automaton_.letters(), options_.order, budget_); }))
        return refuted_by_drift(*std::move(word), search.right_up_to());
      return proved_up_to(search.right_up_to(),
                          wrong_ ? *search.limit() + "; some longer word is read wrongly" : *search.limit());
    }
    return proved(
        fmt::format("blocks of {} start from {}, and all words of one block from each of them "
                    "are read rightly; they make {}",
                    counted(block, "letter"), counted(search.starts(), "state"), counted(maps_->size(), "map")));
  }

  Certificate by_chunks() {
    ChunkSearch search(system_, automaton_.letters(), options_.order.block, budget_);
    search.run();
    if (search.failing()) return refuted(*search.failing());
    if (search.limit()) return proved_up_to(search.right_up_to(), *search.limit());
    return proved(
        fmt::format("chunks of {} start from {}, and all words of one chunk from each of them "
                    "are read rightly",
                    counted(options_.order.block, "letter"), counted(search.starts(), "state")));
  }

  Certificate begin(Claim claim) const {
    Certificate certificate;
    certificate.claim = std::move(claim);
    certificate.arithmetic = options_.arithmetic;
    certificate.form = options_.form;
    certificate.order = options_.order;
    certificate.method = "closed maps";
    certificate.pairs = budget_.total();
    return certificate;
  }

  Certificate proved(std::string evidence) const {
    Certificate certificate = begin(Proved{});
    certificate.evidence = std::move(evidence);
    return certificate;
  }

  Certificate refuted(Word word) const {
    Certificate certificate = begin(Refuted{});
    certificate.evidence =
        fmt::format("all words were tried in this order, length by length; the first that is read wrongly has {}",
                    counted(word.size(), "letter"));
    certificate.claim = Refuted{std::move(word), /*shortest=*/true};
    return certificate;
  }

  Certificate refuted_by_drift(Word word, std::uint64_t right_up_to) const {
    Certificate certificate = refuted(std::move(word));
    std::get<Refuted>(certificate.claim).shortest = false;
    certificate.evidence = fmt::format(
        "words were put together of those that drift most in this order; one of {} is read wrongly, and none "
        "of "
        "up to {} is",
        counted(certificate.failing_word()->size(), "letter"), counted(right_up_to, "letter"));
    return certificate;
  }

  Certificate proved_up_to(std::uint64_t length, std::string limit) const {
    Certificate certificate = begin(ProvedUpTo{length});
    certificate.evidence =
        fmt::format("the network is right on all words of up to {} in this order", counted(length, "letter"));
    certificate.limit = std::move(limit);
    return certificate;
  }

  const Dfa& automaton_;
  OrderSystem& system_;
  const CertifyOptions& options_;
  SearchBudget budget_;
  std::optional<MapSets> maps_;
  std::optional<Totals> totals_;
  bool wrong_ = false;  ///< some word is read wrongly in this order, however long
};

}  // namespace

Certificate search_order(const Dfa& automaton, OrderSystem& system, const CertifyOptions& options) {
  return OrderSearch(automaton, system, options).run();
}

}  // namespace krohn
