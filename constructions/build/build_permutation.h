// constructions/build/build_permutation.h — group automata by permutations of coordinates (Grazzi et al., Thm. 3).
#pragma once

#include <optional>

#include "krohn/constructions/actions/based_action.h"
#include "krohn/constructions/actions/key_style.h"
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

}  // namespace krohn
