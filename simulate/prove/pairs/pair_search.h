// simulate/prove/pairs/pair_search.h — the breadth-first search behind certificate 2 of MATH.md §5: pairs of a state to
// compare with and all that a machine remembers, whatever the machine is. Networks in every arithmetic, anything that
// reads letters, and the automaton that a network is: all are found by this search; ranks and devices have their own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/network/network.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/run/letter_reader.h"

namespace krohn {

/// The pairs that a search expands together, so that the memory that their successors need is asked for in advance. A
/// wrong answer is noted before any of their successors is inserted: searches elsewhere do the same, and count alike.
inline constexpr std::uint32_t kPairsAtOnce = 64;

/// The time is that of groups/base/time_limit.h.
struct PairLimits {
  std::uint64_t max_pairs = UINT64_MAX;
  std::uint64_t max_bytes = UINT64_MAX;         ///< of the pairs and their table
  std::uint64_t max_steps = UINT64_MAX;         ///< letters read
  std::function<void(std::uint64_t)> progress;  ///< pairs so far; may throw Interrupted
  std::uint32_t pairs_at_once = kPairsAtOnce;
  /// A level that was begun is read to its end when pairs run out: one letter more is proved, at the price of at most
  /// all steps made so far times the letters.
  bool ends_levels = true;
};

/// How a search ended.
struct PairSearchEnd {
  enum class Kind : std::uint8_t {
    kClosed,  ///< all pairs that words reach were found, by words of at most `length` letters, and all are right
    kWrong,   ///< `word` is a shortest one that is answered wrongly
    kLimit,   ///< all words of at most `length` letters are answered rightly; then `limit` was met
  };
  Kind kind = Kind::kClosed;
  std::uint64_t length = 0;
  std::uint64_t pairs = 0;     ///< found
  std::uint64_t complete = 0;  ///< with kLimit: of them, those that words of fewer than `length` letters reach
  Word word;
  State expected = 0;       ///< with kWrong: the state that the word leads to
  std::uint32_t given = 0;  ///< with kWrong: what the machine answered there
  std::string limit;        ///< "20,000,000 pairs", …
  std::uint64_t steps = 0;  ///< letters read

  /// The three ends; `pairs` were found by then.
  static PairSearchEnd closed(std::uint64_t pairs, std::uint64_t length);
  static PairSearchEnd wrong(std::uint64_t pairs, Word word, State expected, std::uint32_t given);
  static PairSearchEnd stopped(std::uint64_t pairs, std::uint64_t length, std::uint64_t complete, std::string limit);
};

/// The certificate that a search ends with, wherever it ran.
Certificate certificate_of(PairSearchEnd end, const CertifyOptions& options);

/// The machine itself as an automaton. Pairs are met in the order of their numbers and of letters, so that the table
/// fills from its beginning.
struct TableOfSteps {
  std::vector<std::uint32_t> answers;  ///< by pair
  std::vector<State> table;
};

/// The search against an automaton. Pairs are numbered as they are met, so each level is a range of numbers. A pair
/// costs its state and memory, 4 bytes for its parent and at most 16 of table; letters are not stored.
PairSearchEnd reach_pairs(const LetterReader& machine, const TrackedAutomaton& tracked, const PairLimits& limits);

/// The search of the machine alone: its answer is the state of the pair, and nothing is wrong.
PairSearchEnd reach_pairs(const LetterReader& machine, TableOfSteps& steps, const PairLimits& limits);

/// Certificate 2, *closed reachable set*: breadth-first search over pairs (automaton state, all numbers of all layers,
/// and the labels that numbers alone do not tell) under the actual arithmetic, −0 counted as +0. It ends: proved. It
/// meets a wrong answer: refuted by a shortest word. It meets a limit: proved up to the last depth that it completed,
/// with `limit` set. A pair costs 4 bytes for the automaton's state, the bytes of the numbers, 4 for its parent and at
/// most 16 of table.
Certificate certify_reachable_set(const Network& network, const CertifyOptions& options);

}  // namespace krohn
