#include "krohn/simulate/prove/orders/drift_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

namespace krohn {
namespace {

/// Where a word comes from: two parts, or one letter.
struct Part {
  std::uint32_t later, earlier;
};
constexpr std::uint32_t kLetter = UINT32_MAX;   ///< as `later`: `earlier` is a letter
constexpr std::uint32_t kNothing = UINT32_MAX;  ///< a part without letters

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
          append_word(state.word, *failing_);
          append_word(map.word, *failing_);
          return {};
        }
        extremes.offer({state_.data(), 1}, system_.state_entries(state_.data()), state_, {map.word, state.word});
      }
    return extremes.take(parts_);
  }

  void append_word(std::uint32_t part, Word& word) const {
    std::vector<std::uint32_t> open{part};
    while (!open.empty()) {
      const std::uint32_t top = open.back();
      open.pop_back();
      if (top == kNothing) continue;
      if (parts_[top].later == kLetter) {
        word.push_back(parts_[top].earlier);
      } else {
        open.push_back(parts_[top].later);
        open.push_back(parts_[top].earlier);
      }
    }
  }

  OrderSystem& system_;
  SearchBudget& budget_;
  std::vector<std::uint32_t> map_, state_;
  std::vector<Part> parts_;
  std::vector<Followed> letters_, start_;
  std::optional<Word> failing_;
};

}  // namespace

std::optional<Word> find_by_drift(OrderSystem& system, Letter letters, Order order, SearchBudget& budget) {
  DriftSearch search(system, letters, budget);
  if (order.block == 0) return search.follow_totals(order.kind == Order::Kind::kDoubling);
  if (order.kind == Order::Kind::kChunked) return search.follow_blocks(search.chunk(order.block), order.block);
  if (order.kind == Order::Kind::kScan) return search.follow_blocks(search.totals_of_bits(order.block), order.block);
  return std::nullopt;
}

}  // namespace krohn
