// simulate/evaluate/lanes/lane_program.h — one layer of a network as tables that many words read side by side, one word
// a lane.
//
// In one step every lane has its own action. What the forms of simulate/arithmetic/apply.h do is cut into stages that
// run on all lanes; a lane whose action has no part in a stage is left as it is. A stage finds the weights of every
// lane in tables with an entry per action. So the operations of one lane, and their order, are those of
// simulate/arithmetic/apply.h.
//
// Plain data without a member function: the kernels are compiled for several instruction sets, and no inline function
// may exist in a version that the processor at hand lacks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace krohn {

/// Words that run side by side.
inline constexpr std::size_t kLanes = 64;

/// Integers as wide as the numbers, so that both fill the same registers.
template <class Number>
struct LaneIndexOf;
template <>
struct LaneIndexOf<float> {
  using type = std::int32_t;
};
template <>
struct LaneIndexOf<double> {
  using type = std::int64_t;
};
template <class Number>
using LaneIndex = typename LaneIndexOf<Number>::type;

enum class LaneStageKind : std::uint8_t {
  kMoves,       ///< y_i = Σ ± x_j over the j that go to i, in increasing j
  kReflection,  ///< x ← x − k (β kᵀx)
  kRotation,    ///< two coordinates
  kDiagonal,
  kDense,  ///< a square block on the diagonal
  kZero,   ///< x ← +0
  kAdd,    ///< x ← x + b
  kSet,    ///< x ← b: zero and add in one, where no action does only one of them
};

/// Bits of a support or a bit pattern that one table entry holds.
inline constexpr std::uint32_t kLaneBits = 31;

/// Tables have `stride` entries each, one after another; those of a stage begin at `numbers` and `indices`.
template <class Number>
struct LaneStage {
  LaneStageKind kind = LaneStageKind::kZero;
  /// 0: all actions take part. Otherwise the bit of LaneProgram::flags that those who take part have. A reflection
  /// needs none: who has no part has an empty support.
  std::uint32_t flag = 0;
  std::uint32_t first = 0, size = 0;  ///< coordinates first … first + size − 1 of every column
  /// kMoves: where the sum of each coordinate starts (+0 without a source, otherwise −0), or none where every
  /// coordinate has one source; then the sign of each source where has_signs. kReflection: the key at each of
  /// `positions`, then β where has_beta. kRotation: cosine, sine. kDiagonal: size. kDense: size², by rows. kAdd and
  /// kSet: one per number of the state.
  const Number* numbers = nullptr;
  /// kMoves: the target of each source. kReflection, where has_supports: the positions that the key has, kLaneBits to
  /// a table; without, every action has all.
  const LaneIndex<Number>* indices = nullptr;
  /// kReflection: the coordinates that some key has, increasing. kMoves: for each target, how many sources some action
  /// has for it, then these sources, increasing; has_few_pairs where these are less than half of all pairs.
  const std::uint32_t* positions = nullptr;
  std::uint32_t position_count = 0;
  bool has_sums = false, has_signs = false, has_few_pairs = false, has_beta = false, has_supports = false;
  // kDiagonal, for arithmetics in which a product with one may round: a flag of the actions that multiply, where those
  // that do not have ones (0: all multiply); and whether what is ±1 is a sign, with which nothing is multiplied.
  std::uint32_t member_flag = 0;
  bool only_signs = false;
};

/// How labels are found without looking at every codeword.
enum class LaneDecoding : std::uint8_t {
  kBits,   ///< codewords of zeros and ones: the bits, hashed
  kGuess,  ///< the codeword that the action should have led to
};

template <class Number>
struct LaneProgram {
  std::uint32_t dimension = 0, columns = 0;
  std::uint32_t actions = 0;  ///< entries in use; `stride` is that, rounded up
  std::uint32_t stride = 0;
  const LaneIndex<Number>* flags = nullptr;  ///< by action; none when no stage has a flag
  const LaneStage<Number>* stages = nullptr;
  std::uint32_t stage_count = 0;

  std::uint32_t contexts = 0;                    ///< this number itself stands for an unknown one
  const LaneIndex<Number>* action_of = nullptr;  ///< by context, the unknown one too; none where they are the same
  bool may_hold = false;                         ///< whether contexts can be unknown

  LaneDecoding decoding = LaneDecoding::kGuess;
  std::uint32_t codewords = 0;  ///< this number itself stands for "none"
  /// A state whose squared distance to a codeword, as the kernels compute it, is below this has no other one nearest.
  Number accepted = 0;
  // kBits: the slot of a pattern is (pattern · multiplier mod 2^32) >> shift; a slot that is empty holds the pattern
  // −1.
  std::uint32_t multiplier = 0, shift = 0, slots = 0;
  const LaneIndex<Number>* patterns = nullptr;
  const LaneIndex<Number>* codeword_of_slot = nullptr;
  // kGuess: guesses[action · (codewords + 1) + codeword before]; entry e of all codewords from e · codeword_stride on.
  std::uint32_t guess_count = 0;
  const LaneIndex<Number>* guesses = nullptr;
  const Number* entries = nullptr;
  std::uint32_t codeword_stride = 0;

  std::uint32_t labels = 0;                     ///< this number itself stands for an unknown one
  const LaneIndex<Number>* label_of = nullptr;  ///< by codeword, "none" too; none where they are the same
  // The context of the layer above is next[context · (labels + 1) + label before], and the node of the readout
  // readout[node · (labels + 1) + label]; without a readout, labels are states.
  std::uint32_t next_count = 0, readout_count = 0;
  const LaneIndex<Number>* next = nullptr;
  const LaneIndex<Number>* readout = nullptr;
};

/// Which labels a run is asked for.
enum class LaneLabels : std::uint8_t { kNone, kLast, kAll };

/// `steps` letters of kLanes words through one layer.
template <class Number>
struct LaneRun {
  const std::uint32_t* contexts = nullptr;  ///< of step t from contexts + t · context_stride on
  std::size_t context_stride = kLanes;
  std::size_t steps = 0;
  Number* state = nullptr;    ///< [columns · dimension][kLanes]
  Number* scratch = nullptr;  ///< [columns · dimension + 2 · dimension][kLanes]
  LaneLabels decoded = LaneLabels::kAll;
  std::uint32_t* codewords = nullptr;  ///< [kLanes]: those found last; guesses start from them
  std::uint32_t* labels = nullptr;     ///< [kLanes]: before and after
  std::uint32_t* above = nullptr;      ///< [steps][kLanes], or none: the contexts of the layer above
  std::uint32_t* nodes = nullptr;      ///< [steps][kLanes], or none: nodes of the readout, before and after
  /// The exact answer for one lane where the quick one is not certain: a codeword, or LaneProgram::codewords for none.
  std::uint32_t (*resolve)(void* owner, std::size_t lane, std::uint32_t action) = nullptr;
  void* owner = nullptr;
};

}  // namespace krohn
