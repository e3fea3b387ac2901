#include "krohn/automata/operations/partition.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "krohn/groups/time_limit.h"

namespace krohn {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// The finaliser of SplitMix64: spreads a linear hash over all bits.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// Splits one class after another by the hashes of its members' signatures. A later class sees the splits of the
/// earlier ones: as sound as Moore's simultaneous rounds, and faster to converge.
class Rounds {
 public:
  Rounds(std::span<const State> table, std::size_t letters, Partition& partition)
      : table_(table), letters_(letters), partition_(partition), multipliers_(letters) {
    for (std::size_t letter = 0; letter < letters; ++letter)
      multipliers_[letter] = mix(0x9e3779b97f4a7c15ULL * (letter + 1)) | 1;
    for (StateClass c = 0; c < partition.classes.size(); ++c) queue_if_divisible(c);
    active_.swap(next_);
  }

  /// One signature for every member of every class of two or more. Returns how many that were.
  std::uint64_t round() {
    std::uint64_t signatures = 0;
    for (const StateClass c : active_) {
      signatures += partition_.members(c).size();
      split(c);
    }
    active_.swap(next_);
    next_.clear();
    return signatures;
  }

 private:
  void queue_if_divisible(StateClass c) {
    if (partition_.members(c).size() > 1) next_.push_back(c);
  }

  void split(StateClass c) {
    hash_signatures(partition_.members(c));
    const std::uint32_t groups = group_equal_hashes();
    if (groups > 1) separate(c, groups);
    queue_if_divisible(c);
  }

  void hash_signatures(std::span<const State> members) {
    hashes_.resize(members.size());
    for (std::size_t i = 0; i < members.size(); ++i) {
      const State* const row = table_.data() + std::size_t{members[i]} * letters_;
      std::uint64_t sum = 0;
      for (std::size_t letter = 0; letter < letters_; ++letter)
        sum += multipliers_[letter] * (std::uint64_t{partition_.class_of[row[letter]]} + 1);
      hashes_[i] = mix(sum);
    }
  }

  /// Numbers the distinct hashes in order of first appearance: groups_[i] for member i, and the size of each group.
  std::uint32_t group_equal_hashes() {
    sizes_.clear();
    groups_.resize(hashes_.size());
    if (std::all_of(hashes_.begin(), hashes_.end(), [&](std::uint64_t hash) { return hash == hashes_[0]; })) return 1;
    const std::size_t slots = std::bit_ceil(hashes_.size() * 2), mask = slots - 1;
    slots_.assign(slots, kNone);
    for (std::uint32_t i = 0; i < hashes_.size(); ++i) {
      std::size_t slot = hashes_[i] & mask;
      while (slots_[slot] != kNone && hashes_[slots_[slot]] != hashes_[i]) slot = (slot + 1) & mask;
      if (slots_[slot] == kNone) {
        slots_[slot] = i;
        groups_[i] = static_cast<std::uint32_t>(sizes_.size());
        sizes_.push_back(0);
      } else {
        groups_[i] = groups_[slots_[slot]];
      }
      ++sizes_[groups_[i]];
    }
    return static_cast<std::uint32_t>(sizes_.size());
  }

  /// Group 0 stays class c; the others become new classes. Members keep their order within each group.
  void separate(StateClass c, std::uint32_t groups) {
    const auto fresh = static_cast<StateClass>(partition_.classes.size());
    const Partition::Stretch whole = partition_.classes[c];
    State begin = whole.begin;
    starts_.resize(groups);
    for (std::uint32_t group = 0; group < groups; ++group) {
      const Partition::Stretch stretch{begin, begin + sizes_[group]};
      starts_[group] = begin;
      begin = stretch.end;
      if (group == 0)
        partition_.classes[c] = stretch;
      else
        partition_.classes.push_back(stretch);
      if (group != 0) queue_if_divisible(fresh + group - 1);
    }
    scratch_.assign(partition_.elements.begin() + whole.begin, partition_.elements.begin() + whole.end);
    for (std::size_t i = 0; i < scratch_.size(); ++i) {
      const std::uint32_t group = groups_[i];
      partition_.elements[starts_[group]++] = scratch_[i];
      partition_.class_of[scratch_[i]] = group == 0 ? c : fresh + group - 1;
    }
  }

  std::span<const State> table_;
  std::size_t letters_;
  Partition& partition_;
  std::vector<std::uint64_t> multipliers_;
  std::vector<StateClass> active_, next_;  ///< classes of two or more, for this round and the next
  std::vector<std::uint64_t> hashes_;      ///< by position in the class at hand, as the following are
  std::vector<std::uint32_t> groups_, slots_, sizes_, starts_;
  std::vector<State> scratch_;
};

}  // namespace

Partition partition_by_output(std::span<const Output> outputs) {
  Partition partition;
  const auto states = static_cast<State>(outputs.size());
  const std::size_t kinds = outputs.empty() ? 0 : std::size_t{*std::max_element(outputs.begin(), outputs.end())} + 1;
  std::vector<State> count(kinds, 0);
  for (const Output output : outputs) ++count[output];
  std::vector<StateClass> class_of_output(kinds, kNone);
  State begin = 0;
  for (std::size_t output = 0; output < kinds; ++output) {
    if (count[output] == 0) continue;
    class_of_output[output] = static_cast<StateClass>(partition.classes.size());
    partition.classes.push_back({begin, begin + count[output]});
    begin += count[output];
  }
  partition.elements.resize(states);
  partition.class_of.resize(states);
  std::vector<State> place;
  for (const Partition::Stretch stretch : partition.classes) place.push_back(stretch.begin);
  for (State state = 0; state < states; ++state) {
    const StateClass c = class_of_output[outputs[state]];
    partition.class_of[state] = c;
    partition.elements[place[c]++] = state;
  }
  return partition;
}

bool refine_by_rounds(std::span<const State> table, std::size_t letters, Partition& partition) {
  const std::uint64_t states = partition.elements.size();
  // A round that adds a quarter to the classes has paid for itself, and there are O(log n) such rounds; the others may
  // cost two signatures a state in all before Hopcroft's algorithm, which is slower but certain, takes over.
  std::uint64_t patience = 2 * states;
  Rounds rounds(table, letters, partition);
  // What is small is finished even when the time is over: searches that end tell what they have found by it.
  constexpr std::uint64_t kSmall = 1'000'000;
  while (true) {
    if (states > kSmall) TimeLimit::check();
    const std::size_t before = partition.classes.size();
    const std::uint64_t signatures = rounds.round();
    const std::size_t after = partition.classes.size();
    if (after == before) return true;
    if (after - before >= before / 4 + 1) continue;
    if (signatures > patience) return false;
    patience -= signatures;
  }
}

bool is_congruence(std::span<const State> table, std::size_t letters, const Partition& partition) {
  for (StateClass c = 0; c < partition.classes.size(); ++c) {
    const auto members = partition.members(c);
    const State* const first = table.data() + std::size_t{members[0]} * letters;
    for (const State member : members.subspan(1)) {
      const State* const row = table.data() + std::size_t{member} * letters;
      for (std::size_t letter = 0; letter < letters; ++letter)
        if (partition.class_of[row[letter]] != partition.class_of[first[letter]]) return false;
    }
  }
  return true;
}

}  // namespace krohn
