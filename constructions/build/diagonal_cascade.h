// constructions/build/diagonal_cascade.h — multi-layer networks whose transition matrices have prescribed eigenvalues
// (Sarrof et al. 2024 for [0,1]; Krohn–Rhodes for the rest; MATH.md §4).
#pragma once

#include "krohn/automata/cascades/cascade.h"
#include "krohn/constructions/network/network.h"
#include "krohn/constructions/network/precision.h"

namespace krohn {

/// What every transition matrix may be.
enum class EigenvalueSet : std::uint8_t {
  kUnitInterval,  ///< diagonal in [0, 1]: for aperiodic automata
  kPosition,      ///< the same below one layer that counts positions: for quasi-aperiodic stamps
  kSigned,        ///< diagonal in [−1, 1]: when all subgroups are 2-groups
  kUnitCircle,    ///< complex diagonal, modulus 0 or 1: when all subgroups are solvable
  kCyclic,        ///< the same eigenvalues by cyclic permutations of p numbers: bit-exact, diagonal in another basis
  kBlocks,        ///< orthogonal blocks of at most 3 dimensions: when all simple divisors are cyclic or A_5
};

/// The network of a prime cascade (automata/cascades/prime_cascade.h), for kPosition of a position cascade
/// (automata/cascades/position_cascade.h), by the layers of simple_layers.h. Throws InputError naming the first layer
/// that the spectrum does not allow. With kUnitCircle and kBlocks turns are bit-exact in `precision` where
/// locked_rotation.h finds them (all shifts: p = 3, 5, 7 in fp32), read letter after letter, and nowhere otherwise.
Network diagonal_cascade_network(const Dfa& automaton, const Cascade& cascade, EigenvalueSet spectrum,
                                 Precision precision = Precision::kFp32);

}  // namespace krohn
