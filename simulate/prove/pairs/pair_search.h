// simulate/prove/pairs/pair_search.h — the breadth-first search behind certificate 2 of MATH.md §5: pairs of a state to
// compare with and all that a machine remembers, whatever the machine is. Networks in every arithmetic, anything that
// reads letters, and the automaton that a network is: all are found by this search, and a device by its own copy of it.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/network/network.h"
#include "krohn/groups/base/record_set.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {

// The certificates that a breadth-first search over (automaton state, network
// state) ends with, wherever it ran.

/// All words reach these pairs, by words of at most `depth` letters.
Certificate proved_by_pairs(const CertifyOptions& options, std::uint64_t pairs, std::uint64_t depth);

/// The word is a shortest one that is read wrongly; `pairs` were found by then.
Certificate refuted_by_pairs(const CertifyOptions& options, std::uint64_t pairs, Word word, const FailingRun& run);

/// All words of fewer than `length` letters reach the first `complete` pairs; then the search met `limit`.
Certificate proved_up_to_depth(const CertifyOptions& options, std::uint64_t pairs, std::uint64_t length,
                               std::uint64_t complete, std::string limit);

/// The time is that of groups/base/time_limit.h.
struct PairLimits {
  std::uint64_t max_pairs = UINT64_MAX;
  std::uint64_t max_bytes = UINT64_MAX;         ///< of the pairs and their table
  std::uint64_t max_steps = UINT64_MAX;         ///< letters read
  std::function<void(std::uint64_t)> progress;  ///< pairs so far; may throw Interrupted
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
};

/// A machine has
///   std::size_t words() const                              how many words of 32 bits it remembers
///   Letter letters() const
///   Answer start(std::uint32_t* memory)                    writes what it remembers before the first letter
///   void load(const std::uint32_t* memory)                 makes a memory the current one
///   Answer step(Letter, bool asked, std::uint32_t* memory) reads a letter from the current memory
/// and says with pairs_at_once how many pairs to expand together (so that the memory that their successors need is
/// asked for in advance) and with kEndsLevels whether a level that was begun is read to its end when pairs run out: one
/// letter more is proved, at the price of at most all steps made so far times the letters. One whose steps cost less
/// together also has
///   void ask(const std::uint32_t* memory, Letter, bool asked)   a step to come, in this order
///   void foresee()                                              makes those that were asked for, and forgets others
///
/// A truth has
///   State initial() const;  bool may_follow(State, Letter) const;  bool is_asked(State, Letter) const
///   State next(State, Letter, Answer) const;  bool is_right(State after, Answer) const
///
/// A witness is told every pair and every step: fresh(index, answer) and step(index).
struct NoWitness {
  void fresh(RecordSet::Index, std::uint32_t) {}
  void step(RecordSet::Index) {}
};

/// Pairs are numbered as they are met, so each level of the search is a range of numbers. A pair costs its state and
/// memory, 4 bytes for its parent and at most 16 of table; letters are not stored.
template <class Machine, class Truth, class Witness = NoWitness>
class ReachablePairs {
 public:
  ReachablePairs(Machine& machine, Truth truth, const PairLimits& limits, Witness witness = {})
      : machine_(machine),
        truth_(std::move(truth)),
        limits_(limits),
        witness_(std::move(witness)),
        pairs_(1 + machine.words()),
        record_(pairs_.words()) {}

  PairSearchEnd run() {
    const std::uint32_t answer = machine_.start(record_.data() + 1);
    record_[0] = truth_.initial(answer);
    if (!truth_.is_right_at_start(answer)) return wrong({}, record_[0], answer);
    pairs_.insert(record_);
    parents_.push_back(0);
    witness_.fresh(0, answer);
    std::uint64_t depth = 0;
    for (RecordSet::Index begin = 0; begin < pairs_.size(); ++depth) {
      const RecordSet::Index end = pairs_.size();
      for (RecordSet::Index first = begin; first < end; first += machine_.pairs_at_once) {
        const RecordSet::Index last = std::min<RecordSet::Index>(end, first + machine_.pairs_at_once);
        if (!expand(first, last)) return wrong(failing_word(), failing_state_, failing_answer_);
        if (full_ && !Machine::kEndsLevels) return stopped(depth, begin);
        if (depth > 0 && is_late()) return stopped(depth, begin);
      }
      if (full_) return stopped(depth + 1, end);
      begin = end;
    }
    PairSearchEnd closed = ended(PairSearchEnd::Kind::kClosed);
    closed.length = depth - 1;
    return closed;
  }

  Witness& witness() { return witness_; }

 private:
  struct Edge {
    RecordSet::Index parent;
    std::uint64_t hash;
    std::uint32_t answer;
  };

  /// All successors of the pairs [first, last). False, with the failing edge noted, when one is answered wrongly.
  bool expand(RecordSet::Index first, RecordSet::Index last) {
    successors_.clear();
    edges_.clear();
    if constexpr (requires { machine_.foresee(); }) foresee(first, last);
    for (RecordSet::Index pair = first; pair < last; ++pair)
      if (!add_successors(pair)) return false;
    for (const Edge& edge : edges_) pairs_.prefetch_record(edge.hash);
    if (pairs_.bytes() + parents_.size() * sizeof(parents_[0]) > limits_.max_bytes)
      meet(fmt::format("{} bytes of pairs", limits_.max_bytes));
    if (steps_ > limits_.max_steps) meet(fmt::format("{} letters read", steps_));
    for (std::size_t i = 0; i < edges_.size(); ++i)
      remember({successors_.data() + i * pairs_.words(), pairs_.words()}, edges_[i]);
    report_progress(last);
    return true;
  }

  /// All steps of these pairs at once; add_successors then asks for them in the same order.
  void foresee(RecordSet::Index first, RecordSet::Index last) {
    for (RecordSet::Index pair = first; pair < last; ++pair) {
      const RecordSet::Record from = pairs_[pair];
      for (Letter letter = 0; letter < machine_.letters(); ++letter)
        if (truth_.may_follow(from[0], letter)) machine_.ask(from.data() + 1, letter, truth_.is_asked(from[0], letter));
    }
    machine_.foresee();
  }

  bool add_successors(RecordSet::Index pair) {
    const RecordSet::Record from = pairs_[pair];
    const State state = from[0];
    machine_.load(from.data() + 1);
    for (Letter letter = 0; letter < machine_.letters(); ++letter) {
      if (!truth_.may_follow(state, letter)) continue;
      successors_.resize(successors_.size() + pairs_.words());
      std::uint32_t* const record = successors_.data() + successors_.size() - pairs_.words();
      const std::uint32_t answer = machine_.step(letter, truth_.is_asked(state, letter), record + 1);
      ++steps_;
      record[0] = truth_.next(state, letter, answer);
      if (!truth_.is_right(record[0], answer)) {
        failing_pair_ = pair;
        failing_letter_ = letter;
        failing_state_ = record[0];
        failing_answer_ = answer;
        return false;
      }
      edges_.push_back({pair, RecordSet::hash({record, pairs_.words()}), answer});
      pairs_.prefetch_entry(edges_.back().hash);
    }
    return true;
  }

  /// Once a limit is met, the level may be read to its end but nothing new is kept.
  void remember(RecordSet::Record record, const Edge& edge) {
    if (full_) return;
    if (pairs_.size() >= limits_.max_pairs) {
      const auto known = pairs_.find(record);
      if (!known) return meet(fmt::format("{} pairs", limits_.max_pairs));
      return witness_.step(*known);
    }
    const RecordSet::Insertion insertion = pairs_.insert(record, edge.hash);
    if (insertion.fresh) {
      parents_.push_back(edge.parent);
      witness_.fresh(insertion.index, edge.answer);
    }
    witness_.step(insertion.index);
  }

  void meet(std::string limit) {
    full_ = true;
    if (limit_.empty()) limit_ = std::move(limit);
  }

  bool is_late() {
    std::string limit = TimeLimit::met();
    if (limit.empty()) return false;
    meet(std::move(limit));
    return true;
  }

  void report_progress(RecordSet::Index expanded) {
    if (!limits_.progress || expanded < next_report_) return;
    next_report_ = expanded + machine_.pairs_at_once * 1024;
    limits_.progress(pairs_.size());
  }

  /// The path to the failing edge: each letter is the first that leads from a pair to the next.
  Word failing_word() {
    if constexpr (requires { machine_.foresee(); }) machine_.foresee();  // nothing more of what was asked
    Word word{failing_letter_};
    for (RecordSet::Index pair = failing_pair_; pair != 0; pair = parents_[pair])
      word.push_back(letter_between(parents_[pair], pair));
    std::reverse(word.begin(), word.end());
    return word;
  }

  Letter letter_between(RecordSet::Index parent, RecordSet::Index child) {
    const RecordSet::Record from = pairs_[parent], wanted = pairs_[child];
    machine_.load(from.data() + 1);
    for (Letter letter = 0;; ++letter) {
      if (!truth_.may_follow(from[0], letter)) continue;
      const std::uint32_t answer = machine_.step(letter, truth_.is_asked(from[0], letter), record_.data() + 1);
      record_[0] = truth_.next(from[0], letter, answer);
      if (std::equal(wanted.begin(), wanted.end(), record_.begin())) return letter;
    }
  }

  PairSearchEnd ended(PairSearchEnd::Kind kind) const {
    PairSearchEnd end;
    end.kind = kind;
    end.pairs = pairs_.size();
    end.steps = steps_;
    return end;
  }

  PairSearchEnd wrong(Word word, State expected, std::uint32_t given) const {
    PairSearchEnd end = ended(PairSearchEnd::Kind::kWrong);
    end.word = std::move(word);
    end.expected = expected;
    end.given = given;
    return end;
  }

  /// All words of at most `length` letters are right; those of fewer reach the first `complete` pairs.
  PairSearchEnd stopped(std::uint64_t length, std::uint64_t complete) const {
    PairSearchEnd end = ended(PairSearchEnd::Kind::kLimit);
    end.length = length;
    end.complete = complete;
    end.limit = limit_;
    return end;
  }

  Machine& machine_;
  Truth truth_;
  const PairLimits& limits_;
  Witness witness_;
  RecordSet pairs_;
  std::vector<RecordSet::Index> parents_;
  std::vector<std::uint32_t> record_, successors_;
  std::vector<Edge> edges_;
  RecordSet::Index failing_pair_ = 0;
  Letter failing_letter_ = 0;
  State failing_state_ = 0;
  std::uint32_t failing_answer_ = 0;
  std::uint64_t next_report_ = 0, steps_ = 0;
  bool full_ = false;
  std::string limit_;
};

/// Certificate 2, *closed reachable set*: breadth-first search over pairs (automaton state, all numbers of all layers,
/// and the labels that numbers alone do not tell) under the actual arithmetic, −0 counted as +0. It ends: proved. It
/// meets a wrong answer: refuted by a shortest word. It meets a limit: proved up to the last depth that it completed,
/// with `limit` set. A pair costs 4 bytes for the automaton's state, the bytes of the numbers, 4 for its parent and at
/// most 16 of table.
Certificate certify_reachable_set(const Network& network, const CertifyOptions& options);

}  // namespace krohn
