// simulate/operations/plan.h — a list of operations, compiled once: lists that depend on nothing are constants, those
// of the token alone a row for each token, plain copies are views, lists that nobody reads are left out, and the others
// are steps (simulate/operations/step_kernels.h) over numbers that share one arena. Constants and rows are laid out as
// the loops read them: outputs of a sum side by side.
#pragma once

#include <cstdint>
#include <vector>

#include "krohn/constructions/files/safetensors.h"
#include "krohn/simulate/arithmetic/numbers.h"
#include "krohn/simulate/operations/step_kernels.h"
#include "krohn/simulate/prove/claims/operations.h"

namespace krohn {

/// Words that a plan's second list of steps reads side by side, a word a lane.
inline constexpr std::uint32_t kPlanWords = 32;

/// Numbers of the format, those of bf16 in floats.
template <class Real>
struct OperationsPlan {
  /// Numbers that are remembered, or the logits, or others: a part of a space.
  struct Part {
    Space space = Space::kWord;
    std::uint32_t first = 0, size = 0;
    std::uint32_t to = 0;  ///< of what is remembered: its place in the memory
    bool is_there() const { return space == Space::kWord && first == to; }
  };

  /// Steps of one word in a row that are taken letter by letter, because they read what the letter before left: those
  /// between two turns, and their functions and matrices above all, may be taken for many letters side by side.
  struct Turn {
    std::size_t first = 0, end = 0;
    std::vector<Part> takes, gives;  ///< from steps before it, and for those behind it
    std::vector<Part> keep;
  };

  /// The steps of a token. The memory comes first among a word's own numbers; of words side by side every number
  /// is kPlanWords numbers, and the token's row lies behind the others.
  struct Steps {
    std::vector<Step> list;
    std::size_t for_memory = 0;  ///< the steps from here on are needed for the logits alone
    std::vector<std::uint32_t> ends{0}, places;
    Numbers<Real> weights;
    std::vector<Part> keep;
    Part logits;
    std::uint32_t own = 0;  ///< numbers of a word
  };

  Numbers<Real> constants;
  std::uint32_t row = 0;                              ///< numbers of a token's row
  std::uint32_t tokens = 0;                           ///< rows, a multiple of eight
  Numbers<Real> rows, columns;                        ///< row after row; number after number
  std::vector<Part> looked_up;                        ///< the lists of a row, without the room between them
  std::vector<std::uint32_t> letters, before, after;  ///< rows of the tokens
  Numbers<Real> start;
  Steps one, words;
  /// Words side by side share constants, but each has its own row looked up: not worth it where rows are most of what
  /// is read, as matrices are that letters choose.
  bool shares = false;
  /// Empty where too little is left between them. `by_letters`: even of many words, each is better read by these, for
  /// the memories of words side by side fill the caches.
  std::vector<Turn> turns;
  bool by_letters = false;
};

/// Real is double for fp64 and float for fp32 and bf16. `in_place`: steps may write their results where these are
/// remembered (Step::kept). Throws InputError as StatedLists, and LimitError for more numbers than 32 bits count.
template <class Real>
OperationsPlan<Real> plan_operations(const Operations& operations, const TensorFile& tensors, bool in_place);

}  // namespace krohn
