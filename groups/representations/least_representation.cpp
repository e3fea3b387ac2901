#include "krohn/groups/representations/least_representation.h"

#include <algorithm>
#include <map>
#include <set>

#include "krohn/groups/error.h"
#include "krohn/groups/time_limit.h"

namespace krohn {
namespace {

constexpr std::uint64_t kIdentity = 1;  ///< the kernel that holds class 0 alone

std::uint64_t whole_group(const CharacterTable& table) {
  return table.classes() == 64 ? UINT64_MAX : (std::uint64_t{1} << table.classes()) - 1;
}

/// Sets of irreducibles by increasing index, each of which makes the joint kernel smaller, with at most `most`
/// reflections for any letter.
class ReflectionSearch {
 public:
  ReflectionSearch(const std::vector<RealIrreducible>& blocks, const std::set<std::uint32_t>& letters,
                   std::uint64_t max_steps)
      : blocks_(blocks), letters_(letters), max_steps_(max_steps) {}

  bool find(std::uint64_t kernel, std::uint32_t most) {
    most_ = most;
    failed_.clear();
    chosen_.clear();
    return extend(kernel, 0, std::vector<std::uint32_t>(letters_.size(), 0));
  }

  std::vector<std::uint32_t> dimensions() const {
    std::vector<std::uint32_t> result;
    for (const std::size_t i : chosen_) result.push_back(blocks_[i].dimension);
    return result;
  }

 private:
  bool extend(std::uint64_t kernel, std::size_t from, const std::vector<std::uint32_t>& used) {
    if (kernel == kIdentity) return true;
    if (++steps_ > max_steps_) throw LimitError("too many sets of irreducible representations");
    TimeLimit::check();
    if (!failed_.insert({kernel, from, used}).second) return false;
    for (std::size_t i = from; i < blocks_.size(); ++i) {
      if ((kernel & blocks_[i].kernel) == kernel) continue;
      std::vector<std::uint32_t> more = used;
      bool fits = true;
      std::size_t at = 0;
      for (const std::uint32_t letter : letters_) fits = (more[at++] += blocks_[i].moved[letter]) <= most_ && fits;
      if (!fits) continue;
      chosen_.push_back(i);
      if (extend(kernel & blocks_[i].kernel, i + 1, more)) return true;
      chosen_.pop_back();
    }
    return false;
  }

  struct Place {
    std::uint64_t kernel;
    std::size_t from;
    std::vector<std::uint32_t> used;
    auto operator<=>(const Place&) const = default;
  };

  const std::vector<RealIrreducible>& blocks_;
  const std::set<std::uint32_t>& letters_;
  std::uint64_t max_steps_, steps_ = 0;
  std::uint32_t most_ = 0;
  std::set<Place> failed_;
  std::vector<std::size_t> chosen_;
};

}  // namespace

LeastRepresentation least_faithful_dimension(const CharacterTable& table) {
  const std::vector<RealIrreducible> blocks = table.real_irreducibles();
  // Dijkstra's search over joint kernels.
  std::map<std::uint64_t, LeastRepresentation> best{{whole_group(table), {}}};
  std::set<std::pair<std::uint64_t, std::uint64_t>> queue{{0, whole_group(table)}};
  while (!queue.empty()) {
    TimeLimit::check();
    const auto [dimension, kernel] = *queue.begin();
    queue.erase(queue.begin());
    if (kernel == kIdentity) return best[kernel];
    for (const RealIrreducible& block : blocks) {
      const std::uint64_t smaller = kernel & block.kernel;
      if (smaller == kernel) continue;
      const auto known = best.find(smaller);
      if (known != best.end() && known->second.value <= dimension + block.dimension) continue;
      if (known != best.end()) queue.erase({known->second.value, smaller});
      LeastRepresentation next = best[kernel];
      next.value += block.dimension;
      next.blocks.push_back(block.dimension);
      queue.emplace(next.value, smaller);
      best[smaller] = std::move(next);
    }
  }
  throw Error("no sum of all irreducible representations is faithful; please report this");
}

LeastRepresentation least_reflections(const CharacterTable& table, std::span<const Permutation> letters,
                                      std::uint64_t max_steps) {
  const std::vector<RealIrreducible> blocks = table.real_irreducibles();
  std::set<std::uint32_t> classes;
  for (const Permutation& letter : letters) classes.insert(table.class_of(letter));
  ReflectionSearch search(blocks, classes, max_steps);
  std::uint32_t most = 0;
  while (!search.find(whole_group(table), most)) ++most;
  return {most, search.dimensions()};
}

std::uint64_t least_faithful_dimension(const std::vector<Integer>& invariants) {
  std::uint64_t dimension = 0;
  for (const Integer& d : invariants) dimension += d == 2 ? 1 : 2;
  return dimension;
}

}  // namespace krohn
