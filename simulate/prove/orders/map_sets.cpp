#include "krohn/simulate/prove/orders/map_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "krohn/groups/error.h"
#include "krohn/groups/time_limit.h"

namespace krohn {
namespace {

constexpr std::uint64_t kPerReport = 1 << 14, kPerLook = 16;  ///< at the clock: a product may take milliseconds

/// Keeps the first map of each record.
class Distinct {
 public:
  void add(const MadeMap& map) {
    if (seen_.insert(map.record).second) maps_.push_back(map);
  }
  MapSet take() { return std::move(maps_); }

 private:
  std::unordered_set<RecordSet::Index> seen_;
  MapSet maps_;
};

}  // namespace

void SearchBudget::spend(std::uint64_t bytes) {
  require(1);
  if (bytes > options_.max_bytes) throw LimitError(fmt::format("{} bytes of maps and states", options_.max_bytes));
  ++spent_;
  ++total_;
  if (total_ % kPerLook == 0) TimeLimit::check();
  if (total_ % kPerReport == 0 && options_.progress) options_.progress(total_);
}

void SearchBudget::require(std::uint64_t count) const {
  if (count > left()) throw LimitError(fmt::format("{} products of maps and states", options_.max_pairs));
}

MapSets::MapSets(OrderSystem& system, Letter letters, SearchBudget& budget)
    : system_(system), budget_(budget), records_(system.map_words()), record_(system.map_words()) {
  Distinct distinct;
  for (Letter letter = 0; letter < letters; ++letter) {
    system_.letter(letter, record_.data());
    trees_.push_back({kLetter, letter});
    distinct.add({records_.insert(record_).index, static_cast<std::uint32_t>(trees_.size() - 1)});
  }
  letters_ = distinct.take();
}

MadeMap MapSets::make(const MadeMap& second, const MadeMap& first) {
  budget_.spend(bytes());
  system_.compose(record(second), record(first), record_.data());
  return {records_.insert(record_).index, kLetter};
}

MapSet MapSets::compose(std::span<const MadeMap> second, std::span<const MadeMap> first) {
  MapSet made;
  std::unordered_set<RecordSet::Index> seen;
  for (const MadeMap& s : second)
    for (const MadeMap& f : first) {
      MadeMap map = make(s, f);
      if (!seen.insert(map.record).second) continue;
      map.tree = static_cast<std::uint32_t>(trees_.size());
      trees_.push_back({s.tree, f.tree});
      made.push_back(map);
    }
  return made;
}

MapSet MapSets::join(const MapSet& a, const MapSet& b) {
  Distinct distinct;
  for (const MapSet* set : {&a, &b})
    for (const MadeMap& map : *set) distinct.add(map);
  return distinct.take();
}

bool MapSets::same(const MapSet& a, const MapSet& b) const {
  const auto records = [](const MapSet& set) {
    std::vector<RecordSet::Index> numbers;
    for (const MadeMap& map : set) numbers.push_back(map.record);
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  };
  return a.size() == b.size() && records(a) == records(b);
}

std::optional<MapSet> MapSets::closure(std::size_t most) {
  MapSet all = letters_;
  std::unordered_set<RecordSet::Index> members;
  for (const MadeMap& map : all) members.insert(map.record);
  const auto add = [&](const MadeMap& second, const MadeMap& first) {
    MadeMap map = make(second, first);
    if (!members.insert(map.record).second) return;
    map.tree = static_cast<std::uint32_t>(trees_.size());
    trees_.push_back({second.tree, first.tree});
    all.push_back(map);
  };
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      if (all.size() > most) return std::nullopt;
      const MadeMap a = all[i], b = all[j];
      add(a, b);
      add(b, a);
    }
  return all;
}

void MapSets::append_tree(std::uint32_t tree, Word& word) const {
  std::vector<std::uint32_t> open{tree};
  while (!open.empty()) {
    const Tree top = trees_[open.back()];
    open.pop_back();
    if (top.second == kLetter) {
      word.push_back(top.first);
    } else {
      open.push_back(top.second);  // read after the first
      open.push_back(top.first);
    }
  }
}

const MapSet& Totals::operator[](std::size_t k) {
  while (!first_repeated_ && k >= levels_.size()) add_level();
  if (k < levels_.size()) return levels_[k];
  const std::size_t first = *first_repeated_;
  return levels_[first + (k - first) % (levels_.size() - first)];
}

void Totals::find_period() {
  while (!first_repeated_) add_level();
}

void Totals::add_level() {
  const MapSet& last = levels_.back();
  budget_.require(std::uint64_t{last.size()} * last.size());
  MapSet next = maps_.compose(last, last);
  for (std::size_t j = 0; j < levels_.size() && !first_repeated_; ++j)
    if (maps_.same(levels_[j], next)) first_repeated_ = j;
  if (!first_repeated_) levels_.push_back(std::move(next));
}

}  // namespace krohn
