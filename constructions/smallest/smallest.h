// constructions/smallest/smallest.h — proved lower bounds on networks for a language, beside what krohn builds
// (docs/build.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/smallest/finite_values.h"
#include "krohn/constructions/smallest/hankel_rank.h"

namespace krohn {

/// One bound: in networks of the model, no fewer of what is counted will do.
struct SizeBound {
  std::string counted;  ///< "numbers of state"
  std::string model;    ///< which networks the bound is about
  std::uint64_t at_least = 0;
  std::string because;
  /// The least that krohn builds in the same model, and how; nothing when it builds none.
  std::optional<std::uint64_t> built;
  std::string construction;
  bool is_impossible = false;  ///< no number is enough, and `because` says why

  /// Bound and plan meet.
  bool is_optimal() const { return !is_impossible && built == at_least; }
  /// "3", or "none".
  std::string least() const { return is_impossible ? "none" : std::to_string(at_least); }
};

struct Smallest {
  std::vector<SizeBound> bounds;
  std::vector<std::string> limits;  ///< what kept a bound from being found
  std::optional<HankelRank> rank;
  std::optional<FiniteValuesBound> finite_values;
};

/// All bounds that apply to networks that show `shown` (constructions/smallest/hankel_rank.h) after every word. All
/// states must be reachable, and different ones distinguished by what is shown after some word. Bounds whose computing
/// meets a limit are left out, with the limit; every witness that is kept was checked. Throws Error should a network
/// that was built be smaller than a bound.
Smallest smallest(const Dfa& automaton, std::span<const std::uint32_t> shown);

}  // namespace krohn
