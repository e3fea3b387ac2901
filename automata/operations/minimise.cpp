#include "krohn/automata/operations/minimise.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "krohn/automata/dfa/graph.h"
#include "krohn/groups/base/time_limit.h"

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
  // Small automata are finished even when the time is over: searches that end print their findings by them.
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

// Memory beside the input, for n reachable states and k letters: the result's table grows in place of a working copy
// (4kn bytes); partition and scratch take at most 44n bytes. Only when rounds of signatures do not settle the partition
// does the inverse table add 8kn bytes.

namespace {

Partition coarsest_congruence(const BreadthFirst& automaton, std::size_t letters) {
  Partition partition = partition_by_output(automaton.outputs);
  const bool settled = refine_by_rounds(automaton.table, letters, partition);
  if (!settled || !is_congruence(automaton.table, letters, partition))
    refine_by_hopcroft(automaton.table, letters, partition);
  return partition;
}

/// Merges every class into its first member, in place. Classes numbered by their first members in breadth-first order
/// are in breadth-first order of the quotient, for the least word of a class is the least word of its first member.
void merge_classes(BreadthFirst& automaton, std::size_t letters, Partition partition) {
  constexpr State kUnseen = std::numeric_limits<State>::max();
  std::vector<State> number(partition.classes.size(), kUnseen);
  State merged = 0;
  for (State state = 0; state < automaton.order.size(); ++state) {
    State& class_number = number[partition.class_of[state]];
    if (class_number == kUnseen) {
      class_number = merged;
      const State* const row = automaton.table.data() + std::size_t{state} * letters;
      std::copy(row, row + letters, automaton.table.data() + std::size_t{merged} * letters);
      automaton.outputs[merged] = automaton.outputs[state];
      automaton.order[merged] = automaton.order[state];
      ++merged;
    }
    partition.class_of[state] = class_number;
  }
  automaton.table.resize(merged * letters);
  automaton.outputs.resize(merged);
  automaton.order.resize(merged);
  for (State& target : automaton.table) target = partition.class_of[target];
}

}  // namespace

Dfa minimise(const Dfa& dfa) {
  const std::size_t letters = dfa.letters();
  BreadthFirst automaton = breadth_first(dfa);
  {
    Partition partition = coarsest_congruence(automaton, letters);
    if (partition.classes.size() < automaton.order.size()) merge_classes(automaton, letters, std::move(partition));
  }
  return with_table(dfa, std::move(automaton));
}

namespace {

/// Predecessors: those of `state` on `letter` are `sources[offsets[state·k + letter]] …`, up to the next offset.
/// `Offset` is 32 bits wide whenever the transitions allow it.
template <class Offset>
struct InverseTable {
  std::vector<Offset> offsets;
  std::vector<State> sources;
};

template <class Offset>
InverseTable<Offset> invert(std::span<const State> table, std::size_t letters) {
  InverseTable<Offset> inverse;
  inverse.offsets.assign(table.size() + 1, 0);
  inverse.sources.resize(table.size());
  for (std::size_t i = 0; i < table.size(); ++i) ++inverse.offsets[std::size_t{table[i]} * letters + i % letters];
  Offset end = 0;
  for (Offset& offset : inverse.offsets) offset = end += offset;
  // Filling backwards moves every offset from the end of its stretch to the beginning, without a second array.
  for (std::size_t i = table.size(); i-- > 0;)
    inverse.sources[--inverse.offsets[std::size_t{table[i]} * letters + i % letters]] = static_cast<State>(i / letters);
  return inverse;
}

template <class Offset>
class Hopcroft {
 public:
  Hopcroft(std::span<const State> table, std::size_t letters, Partition& partition)
      : letters_(letters), inverse_(invert<Offset>(table, letters)), partition_(partition) {
    place_.resize(partition.elements.size());
    for (State i = 0; i < partition.elements.size(); ++i) place_[partition.elements[i]] = i;
    marked_.assign(partition.classes.size(), 0);
    waiting_.assign(partition.classes.size(), true);
    for (StateClass c = 0; c < partition.classes.size(); ++c) splitters_.push_back(c);
  }

  void run() {
    std::vector<State> members;  // a copy: the splitter may split itself while it is at work
    for (std::uint64_t i = 0; !splitters_.empty(); ++i) {
      if (i % 65'536 == 65'535) TimeLimit::check();
      const StateClass splitter = splitters_.back();
      splitters_.pop_back();
      waiting_[splitter] = false;
      const auto current = partition_.members(splitter);
      members.assign(current.begin(), current.end());
      for (std::size_t letter = 0; letter < letters_; ++letter) {
        mark_predecessors(members, letter);
        for (const StateClass c : touched_) split(c);
        touched_.clear();
      }
    }
  }

 private:
  void mark_predecessors(const std::vector<State>& members, std::size_t letter) {
    for (const State member : members) {
      const std::size_t entry = std::size_t{member} * letters_ + letter;
      for (Offset i = inverse_.offsets[entry]; i < inverse_.offsets[entry + 1]; ++i) mark(inverse_.sources[i]);
    }
  }

  /// Moves the state into the marked front of its class. A letter has one target, so no state is marked twice.
  void mark(State state) {
    const StateClass c = partition_.class_of[state];
    if (partition_.classes[c].end - partition_.classes[c].begin == 1) return;
    if (marked_[c] == 0) touched_.push_back(c);
    const State front = partition_.classes[c].begin + marked_[c]++;
    const State other = partition_.elements[front];
    std::swap(partition_.elements[front], partition_.elements[place_[state]]);
    std::swap(place_[other], place_[state]);
  }

  /// Separates marked from unmarked; the smaller part becomes the new class, and the new splitter unless the old class
  /// still waits, when both must work.
  void split(StateClass c) {
    const State marked = std::exchange(marked_[c], 0);
    Partition::Stretch& stretch = partition_.classes[c];
    const State middle = stretch.begin + marked;
    if (middle == stretch.end) return;
    Partition::Stretch part;
    if (marked <= stretch.end - middle)
      part = {std::exchange(stretch.begin, middle), middle};
    else
      part = {middle, std::exchange(stretch.end, middle)};
    const auto fresh = static_cast<StateClass>(partition_.classes.size());
    for (State i = part.begin; i < part.end; ++i) partition_.class_of[partition_.elements[i]] = fresh;
    partition_.classes.push_back(part);
    marked_.push_back(0);
    waiting_.push_back(true);
    splitters_.push_back(fresh);
  }

  std::size_t letters_;
  InverseTable<Offset> inverse_;
  Partition& partition_;
  std::vector<State> place_;   ///< state ↦ its index in `elements`
  std::vector<State> marked_;  ///< class ↦ how many of its members are marked
  std::vector<bool> waiting_;
  std::vector<StateClass> splitters_, touched_;
};

}  // namespace

void refine_by_hopcroft(std::span<const State> table, std::size_t letters, Partition& partition) {
  if (table.size() < std::numeric_limits<std::uint32_t>::max())
    Hopcroft<std::uint32_t>(table, letters, partition).run();
  else
    Hopcroft<std::uint64_t>(table, letters, partition).run();
}

namespace {

/// The names that belong to `order`, or none when the automaton has none.
std::vector<std::string> names_in_order(const Dfa& dfa, const std::vector<State>& order) {
  std::vector<std::string> names;
  if (dfa.state_names().empty()) return names;
  names.reserve(order.size());
  for (const State state : order) names.push_back(dfa.state_names()[state]);
  return names;
}

}  // namespace

BreadthFirst breadth_first(const Dfa& dfa) {
  constexpr State kUnseen = std::numeric_limits<State>::max();
  const std::size_t letters = dfa.letters();
  std::vector<State> number(dfa.states(), kUnseen);
  BreadthFirst result;
  result.order.reserve(dfa.states());
  result.outputs.reserve(dfa.states());
  result.table.reserve(dfa.table().size());
  const auto reach = [&](State state) {
    if (number[state] != kUnseen) return;
    number[state] = static_cast<State>(result.order.size());
    result.order.push_back(state);
  };
  if (dfa.has_start()) reach(dfa.initial());
  for (State state = 0; !dfa.has_start() && state < dfa.states(); ++state) reach(state);
  for (std::size_t i = 0; i < result.order.size(); ++i) {
    result.outputs.push_back(dfa.output(result.order[i]));
    result.table.resize(result.table.size() + letters);
    State* const row = result.table.data() + i * letters;
    std::size_t letter = 0;
    for (const State target : dfa.row(result.order[i])) {
      reach(target);
      row[letter++] = number[target];
    }
  }
  return result;
}

Dfa canonical(const Dfa& dfa) { return with_table(dfa, breadth_first(dfa)); }

Dfa with_table(const Dfa& dfa, BreadthFirst tables) {
  tables.table.shrink_to_fit();
  tables.outputs.shrink_to_fit();
  Dfa result = Dfa::moore(dfa.alphabet(), std::move(tables.table), 0, std::move(tables.outputs),
                          {dfa.output_names().begin(), dfa.output_names().end()})
                   .with_state_names(names_in_order(dfa, tables.order));
  return dfa.has_start() ? std::move(result) : std::move(result).without_start();
}

}  // namespace krohn
