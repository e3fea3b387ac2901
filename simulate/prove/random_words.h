// simulate/prove/random_words.h — random words of the letters that may stand at each place, read side by side.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "krohn/simulate/prove/verify.h"
#include "krohn/simulate/run/letter_reader.h"
#include "krohn/simulate/words/word.h"

namespace krohn {

/// The letters of RandomWord(letters, seed, number), each that cannot stand where it comes left out; after so many one
/// after another the word ends.
class DrawnWord {
 public:
  static constexpr int kTries = 256;

  DrawnWord(const TrackedAutomaton& tracked, std::uint64_t seed, std::uint64_t number)
      : tracked_(&tracked), word_(tracked.automaton.letters(), seed, number), slice_(kSlice) {}

  /// The letter that follows in a state. Nothing where the word ends.
  std::optional<Letter> next(State state);

 private:
  static constexpr std::size_t kSlice = 1 << 10;

  const TrackedAutomaton* tracked_;
  RandomWord word_;
  std::uint64_t drawn_ = 0;
  std::vector<Letter> slice_;
};

/// The first letters of that word, no more than `length`.
Word drawn_word(const TrackedAutomaton& tracked, std::uint64_t seed, std::uint64_t number, std::uint64_t length);

/// Words 0 … words − 1 of that kind, read to their ends or the first failure. `told` hears of the letters so far and
/// may throw Interrupted. The same whatever the number of threads.
std::optional<RandomFailure> first_failure(const LetterReader& reader, const TrackedAutomaton& tracked,
                                           const RandomTest& asked,
                                           const std::function<void(std::uint64_t)>& told = {});

}  // namespace krohn
