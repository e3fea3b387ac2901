#include <limits>
#include <utility>

#include "krohn/automata/operations/partition.h"
#include "krohn/groups/time_limit.h"

namespace krohn {
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

}  // namespace krohn
