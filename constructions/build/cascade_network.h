// constructions/build/cascade_network.h — the multi-layer network of a cascade (Grazzi Thm. 4).
#pragma once

#include <optional>

#include "krohn/automata/cascades/cascade.h"
#include "krohn/constructions/actions/key_style.h"
#include "krohn/constructions/network/network.h"

namespace krohn {

struct CascadeNetworkOptions {
  /// Unset: bijections are permutation matrices. Set: products of reflections written in this style.
  std::optional<KeyStyle> keys;
  /// Layers of resets hold their label's one-hot code as one row of width n: A = 1 or 0, so that a constant takes one
  /// reflection and not n.
  bool resets_in_rows = false;
};

/// One layer per cascade layer of width n: labels are one-hot in R^n (e_i + e_{n+i} in R^{2n} with doubled keys), a
/// bijection is its permutation matrix with B = 0, a constant c is A = 0, B = e_c. The wiring is the cascade's own.
/// Exact in every precision with permutation matrices and with un-normalised or doubled keys. `automaton` becomes the
/// oracle, and is not compared with the cascade: check_emulation does that. Throws InputError when its alphabet differs
/// or an action is neither a bijection nor a constant. A layer of `resets_in_rows` takes n² numbers. O(Σ actions · n +
/// tables).
Network cascade_network(const Dfa& automaton, const Cascade& cascade, const CascadeNetworkOptions& options = {});

}  // namespace krohn
