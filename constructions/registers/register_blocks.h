// constructions/registers/register_blocks.h — registers beside the states of an automaton, and what words make of both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "krohn/constructions/actions/tracked_states.h"

namespace krohn {

/// What a letter makes of a register: what another held, negated or not, or a constant, by its sign.
struct RegisterMove {
  std::optional<std::size_t> from;
  bool is_negative = false;
};

/// Registers of ±1 that no letter leads out of. No action moves one register into two. Behind a word a register holds
/// what an automaton finds that reads the word from its end, with the registers as states and the moves of letters as
/// its arrows, which are one to one: the constant where it stops, or what the register in which it comes to the
/// beginning held at the start, negated as the moves on the way say.
struct RegisterBlock {
  std::vector<std::vector<RegisterMove>> moves;  ///< by action and register
  std::string start;                             ///< by register, 1 where it holds −1 and else 0

  std::size_t size() const { return start.size(); }
  /// What the registers held becomes what they hold behind one more letter.
  void move(Action action, const char* held, char* holds) const {
    for (const RegisterMove& move : moves[action])
      *holds++ = static_cast<char>((move.from ? held[*move.from] : 0) ^ static_cast<char>(move.is_negative));
  }
};

/// A block without its constants: the arrows of the automaton that reads from the end, by action and register; less
/// than 0 where there is none.
using RegisterArrows = std::vector<std::vector<int>>;

/// The states of an automaton and all registers side by side that words lead to, in breadth-first order.
struct RegisterStates {
  struct Step {
    std::size_t before;
    Action action;
  };
  std::vector<Label> labels;
  std::vector<std::string> contents;  ///< of all blocks, one after another
  std::vector<Step> steps;            ///< how each is reached first; the first by the empty word
  bool is_complete = false;           ///< false: there are more than the limit, and these are its first

  /// Two that have the same contents and other labels: the first ones found, at most that many pairs. O(states)
  /// times the different labels of one contents.
  std::vector<std::pair<std::size_t, std::size_t>> confusions(std::size_t most) const;
  std::vector<Action> word_to(std::size_t at) const;
};

/// O(limit · actions · registers).
RegisterStates register_states(const TrackedStates& tracked, std::span<const RegisterBlock> blocks, std::size_t limit);

}  // namespace krohn
