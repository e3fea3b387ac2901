// constructions/build/cascade_network.h — networks of cascades, of registers and of simple layers.
#pragma once

#include <optional>

#include "krohn/automata/cascades/cascade.h"
#include "krohn/constructions/actions/permutation_matrix.h"
#include "krohn/constructions/build/build_block_diagonal.h"
#include "krohn/constructions/network/network.h"

namespace krohn {

// One layer of a network for one layer of a prime cascade
// (automata/cascades/prime_cascade.h): resets, cyclic groups, simple groups that are not abelian.

/// True if every action is the identity or a constant.
bool is_reset_layer(const CascadeLayer& layer);
/// True if every action is x ↦ x + b modulo the width.
bool is_shift_layer(const CascadeLayer& layer);

/// Each of these has the actions' transitions and starts at `initial`; the wiring is the caller's.

/// One-hot; the identity is A = I, the constant c is A = 0, B = e_c. Diagonal, exact in every precision.
Layer reset_layer(const CascadeLayer& layer, Label initial);
/// Z_2 as one number, A = ±1. Exact in every precision. As an integer that wraps around: 0 and what is 0 when it is
/// doubled, A = 1.
Layer sign_layer(const CascadeLayer& layer, Label initial, const std::optional<WrappingIntegers>& integers = {});
/// Z_m as one complex number turned by b/m, a 2×2 rotation: bit-exact in `precision` where locked_rotation.h finds such
/// numbers, and if m divides 4; otherwise it rounds.
Layer turn_layer(const CascadeLayer& layer, Label initial, Precision precision);
/// Z_m as a cyclic permutation of m numbers, whose eigenvalues are the m-th roots of unity. Exact in every precision.
Layer cyclic_layer(const CascadeLayer& layer, Label initial);
/// A group in the smallest orthogonal representation that tells its labels apart: A_5 as the rotations of an
/// icosahedron, in three dimensions. Rounds. Throws InputError when the actions are not permutations or need more than
/// `max_dimension` dimensions.
Layer orthogonal_layer(const CascadeLayer& layer, Label initial, std::uint32_t max_dimension);

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

// Multi-layer networks whose transition matrices have prescribed eigenvalues
// (Sarrof et al. 2024 for [0,1]; Krohn–Rhodes for the rest; MATH.md §4).

/// The transition matrices that are allowed.
enum class EigenvalueSet : std::uint8_t {
  kUnitInterval,  ///< diagonal in [0, 1]: for aperiodic automata
  kPosition,      ///< the same below one layer that counts positions: for quasi-aperiodic stamps
  kSigned,        ///< diagonal in [−1, 1]: when all subgroups are 2-groups
  kWrapping,      ///< diagonal in {0, 1}, of integers that wrap around: likewise
  kUnitCircle,    ///< complex diagonal, modulus 0 or 1: when all subgroups are solvable
  kCyclic,        ///< the same eigenvalues by cyclic permutations of p numbers: bit-exact, diagonal in another basis
  kBlocks,        ///< orthogonal blocks of at most 3 dimensions: when all simple divisors are cyclic or A_5
};

/// The network of a prime cascade (automata/cascades/prime_cascade.h), for kPosition of a position cascade
/// (automata/cascades/holonomy.h), by simple layers. Throws InputError naming the first layer
/// that the spectrum does not allow. With kUnitCircle and kBlocks turns are bit-exact in `precision` where
/// locked_rotation.h finds them (all shifts: p = 3, 5, 7 in fp32), read letter after letter, and nowhere otherwise.
Network diagonal_cascade_network(const Dfa& automaton, const Cascade& cascade, EigenvalueSet spectrum,
                                 Precision precision = Precision::kFp32, const WrappingIntegers& integers = {});

// One layer of numbers ±1, each a question about the word so far, that letters
// move one to one, negate or overwrite: for languages whose letters merge states.

/// A register holds a function f of the state with values ±1. A letter a makes it hold q ↦ f(q·a): what the register of
/// that function held, negated or not, or a constant. Where no two registers then hold what one held, A is a signed
/// partial permutation, of norm 1 and a product of reflections and projections, and B writes the constants. Registers
/// are closed under letters, and together tell the states apart. With at most 10 states all functions are tried,
/// otherwise the outputs, the single states and what letters make of them; where they do not tell the states apart,
/// registers that hold more of the word (find_registers.h). Exact in every precision. A language has registers exactly
/// where its idempotents do not cross (MATH.md §4). Throws InputError with words that cross; LimitError where none were
/// found within the limits of the search, and past 512 registers and 2,000 states.
Network build_registers(const Dfa& automaton);

}  // namespace krohn
