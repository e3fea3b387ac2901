// constructions/build/find_registers.h — the search for blocks of registers whose contents tell the state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "krohn/constructions/build/based_action.h"

namespace krohn {

/// A register's content after a letter: another register's content, negated or not, or a constant, by its sign.
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
  /// Replaces the registers' contents by those after one more letter.
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

// Blocks of registers whose contents move as a group's elements do, but for
// arrows at which reading stops (MATH.md §4, "Registers").

/// Letters as permutations of at most five points such that words whose permutations multiply to the identity are
/// idempotents of the automaton; of such groups the smallest on the fewest points, by its left regular representation,
/// with the identity first. Nothing where none was found in so many steps, or with at most 256 arrows.
std::optional<RegisterArrows> group_of_idempotents(const TrackedStates& tracked, std::uint64_t most_work);

/// Which element of a group a word is, or whether one arrow is met before another when it is read from its end.
struct GroupBlock {
  bool tells_element = false;
  std::size_t one = 0, other = 0;  ///< arrows, by action · order + element; behind all of them: none
};

/// As many as the group has elements.
RegisterBlock registers_of(const GroupBlock& stops, const RegisterArrows& group);

/// When a word, read from its end, meets each arrow first: later than all of them those that it never meets, and none.
struct FirstMet {
  std::vector<std::size_t> when;
  int element = 0;

  FirstMet(const RegisterArrows& group, const std::vector<Action>& word);
};

/// Blocks whose contents tell the state behind every word, some from `known`, some new, none of them to spare. Nothing
/// if the search was given up, which would never end where there are none, or if states and contents would be more than
/// `most_states`. Every language whose idempotents do not cross has such blocks (MATH.md §4), maybe of too many
/// registers to be found. First small blocks by counterexamples: two words that are not told apart ask for blocks that
/// tell them, and a cover of all pairs of words so far, chosen from all blocks so far, is then tried on every word.
/// Then blocks of a group. Some seconds at most for automata of some hundred states; the same blocks every time.
std::optional<std::vector<RegisterBlock>> find_registers(const TrackedStates& tracked, std::vector<RegisterBlock> known,
                                                         std::size_t most_states);

}  // namespace krohn
