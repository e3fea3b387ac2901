// constructions/diagonal_cascade.h — multi-layer networks with diagonal transition matrices (Sarrof et al. 2024 for
// [0,1]; Krohn–Rhodes for the rest; MATH.md §4).
#pragma once

#include "automata/cascade.h"
#include "constructions/network.h"
#include "constructions/precision.h"

namespace krohn {

/// Where the eigenvalues of every transition matrix lie.
enum class Spectrum : std::uint8_t {
  kUnitInterval,  ///< [0, 1]: for aperiodic automata
  kSigned,        ///< [−1, 1]: when all subgroups are 2-groups
  kUnitCircle,    ///< complex, modulus 0 or 1: when all subgroups are solvable
};

/// The network of a prime cascade (automata/prime_cascade.h). A reset layer is one-hot: the identity is A = I, the
/// constant c is A = 0, B = e_c. A shift layer of Z_2 is one number with A = ±1; of Z_p, p > 2, one complex number
/// turned by b/p, as a 2×2 rotation. Throws InputError naming the first layer whose shifts the spectrum does not allow,
/// and when a layer is neither a reset nor a shift layer. Resets and signs are exact in every precision; turns in
/// `precision`, read letter after letter, where locked_rotation.h finds them (all shifts: p = 3, 5, 7 in fp32), and
/// nowhere otherwise.
Network diagonal_cascade_network(const Dfa& automaton, const Cascade& prime_cascade, Spectrum spectrum,
                                 Precision precision = Precision::kFp32);

}  // namespace krohn
