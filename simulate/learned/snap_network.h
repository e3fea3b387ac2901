// simulate/learned/snap_network.h — the exact construction nearest to what a network has learned. A construction is
// near when a linear map takes its code to the learned code: then both are the same representation of the automaton, up
// to a change of basis.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "krohn/constructions/network/network.h"
#include "krohn/constructions/network/precision.h"
#include "krohn/simulate/learned/state_centres.h"

namespace krohn {

struct SnapOptions {
  Precision precision = Precision::kFp32;
  double enough = 0.99;                     ///< constructions that explain so much of the code are near
  std::optional<std::string> construction;  ///< take this one, however near
};

/// A construction beside the learned code.
struct SnapChoice {
  std::string construction;
  std::string note;  ///< of "harmonics": which
  std::uint64_t state_numbers = 0;
  double explained = 0;   ///< `explained_share` of the learned centres
  bool is_exact = false;  ///< bit-exact for words of every length, letter after letter, in the precision
};

struct SnapResult {
  std::vector<SnapChoice> choices;
  std::size_t chosen = 0;
  Network network;
};

/// Constructions of one layer that the planner has for the automaton, and for an abelian group the plane of every
/// harmonic that carries a share of the learned code. Of those that explain enough, the bit-exact ones come first, then
/// those with fewest numbers of state. Throws InputError when no construction of one layer fits, or none of the name.
SnapResult snap_network(const Dfa& automaton, const StateCentres& centres, const SnapOptions& options = {});

}  // namespace krohn
