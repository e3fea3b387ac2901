// constructions/build/build_permutation.h — permutations as reflections: Grazzi et al., Theorems 1 and 3.
#pragma once

#include <Eigen/Core>

#include <optional>

#include "krohn/constructions/actions/based_action.h"
#include "krohn/constructions/actions/permutation_matrix.h"
#include "krohn/constructions/network/network.h"

namespace krohn {

/// How a letter is written: unset, its 0/1 matrix; set, exactly n − c reflections in that style (MATH.md §5). kDoubled
/// doubles the dimension. Every style but kUnit is exact in every precision.
struct PermutationOptions {
  std::optional<KeyStyle> keys;
};

/// On the reachable states themselves: H_0 = e_{q0}, one coordinate per state. Throws InputError naming the letter and
/// two states that it merges when a letter is no bijection. O(k n).
Network build_permutation(const Dfa& automaton, const PermutationOptions& options = {});

/// On the smallest action found among sums of quotients of the states (constructions/actions/based_action.h), one
/// column per base point: H_0 = [e_{b1} … e_{bk}]. The word problem of S_n takes n × (n−1) numbers instead of n!.
/// Codewords have entries 0 and 1, least distance √2 at least. Throws InputError when no action is smaller than the
/// states.
Network build_permutation_base(const Dfa& automaton, const PermutationOptions& options = {});
Network build_permutation_base(const Dfa& automaton, const BasedAction& action, const PermutationOptions& options);

/// The paper's own H_0 = (1, …, n)ᵀ, on that smallest action, or else on the states: one column, a codeword for every
/// element of the group. The least distance is √2 against a norm of √(n³/3): relative margin 0.19 at n = 5, where
/// one-hot has 1.41. Exact while n fits the significand. Throws LimitError past 2^24 numbers of codewords.
Network build_permutation_vector(const Dfa& automaton, const PermutationOptions& options = {});
Network build_permutation_vector(const Dfa& automaton, const BasedAction& action, const PermutationOptions& options);

// Abelian transition groups by signed permutations of the coordinates:
// exact in every precision, norm 1.

/// One block per factor of prime-power order (MATH.md §2): Z_{2^a} by the negacyclic shift of 2^{a−1} coordinates
/// (after the last comes minus the first), other Z_{p^a} by the cyclic shift of p^a. Codewords have one entry ±1 per
/// block. Z_60 takes 2 + 3 + 5 = 10 numbers and 8 reflections for its generator. Throws InputError when the transition
/// group is not abelian, LimitError past the codeword limit.
Network build_signed_permutation(const Dfa& automaton);

// Counting modulo m with one reflection per token and layer (Grazzi
// et al., Thm. 6).

/// Layer 1 is a sign that holds the parity of the position. Layer 2 is a plane: letter i at parity p reflects by
/// H(θ) = [cos θ, sin θ; sin θ, −cos θ] with θ(i,1) = (1−2i)π/m and θ(i,0) = (2i+1)π/m, so that y is at angle
/// (1−2y)π/m after an odd and 2yπ/m after an even number of letters (MATH.md §2). The parity chooses the code book,
/// which doubles the least distance. Not bit-exact. Throws InputError unless the transition group is cyclic.
Network build_two_layer_reflections(const Dfa& automaton);

/// H ∈ R^n moves by the orthogonal matrices of groups/representations/orthogonal_representation.h; codewords are the
/// orbit of H_0, and several may stand for one state. A_5 takes 3 dimensions (rotations of the icosahedron), S_n takes
/// n − 1. Not bit-exact in general: the entries are irrational. Throws InputError naming the letter that is not a
/// bijection, LimitError past 10,000 group elements.
Network build_orthogonal(const Dfa& automaton);

/// The matrix of an eigensolver with entries that are within 1e-12 of a multiple of ½ made so.
Eigen::MatrixXd without_noise(const Eigen::MatrixXd& matrix);

}  // namespace krohn
