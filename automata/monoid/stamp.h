// automata/monoid/stamp.h — the stamp of an automaton: not only its monoid, but which elements the words of each length
// give (Chaubard, Pin & Straubing 2006; MATH.md §4).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "krohn/groups/transformations/transformation_monoid.h"

namespace krohn {

/// The sets η(Σ), η(Σ²), … of a monoid enumerated with one generator per letter. They repeat sooner or later.
class Stamp {
 public:
  /// Needs `monoid.complete()`. O(powers until they repeat, at most 4096, · elements · letters).
  explicit Stamp(const TransformationMonoid& monoid);

  /// The least s with η(Σ^s) = η(Σ^2s); 0 when the powers did not repeat in time.
  std::uint64_t stability_index() const { return index_; }

  /// An element of η(Σ^s) that acts with a cycle, if there is one: the stamp is quasi-aperiodic iff there is none.
  /// Needs a stability index.
  std::optional<TransformationMonoid::Element> stable_cycle() const;

  /// The least t such that no word whose length is a multiple of t acts with a cycle: with positions counted modulo t
  /// the rest is aperiodic. 1 exactly for aperiodic monoids; 0 when there is none, or no stability index.
  std::uint64_t position_period() const;

 private:
  bool has_cycle_at_multiples(std::uint64_t t) const;

  std::vector<std::vector<bool>> powers_;  ///< η(Σ^(i+1)), each once
  std::size_t start_ = 0;                  ///< powers_[start_] follows powers_.back()
  std::uint64_t index_ = 0;
  std::vector<bool> cyclic_;  ///< whether an element acts with a cycle
};

/// True if some power of the map moves a point along a cycle of length at least 2. O(n log n).
bool acts_with_cycle(const Transformation& map);

}  // namespace krohn
