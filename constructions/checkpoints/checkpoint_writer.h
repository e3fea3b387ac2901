// constructions/checkpoints/checkpoint_writer.h — fills the tensors of a checkpoint with exact numbers (MATH.md §8).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/build/based_action.h"
#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/groups/permutations/permutation.h"

namespace krohn {

/// The least power of 4 that is at least `least`.
std::uint32_t least_power_of_4(std::uint32_t least);

/// For a family, all switches as krohn writes them; sizes are the caller's.
CheckpointConfig config_of(CheckpointFamily family);

/// The weights of a model whose hidden vectors have, at every norm, the same number of coordinates that are not zero,
/// all equal, and a size that is a power of 4: RMSNorm makes the same power of two of each. An *input* is such a
/// coordinate. Everything is zero until it is set, norms are 1, convolutions pass the present token on.
class CheckpointWriter {
 public:
  /// An active coordinate: a power of two whose square leaves nothing of the norms' 10⁻⁶.
  static constexpr float kActive = 1024;
  static constexpr float kLogit = 64;

  /// `active` coordinates, a power of 4, at norms before the mixers and, unless `active_later` says otherwise, at the
  /// others. Throws LimitError when the weights would be more than 2^27 numbers.
  CheckpointWriter(const CheckpointConfig& config, std::uint32_t active, std::uint32_t active_later = 0);

  const CheckpointConfig& config() const { return config_; }

  // One layer. Entries of keys and queries before normalisation are ±64 or 0; with 4^j of them a key's norm is
  // exact.

  void set_key(std::uint32_t layer, std::uint32_t input, std::uint32_t householder, std::uint32_t head,
               std::uint32_t coordinate, float sign = 1);
  void set_query(std::uint32_t layer, std::uint32_t input, std::uint32_t head, std::uint32_t coordinate);
  /// β is 1 and is made 2; where the family does not double it, it is ½ and is made 1.
  void reflect(std::uint32_t layer, std::uint32_t input, std::uint32_t householder, std::uint32_t head);
  /// β is the sigmoid of `logit`, or twice that where the family doubles it.
  void set_beta(std::uint32_t layer, std::uint32_t input, std::uint32_t householder, std::uint32_t head, float logit);
  /// Where β has channels: 2 at this one, or 0.
  void set_erase(std::uint32_t layer, std::uint32_t input, std::uint32_t head, std::uint32_t coordinate, bool all);
  /// Empties the state of all heads with this input before anything is written. Precondition: a decay without a bound.
  void empty(std::uint32_t layer, std::uint32_t input);
  /// Makes the decay of this input, where there are decays, e^−softplus(`logit`). In bf16 only an integer is exact.
  void set_decay(std::uint32_t layer, std::uint32_t input, float logit);
  /// Where there is an output gate: one of these inputs is active with every token. What a head reads is multiplied by
  /// `open_gate()`.
  void open_gates(std::uint32_t layer, std::span<const std::uint32_t> inputs);
  float open_gate() const;
  /// The value that the first Householder writes.
  void set_value(std::uint32_t layer, std::uint32_t input, std::uint32_t head, std::uint32_t coordinate, float value);
  /// This value is that of the token before.
  void delay_value(std::uint32_t layer, std::uint32_t head, std::uint32_t coordinate);
  /// Adds to hidden coordinate `output` what the head reads, normalised, times `value`.
  void set_output(std::uint32_t layer, std::uint32_t head, std::uint32_t coordinate, std::uint32_t output, float value);

  struct Term {
    std::uint32_t coordinate;
    float factor;
  };
  /// A hidden unit of the MLP: where the sum of `when` over the inputs is 1, it adds `change` times kActive;
  /// where the sum is 0 or less it does nothing. One of `always` is active.
  void add_unit(std::uint32_t layer, std::span<const Term> when, std::span<const std::uint32_t> always,
                std::span<const Term> change);

  /// A unit that adds twice its size to the coordinate where that is negative.
  void forget_sign(std::uint32_t layer, std::uint32_t coordinate, std::span<const std::uint32_t> always);
  /// With set_output, makes an active coordinate of a head's only value, of which the norm makes √V and the gate a
  /// multiple.
  float unit_output() const;

  /// The token's hidden vector has these coordinates.
  void set_embedding(std::uint32_t token, std::uint32_t coordinate);
  /// The weight is a power of two unless it is said.
  void set_logit(std::uint32_t token, std::uint32_t coordinate, float weight = kLogit);

  Checkpoint finish() const;

 private:
  using AddTensor = std::function<void(const std::string&, const std::vector<float>&, std::vector<std::uint64_t>)>;
  struct Layer {
    std::vector<float> query, key, value, beta, output, gate, up, down, value_taps;
    std::vector<float> decay, output_gate;  ///< a row for every head, or one row for all; a row for every value
    std::uint32_t units = 0;
  };
  void add_gates(const Layer& layer, const std::string& mixer, const AddTensor& add) const;

  CheckpointConfig config_;
  float scale_, later_scale_;  ///< an active coordinate after a norm before a mixer, and after the others
  std::vector<Layer> layers_;
  std::vector<float> embeddings_, head_;
};

/// Adds the automaton. Token i is letter i; then comes the token that begins words; then a token per tracked state.
Checkpoint with_automaton(Checkpoint checkpoint, const Dfa& automaton, const TrackedStates& tracked);

// ---- Permutations of points in the rows of a head's state, reflection by reflection.
//
// DeltaNet: point i is e_i + e_{n+i}, and a swap is one reflection with key ½(e_i − e_j + e_{n+i} − e_{n+j}).
// Gated DeltaProduct: its SiLU leaves no key with negative entries, so point i is (e_i, −e_i, e_i, −e_i) in blocks
// a, b, c, d, and a swap is two reflections with keys ½(a_i + b_j + c_i + d_j) and ½(a_j + b_i + c_j + d_i).
// The others, whose keys go through SiLU too, have one reflection, with key ½(e_i + e_j + e_{n+i} + e_{n+j}): it takes
// point i to minus point j, so that points are known up to their signs.

/// Coordinates of a key for n points, `starts` of which are written together at the beginning.
std::uint32_t key_dim_for_points(CheckpointConfig::Family family, Point n, std::uint32_t starts);
/// Householders per token.
std::uint32_t householders_for_points(CheckpointConfig::Family family, std::size_t swaps, std::uint32_t starts);

/// With this input, the head's state is permuted.
void write_swaps(CheckpointWriter& writer, std::uint32_t layer, std::uint32_t input, std::uint32_t head, Point n,
                 std::span<const Transposition> swaps);
/// Where β has channels: what the key of this input sees of the point is taken off it twice, or not at all. With a key
/// ½(e_i + e_j + e_{n+i} + e_{n+j}), twice at i and not at j: point i becomes minus point j, and j stays.
void write_erasure(CheckpointWriter& writer, std::uint32_t layer, std::uint32_t input, std::uint32_t head, Point n,
                   Point point, bool all);
/// With this input, the head's state, which is zero, becomes the sum of the points times `value`/2^j, 4^j entries being
/// in the key that writes them.
void write_start(CheckpointWriter& writer, std::uint32_t layer, std::uint32_t input, std::uint32_t head, Point n,
                 std::span<const Point> points, float value);

/// Throws LimitError when a key has more coordinates than the library's kernels take.
void require_key_dim(std::uint64_t key_dim, Point points);

}  // namespace krohn
