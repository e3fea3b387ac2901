// simulate/evaluate/lanes/lane_words.h — kLanes random words, read by a network and by its automaton side by side.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "krohn/simulate/evaluate/lanes/batch.h"

namespace krohn {

/// How kLanes words of one seed fared so far. The words are RandomWord(letters, seed, first), and so on by their
/// streams; they are made on the way, and what is kept does not grow with them.
class LaneWords {
 public:
  /// The automaton must outlive this, and have a letter.
  LaneWords(const Dfa& automaton, std::unique_ptr<LaneEvaluator> network,
            std::optional<InstructionSet> instructions = {});

  /// From the beginning, `words` ≤ kLanes words.
  void start(std::uint64_t seed, std::uint64_t first_stream, std::size_t words);
  /// Reads on until `length` letters of every word are read, or `most` of them now.
  void read_to(std::uint64_t length, std::uint64_t most);

  /// Letters read of every word.
  std::uint64_t position() const { return position_; }
  /// Adds one word, as far as it was read, to a row of a report.
  void add_to(LengthReport& report, std::size_t word) const;
  /// After how many letters the network was first in another state than the automaton.
  std::optional<std::uint64_t> failing_at(std::size_t word) const { return words_[word].failing_at; }

 private:
  struct WordSoFar {
    std::uint64_t right_letters = 0;
    std::optional<std::uint64_t> failing_at;
  };

  void differs(std::uint64_t position, std::size_t word, State state, State answer);
  bool output_is_right(State state, State answer) const;

  const Dfa& automaton_;
  std::unique_ptr<LaneEvaluator> network_;
  LaneKernels kernels_;
  std::vector<std::int32_t> table_;
  std::uint32_t letters_per_block_;
  std::array<std::uint64_t, kLanes> keys_{};
  std::array<State, kLanes> states_{}, answers_{};
  std::array<std::uint32_t, kLanes> right_{};
  std::array<WordSoFar, kLanes> words_;
  std::vector<Letter> letters_;
  std::vector<State> read_;
  std::uint64_t position_ = 0;
};

}  // namespace krohn
