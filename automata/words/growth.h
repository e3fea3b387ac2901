// automata/words/growth.h — how the number of accepted words grows with their length.
#pragma once

#include <cstdint>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

enum class GrowthKind : std::uint8_t {
  kFinite,       ///< finitely many words
  kPolynomial,   ///< length^degree, up to a constant
  kExponential,  ///< rate^length, up to a polynomial factor
};

/// The growth of the largest number of words of any one length up to N. The rate is the spectral radius of the
/// transition counts among useful states; its logarithm is the entropy of the language.
struct Growth {
  GrowthKind kind = GrowthKind::kFinite;
  std::uint32_t degree = 0;  ///< with kPolynomial
  double rate_at_least = 0;  ///< with kExponential; equal bounds, 1 and 1, with kPolynomial, 0 and 0 with kFinite
  double rate_at_most = 0;
};

/// Polynomial exactly when no two cycles of useful states meet; the degree is one less than the cycles on the best path
/// (Szilard, Yu, Zhang, Shallit 1992). The rate is enclosed by Collatz and Wielandt's quotients under power iteration,
/// which stops at a relative width of 1e−12, or wider after `max_iterations`. O(k n (log k + iterations)).
/// Throws InputError unless the automaton is an acceptor.
Growth growth(const Dfa& dfa, std::uint32_t max_iterations = 100'000);

}  // namespace krohn
