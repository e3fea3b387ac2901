#include "krohn/simulate/prove/pairs/pair_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "krohn/groups/base/messages.h"
#include "krohn/groups/base/record_set.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/pairs/network_machine.h"

namespace krohn {
namespace {

Certificate begin_certificate(const CertifyOptions& options, Claim claim, std::uint64_t pairs) {
  Certificate certificate;
  certificate.claim = std::move(claim);
  certificate.arithmetic = options.arithmetic;
  certificate.form = options.form;
  certificate.method = "closed reachable set";
  certificate.pairs = pairs;
  return certificate;
}

}  // namespace

Certificate proved_by_pairs(const CertifyOptions& options, std::uint64_t pairs, std::uint64_t depth) {
  Certificate certificate = begin_certificate(options, Proved{}, pairs);
  certificate.proof = ReachedPairs{pairs, depth};
  certificate.evidence = fmt::format(
      "words reach {} of an automaton state and a network state, all by words of at most {}, and the "
      "network is right on every one",
      counted(pairs, "pair"), counted(depth, "letter"));
  return certificate;
}

Certificate refuted_by_pairs(const CertifyOptions& options, std::uint64_t pairs, Word word, const FailingRun& run) {
  const std::string evidence = fmt::format("breadth-first search met a wrong answer after {} and {}",
                                           counted(word.size(), "letter"), counted(pairs, "pair"));
  Certificate certificate = begin_certificate(options, Refuted{std::move(word), /*shortest=*/true}, pairs);
  certificate.evidence = evidence;
  certificate.proof = run;
  return certificate;
}

Certificate proved_up_to_depth(const CertifyOptions& options, std::uint64_t pairs, std::uint64_t length,
                               std::uint64_t complete, std::string limit) {
  Certificate certificate = begin_certificate(options, ProvedUpTo{length}, pairs);
  certificate.proof = ReachedPairs{complete, length - 1};
  certificate.evidence = fmt::format("the network is right on all words of up to {}; the search over {} did not end",
                                     counted(length, "letter"), counted(pairs, "pair"));
  certificate.limit = std::move(limit);
  return certificate;
}

namespace {

class ReachablePairs {
 public:
  /// Against the automaton, or into the table.
  ReachablePairs(const LetterReader& machine, const TrackedAutomaton* tracked, TableOfSteps* steps,
                 const PairLimits& limits)
      : machine_(machine),
        tracked_(tracked),
        steps_of_(steps),
        limits_(limits),
        letters_(machine.letters()),
        memory_(machine.start()),
        pairs_(1 + memory_.size()),
        memories_(kStepsAtOnce, memory_) {}

  PairSearchEnd run() {
    const Output answer = machine_.answer_at_start().output;
    std::vector<std::uint32_t> start{tracked_ ? tracked_->automaton.initial() : answer};
    if (!is_right(start[0], answer)) return wrong({}, start[0], answer);
    start.insert(start.end(), memory_.begin(), memory_.end());
    pairs_.insert(start);
    parents_.push_back(0);
    if (steps_of_) steps_of_->answers.push_back(answer);
    std::uint64_t depth = 0;
    for (RecordSet::Index begin = 0; begin < pairs_.size(); ++depth) {
      const RecordSet::Index end = pairs_.size();
      for (RecordSet::Index first = begin; first < end; first += limits_.pairs_at_once) {
        const RecordSet::Index last = std::min<RecordSet::Index>(end, first + limits_.pairs_at_once);
        if (!expand(first, last)) return wrong(failing_word(), failing_.after, failing_.answer);
        if (full_ && !limits_.ends_levels) return stopped(depth, begin);
        if (depth > 0 && is_late()) return stopped(depth, begin);
      }
      if (full_) return stopped(depth + 1, end);
      begin = end;
    }
    PairSearchEnd closed = ended(PairSearchEnd::Kind::kClosed);
    closed.length = depth - 1;
    return closed;
  }

 private:
  static constexpr std::size_t kStepsAtOnce = 64;  ///< machines may read so many words together faster than one by one

  struct Edge {
    RecordSet::Index parent;
    Letter letter;
    State after;
    Output answer = 0;
    std::uint64_t hash = 0;
  };

  /// The automaton's state after the letter, or, without an automaton, none yet; nothing when the letter may not
  /// follow.
  std::optional<State> next(State state, Letter letter) const {
    if (!tracked_) return State{0};
    const State after = tracked_->automaton.next(state, letter);
    if (tracked_->wanted[after] == TrackedAutomaton::kNoSuchWord) return std::nullopt;
    return after;
  }
  bool is_asked(State after) const { return !tracked_ || tracked_->is_asked(after); }
  bool is_right(State after, std::uint32_t answer) const {
    return !is_asked(after) || !tracked_ || answer == tracked_->wanted[after];
  }

  /// All successors of the pairs [first, last). False, with the failing edge noted, when one is answered wrongly.
  bool expand(RecordSet::Index first, RecordSet::Index last) {
    edges_.clear();
    successors_.clear();
    for (RecordSet::Index pair = first; pair < last; ++pair) {
      const RecordSet::Record from = pairs_[pair];
      for (Letter letter = 0; letter < letters_; ++letter) {
        const std::optional<State> after = next(from[0], letter);
        if (!after) continue;
        memories_[read_letters_.size()].assign(from.begin() + 1, from.end());
        edges_.push_back({pair, letter, *after});
        read_letters_.push_back(letter);
        any_asked_ = any_asked_ || is_asked(*after);
        if (read_letters_.size() == kStepsAtOnce && !read_steps()) return false;
      }
    }
    if (!read_steps()) return false;
    for (const Edge& edge : edges_) pairs_.prefetch_record(edge.hash);
    if (pairs_.bytes() + parents_.size() * sizeof(parents_[0]) > limits_.max_bytes)
      meet(fmt::format("{} bytes of pairs", limits_.max_bytes));
    if (steps_ > limits_.max_steps) meet(fmt::format("{} letters read", steps_));
    for (std::size_t i = 0; i < edges_.size(); ++i)
      remember({successors_.data() + i * pairs_.words(), pairs_.words()}, edges_[i]);
    report_progress(last);
    return true;
  }

  /// The last edges' steps, up to the first wrong answer.
  bool read_steps() {
    const std::size_t count = read_letters_.size(), begin = edges_.size() - count;
    answers_.resize(count);
    machine_.step_many(read_letters_, {memories_.data(), count}, std::exchange(any_asked_, false), answers_);
    read_letters_.clear();
    successors_.resize(edges_.size() * pairs_.words());
    for (std::size_t i = 0; i < count; ++i) {
      Edge& edge = edges_[begin + i];
      edge.answer = answers_[i].output;
      if (!tracked_) edge.after = edge.answer;
      ++steps_;
      if (!is_right(edge.after, edge.answer)) {
        failing_ = edge;
        return false;
      }
      std::uint32_t* const record = successors_.data() + (begin + i) * pairs_.words();
      record[0] = edge.after;
      std::ranges::copy(memories_[i], record + 1);
      edge.hash = RecordSet::hash({record, pairs_.words()});
      pairs_.prefetch_entry(edge.hash);
    }
    return true;
  }

  /// Once a limit is met, the level may be read to its end but nothing new is kept.
  void remember(RecordSet::Record record, const Edge& edge) {
    if (full_) return;
    if (pairs_.size() >= limits_.max_pairs) {
      const auto known = pairs_.find(record);
      if (!known) return meet(fmt::format("{} pairs", limits_.max_pairs));
      return note_step(*known);
    }
    const RecordSet::Insertion insertion = pairs_.insert(record, edge.hash);
    if (insertion.fresh) {
      parents_.push_back(edge.parent);
      if (steps_of_) steps_of_->answers.push_back(edge.answer);
    }
    note_step(insertion.index);
  }

  void note_step(RecordSet::Index to) {
    if (steps_of_) steps_of_->table.push_back(to);
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
    next_report_ = expanded + std::uint64_t{limits_.pairs_at_once} * 1024;
    limits_.progress(pairs_.size());
  }

  /// The path to the failing edge: each letter is the first that leads from a pair to the next.
  Word failing_word() {
    Word word{failing_.letter};
    for (RecordSet::Index pair = failing_.parent; pair != 0; pair = parents_[pair])
      word.push_back(letter_between(parents_[pair], pair));
    std::reverse(word.begin(), word.end());
    return word;
  }

  Letter letter_between(RecordSet::Index parent, RecordSet::Index child) {
    const RecordSet::Record from = pairs_[parent], wanted = pairs_[child];
    for (Letter letter = 0;; ++letter) {
      const std::optional<State> after = next(from[0], letter);
      if (!after) continue;
      memory_.assign(from.begin() + 1, from.end());
      const Output answer = machine_.step(letter, memory_, is_asked(*after)).output;
      if ((tracked_ ? *after : answer) == wanted[0] && std::ranges::equal(wanted.subspan(1), memory_)) return letter;
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

  const LetterReader& machine_;
  const TrackedAutomaton* const tracked_;
  TableOfSteps* const steps_of_;
  const PairLimits& limits_;
  const Letter letters_;
  LetterReader::Memory memory_;
  RecordSet pairs_;
  std::vector<RecordSet::Index> parents_;
  std::vector<std::uint32_t> successors_;  ///< of the pairs at hand
  std::vector<Edge> edges_;
  std::vector<Letter> read_letters_;  ///< of the last edges, whose steps are to be read
  std::vector<LetterReader::Memory> memories_;
  std::vector<LetterReader::Answer> answers_;
  bool any_asked_ = false;
  Edge failing_{};
  std::uint64_t next_report_ = 0, steps_ = 0;
  bool full_ = false;
  std::string limit_;
};

}  // namespace

PairSearchEnd reach_pairs(const LetterReader& machine, const TrackedAutomaton& tracked, const PairLimits& limits) {
  return ReachablePairs(machine, &tracked, nullptr, limits).run();
}

PairSearchEnd reach_pairs(const LetterReader& machine, TableOfSteps& steps, const PairLimits& limits) {
  return ReachablePairs(machine, nullptr, &steps, limits).run();
}

Certificate certify_reachable_set(const Network& network, const CertifyOptions& options) {
  PairLimits limits;
  limits.max_pairs = options.max_pairs;
  limits.max_bytes = options.max_bytes;
  limits.progress = options.progress;
  const PairSearchEnd end =
      reach_pairs(*network_reader(network, options.arithmetic, options.form, NetworkReading::kPairs),
                  every_state(network.automaton), limits);
  switch (end.kind) {
    case PairSearchEnd::Kind::kClosed:
      return proved_by_pairs(options, end.pairs, end.length);
    case PairSearchEnd::Kind::kWrong:
      return refuted_by_pairs(options, end.pairs, end.word,
                              {{}, end.expected, end.given == kNoState ? std::nullopt : std::optional(end.given)});
    case PairSearchEnd::Kind::kLimit:
      break;
  }
  return proved_up_to_depth(options, end.pairs, end.length, end.complete, end.limit);
}

}  // namespace krohn
