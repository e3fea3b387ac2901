// simulate/check/recheck_reader.h — what claims about answers are checked against: whatever reads letters.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

using RecheckedNumbers = std::vector<double>;

class RecheckedReader {
 public:
  /// What is remembered after a word: of a network, per layer its numbers, column after column, and the label that they
  /// were read as, if any; of operations, one list of numbers, and beside it what was answered.
  struct Moment {
    std::vector<RecheckedNumbers> numbers;
    std::vector<std::optional<std::uint32_t>> labels;
    std::uint64_t phase = 0;  ///< letters since the network snapped, of one that snaps
    std::optional<std::uint32_t> said = {};
  };
  virtual ~RecheckedReader() = default;
  virtual Moment start() const = 0;
  virtual Moment step(const Moment& before, Letter letter) const = 0;
  /// A state of the network's automaton, or the number of a logit.
  virtual std::optional<std::uint32_t> read(const Moment& moment) const = 0;
};

}  // namespace krohn
