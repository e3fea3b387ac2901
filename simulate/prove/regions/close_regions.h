// simulate/prove/regions/close_regions.h — the search for closed regions: boxes of memories that hold the memory after
// every word, and on which every answer is right, whatever the runtime (interval_lists.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "krohn/constructions/files/safetensors.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/claims/operations.h"
#include "krohn/simulate/run/letter_reader.h"

namespace krohn {

struct RegionSearch {
  std::optional<ClosedRegions> closed;
  std::uint64_t edges = 0;    ///< boxes of words that were found inside a region, those from the start too
  std::string why_not;        ///< of what was not closed
  std::optional<Word> wrong;  ///< a word that was met and is answered wrongly, as operations state
};

/// Products of intervals for one search.
inline constexpr std::uint64_t kRegionWork = 400'000'000;

/// Regions around samples, one for each state and the last letters before it, or for each cluster of memories, grown by
/// what sticks out until words of some letters lead from every region into one; with more letters, and more clusters,
/// where it fails. `format`: kFp32, or kBf16 or kFp16 for runtimes that may round to it. `most_work` products of
/// intervals are computed, about, or what the time allows. States of the regions are those of `tracked`.
RegionSearch close_regions(const Operations& operations, const TensorFile& tensors, const TrackedAutomaton& tracked,
                           Precision format = Precision::kFp32, std::uint64_t most_work = kRegionWork);

/// A word that leads two states, between which some word tells, to themselves: a recurrence that adds and scales by
/// what letters choose alone has no closed regions then, whatever their shape (docs/MATH.md §5). Nothing where there is
/// none.
std::optional<Word> word_that_fixes_two_states(const TrackedAutomaton& tracked);

}  // namespace krohn
