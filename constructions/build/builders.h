// constructions/build/builders.h — all the constructions, by theorem.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "krohn/automata/cascades/cascade.h"
#include "krohn/constructions/build/based_action.h"
#include "krohn/constructions/network/matrix.h"
#include "krohn/constructions/network/network.h"

namespace krohn {

// One coordinate per state, for every automaton (Grazzi et al., App. A.2;
// Ebrahimi & Memisevic, Prop. 2.2; the P of PD-SSM).

/// H ∈ R^n for the n reachable states, H_0 = e_{q0}, A(σ) the 0/1 matrix of the letter (columns are one-hot), B = 0.
/// Exact in every precision: each product is with 0 or 1 and each sum has one non-zero term. The norm of A exceeds 1 as
/// soon as a letter merges states. O(k n) time and memory.
Network build_one_hot(const Dfa& automaton);

/// H_0 = e_0 (or e_0 + e_labels + …) with unit codewords in that many copies, columns = 1.
Layer unit_layer(Label labels, std::uint32_t copies = 1);

/// W[i, j, k] = 1 iff state j goes to state i on letter k, over the reachable states in breadth-first order.
///
/// The one-hot network with a dense slice W[:, :, k] for every distinct letter action. Throws LimitError past 2^24
/// numbers.
Network build_bilinear(const Dfa& automaton);

/// The mode along which a tensor is cut into its non-zero fibres, each a rank-one term.
enum class FibreMode : std::uint8_t {
  kOutput,  ///< one term per (state, letter action): e_{jσ} ⊗ e_j ⊗ σ
  kInput,   ///< one term per (letter action, image): e_i ⊗ {j : jσ = i} ⊗ σ
  kLetter,  ///< one term per (state, next state): e_i ⊗ e_j ⊗ {σ : jσ = i}
};

/// W = Σ_r outputs[r] ⊗ inputs[r] ⊗ letters[r], 0/1 vectors given by their supports: a partition of the transition
/// table into rectangles of one colour. Letters that act alike share their terms.
struct CpFactors {
  FibreMode mode = FibreMode::kOutput;
  std::vector<std::vector<std::uint32_t>> outputs, inputs, letters;
  std::size_t rank() const { return outputs.size(); }
};

/// The factors by the fibres of one mode. O(n · actions).
CpFactors cp_factors(const Dfa& automaton, FibreMode mode);

/// The mode with the fewest terms, the earlier on a tie. About (1 − 1/e) m² for random state machines on m states and m
/// letters.
CpFactors smallest_cp_factors(const Dfa& automaton);

/// The one-hot network with those factors. Exact in every precision: each sum has one non-zero term. Throws LimitError
/// when terms times distinct actions pass 2^22.
Network build_factored(const Dfa& automaton);

// Permutations as reflections: Grazzi et al., Theorems 1 and 3.

/// How a letter is written: unset, its 0/1 matrix; set, exactly n − c reflections in that style (MATH.md §5). kDoubled
/// doubles the dimension. Every style but kUnit is exact in every precision.
struct PermutationOptions {
  std::optional<KeyStyle> keys;
};

/// On the reachable states themselves: H_0 = e_{q0}, one coordinate per state. Throws InputError naming the letter and
/// two states that it merges when a letter is no bijection. O(k n).
Network build_permutation(const Dfa& automaton, const PermutationOptions& options = {});

/// On the smallest action found among sums of quotients of the states (constructions/build/based_action.h), one
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

// Block-diagonal and diagonal recurrences.

struct BlockDiagonalOptions {
  /// Elementary steps of the search for congruences, after which the best product found so far counts.
  std::uint64_t max_steps = 100'000'000;
};

/// Congruences that together tell all states apart, with the least total number of classes found; empty when none have
/// fewer in all than there are states. Candidates are joins of congruences generated by a pair; products are searched
/// over pairs of candidates and a greedy cover.
std::vector<Congruence> parallel_decomposition(std::span<const Transformation> maps,
                                               const BlockDiagonalOptions& options = {});

/// One-hot in every factor: state dimension Σ n_i, A(σ) the block diagonal of the factors' 0/1 matrices, codewords with
/// one 1 per block. Z_6 takes 2 + 3. Exact in every precision. Throws InputError when no decomposition was found.
Network build_block_diagonal(const Dfa& automaton, const BlockDiagonalOptions& options = {});

/// Integers of some bits that wrap around, without a sign or in two's complement.
struct WrappingIntegers {
  unsigned bits = 8;
  bool is_signed = false;

  /// The integer that is the same modulo 2^bits.
  double operator()(std::uint64_t residue) const {
    const std::uint64_t values = std::uint64_t{1} << bits, number = residue & (values - 1);
    return static_cast<double>(number) - static_cast<double>(is_signed && number >= values / 2 ? values : 0);
  }
  friend bool operator==(const WrappingIntegers&, const WrappingIntegers&) = default;
};

/// "u8", "i16".
std::string to_string(const WrappingIntegers& integers);

// Cells h ← a h + b of integers that wrap around (MATH.md §4, Integers): exact in these, and in no other arithmetic.

/// The pair (a, b) of each action, modulo 2^bits; h starts at 0.
struct WrappingCell {
  unsigned bits = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> steps;
};

/// A cell of at most `max_bits` ≤ 16 bits whose residues tell the point, starting at point 0 and residue 0, with the
/// fewest bits. Tries all cells, up to multiples by odd numbers. Nothing where there is none, or the budget is spent.
std::optional<WrappingCell> wrapping_cell(std::span<const Transformation> maps, unsigned max_bits, StepBudget& budget);

/// Cells side by side that read the letter alone and together tell the states apart: for an abelian 2-group one for
/// each cyclic factor, h ← h + b; for other automata one, or one for each of some coarsest congruences that tell two
/// states apart. Throws InputError where no cells were found.
Network build_wrapping_cells(const Dfa& automaton, const WrappingIntegers& integers);

// Elementary abelian 2-groups as signs on the diagonal (Grazzi et al., Thm. 3;
// Ebrahimi & Memisevic, §2: real diagonal).

/// Transition group Z_2: one number, +1 or −1, and A(σ) = ±1, one reflection. Exact in every precision.
/// Throws InputError naming the group when it is another.
Network build_parity_scalar(const Dfa& automaton);

/// Transition group Z_2^k: k signs, A(σ) = diag(±1, …). Exact in every precision. Throws InputError as above.
Network build_real_diagonal(const Dfa& automaton);

// Group automata by integer matrices: exact without keys or roots, but with norm
// above 1 and no Householder form.

/// Abelian transition groups by powers of companion matrices: letter w of a factor Z_q, q = p^a, is C^w for the
/// companion matrix C of the cyclotomic polynomial Φ_q, and y is the class of x^y in Z[x]/Φ_q. Dimension Σ φ(p^a),
/// entries 0, ±1. Throws InputError when the transition group is not abelian, LimitError past 512 dimensions or 4096
/// states.
Network build_integral_cyclotomic(const Dfa& automaton);

/// Permutations of n points in n − 1 dimensions, the standard representation of S_n: point i < n is e_i and point n is
/// −(e_1 + … + e_{n−1}), so that all points sum to 0. On the action of build_permutation_base when there is one smaller
/// than the states (each component then saves one dimension). Throws InputError when a letter is no bijection or there
/// is one state only, LimitError past 512 dimensions or 4096 states.
Network build_integral_standard(const Dfa& automaton);
Network build_integral_standard(const Dfa& automaton, const BasedAction& action);

// Rotations, exact ones too.

/// One block per invariant factor Z_m of the transition group: a plane that letter w turns by the exact fraction w/m,
/// or a sign for Z_2. State dimension 2 per plane, 1 per sign; codeword y of Z_m at angle 2πy/m, H_0 at angle 0. Two
/// reflections per plane. Bit-exact only for m ∈ {1, 2, 4}: other angles drift (MATH.md §5).
/// Throws InputError when the transition group of the reachable states is not abelian.
Network build_rotation(const Dfa& automaton);

/// The same over the factors of prime-power order: more planes, but codewords farther apart. Z_60 takes 6 numbers with
/// least distance 1.18 where one plane has 0.10.
Network build_rotation_primary(const Dfa& automaton);

/// `build_rotation` with a repair that is not linear: after every K letters the state is replaced by the nearest
/// codeword (Network::snap_every). K is the number of letters for which MATH.md §5 ("Snapping") bounds the drift in
/// `precision` below half the least distance of two codewords. Throws InputError when not even one letter stays below
/// it.
Network build_rotation_snapped(const Dfa& automaton, Precision precision);

/// Any characters of the abelian transition group: a plane for harmonic k that letter w turns by Σ k_i w_i / m_i, a
/// sign where 2k = 0; `harmonics` are elements of the group, over the orders of `abelian_structure`. Throws InputError
/// when the group is not abelian or the harmonics do not tell all its elements apart.
Network build_harmonics(const Dfa& automaton, std::span<const AbelianStructure::Element> harmonics);

/// Ebrahimi's R2 form: a plane for every invariant factor, Z_2 too.
Network build_r2(const Dfa& automaton);

// Abelian transition groups as rotations of planes that rounding does not
// move (MATH.md §5, "Rotations that do not drift").

/// The planes of `build_rotation`, with codewords and weights that the search of exactness.h finds for the shifts
/// in use: bit-exact for words of every length in `precision`, read letter after letter with separate roundings, and in
/// no other arithmetic. Z_2 is a sign. A factor for which nothing is found is cut into factors of coprime orders, as
/// few numbers of state as possible: Z_60 takes two planes, of 5 and of 12. Throws InputError naming the group and the
/// order for which nothing was found, or when the transition group is not abelian.
Network build_rotation_locked(const Dfa& automaton, Precision precision);

/// The same onto grids: one number of state more, the constant 1, through which every row adds and takes away 1.5·2^k.
/// The matrices have norms of that size and no Householder form; what locks the rotation is only the rounding.
Network build_rotation_grid(const Dfa& automaton, Precision precision);

// Networks of cascades, of registers and of simple layers.

// One layer of a network for one layer of a prime cascade
// (automata/cascades/cascade.h): resets, cyclic groups, simple groups that are not abelian.

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
/// Z_m as one complex number turned by b/m, a 2×2 rotation: bit-exact in `precision` where exactness.h finds such
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

/// The network of a prime cascade (automata/cascades/cascade.h), for kPosition of a position cascade
/// (automata/cascades/holonomy.h), by simple layers. Throws InputError naming the first layer
/// that the spectrum does not allow. With kUnitCircle and kBlocks turns are bit-exact in `precision` where
/// exactness.h finds them (all shifts: p = 3, 5, 7 in fp32), read letter after letter, and nowhere otherwise.
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
