// simulate/tasks/task_content.h — the input part of a sample, as a pure function of (seed, index, position).
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "krohn/automata/dfa/alphabet.h"

namespace krohn {

/// How the letters of an input follow from RandomWords, for whoever makes them elsewhere.
struct ContentPlan {
  enum class Kind : std::uint8_t {
    kUniform,      ///< letter t of RandomWord(letters, seed, index)
    kAlternating,  ///< at even t letter t/2 of RandomWord(letters, seed, 2·index), at odd t `letters` + letter t/2 of
                   ///< RandomWord(3, seed, 2·index + 1)
    kSpaced,       ///< where t + 1 is i·period letter i − 1 of RandomWord(letters, seed, index), elsewhere `letters`
  };

  Kind kind = Kind::kUniform;
  Letter letters = 1;
  std::uint64_t period = 1;
};

/// Letters of the input, without special tokens. Counter-based (simulate/words/word.h): any slice alone, in any order.
class TaskContent {
 public:
  virtual ~TaskContent() = default;
  virtual ContentPlan plan() const = 0;
  /// Letters [first, first + out.size()) of sample `index`.
  virtual void fill(std::uint64_t seed, std::uint64_t index, std::uint64_t first, std::span<Letter> out) const = 0;

  /// Which letters may stand at a position depends on it modulo this alone.
  virtual std::uint64_t period() const { return 1; }
  virtual bool may_stand(Letter letter, std::uint64_t position) const = 0;
};

/// Uniform over letters 0 … letters−1.
std::unique_ptr<TaskContent> uniform_content(Letter letters);

/// Digits 0 … m−1 at even positions, the operators m, m+1, m+2 at odd ones, each uniform.
std::unique_ptr<TaskContent> alternating_content(Letter m);

/// Uniform over 0 … letters−1 where the position, counted from 1, is a multiple of `period`; the letter `letters`
/// (a pause) elsewhere (Grazzi E.2.1).
std::unique_ptr<TaskContent> spaced_content(Letter letters, std::uint64_t period);

}  // namespace krohn
