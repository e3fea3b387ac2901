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
  ReachablePairs(PairMachine& machine, const TrackedAutomaton* tracked, TableOfSteps* steps, const PairLimits& limits)
      : machine_(machine),
        tracked_(tracked),
        steps_of_(steps),
        limits_(limits),
        pairs_at_once_(machine.pairs_at_once()),
        letters_(machine.letters()),
        pairs_(1 + machine.words()),
        record_(pairs_.words()) {}

  PairSearchEnd run() {
    const std::uint32_t answer = machine_.start(record_.data() + 1);
    record_[0] = tracked_ ? tracked_->automaton.initial() : answer;
    if (!is_right(record_[0], answer)) return wrong({}, record_[0], answer);
    pairs_.insert(record_);
    parents_.push_back(0);
    if (steps_of_) steps_of_->answers.push_back(answer);
    std::uint64_t depth = 0;
    for (RecordSet::Index begin = 0; begin < pairs_.size(); ++depth) {
      const RecordSet::Index end = pairs_.size();
      for (RecordSet::Index first = begin; first < end; first += pairs_at_once_) {
        const RecordSet::Index last = std::min<RecordSet::Index>(end, first + pairs_at_once_);
        if (!expand(first, last)) return wrong(failing_word(), failing_state_, failing_answer_);
        if (full_ && !machine_.ends_levels()) return stopped(depth, begin);
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
  struct Edge {
    RecordSet::Index parent;
    std::uint64_t hash;
    std::uint32_t answer;
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
    successors_.clear();
    edges_.clear();
    if (machine_.foresees()) foresee(first, last);
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
      for (Letter letter = 0; letter < letters_; ++letter)
        if (const auto after = next(from[0], letter)) machine_.ask(from.data() + 1, letter, is_asked(*after));
    }
    machine_.foresee();
  }

  bool add_successors(RecordSet::Index pair) {
    const RecordSet::Record from = pairs_[pair];
    machine_.load(from.data() + 1);
    for (Letter letter = 0; letter < letters_; ++letter) {
      const std::optional<State> after = next(from[0], letter);
      if (!after) continue;
      successors_.resize(successors_.size() + pairs_.words());
      std::uint32_t* const record = successors_.data() + successors_.size() - pairs_.words();
      const std::uint32_t answer = machine_.step(letter, is_asked(*after), record + 1);
      ++steps_;
      record[0] = tracked_ ? *after : answer;
      if (!is_right(record[0], answer)) {
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
    next_report_ = expanded + std::uint64_t{pairs_at_once_} * 1024;
    limits_.progress(pairs_.size());
  }

  /// The path to the failing edge: each letter is the first that leads from a pair to the next.
  Word failing_word() {
    machine_.foresee();  // nothing more of what was asked
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
      const std::optional<State> after = next(from[0], letter);
      if (!after) continue;
      const std::uint32_t answer = machine_.step(letter, is_asked(*after), record_.data() + 1);
      record_[0] = tracked_ ? *after : answer;
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

  PairMachine& machine_;
  const TrackedAutomaton* const tracked_;
  TableOfSteps* const steps_of_;
  const PairLimits& limits_;
  const std::uint32_t pairs_at_once_;
  const Letter letters_;
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

}  // namespace

PairSearchEnd reach_pairs(PairMachine& machine, const TrackedAutomaton& tracked, const PairLimits& limits) {
  return ReachablePairs(machine, &tracked, nullptr, limits).run();
}

PairSearchEnd reach_pairs(PairMachine& machine, TableOfSteps& steps, const PairLimits& limits) {
  return ReachablePairs(machine, nullptr, &steps, limits).run();
}

Certificate certify_reachable_set(const Network& network, const CertifyOptions& options) {
  PairLimits limits;
  limits.max_pairs = options.max_pairs;
  limits.max_bytes = options.max_bytes;
  limits.progress = options.progress;
  const PairSearchEnd end = reach_pairs(*make_pair_machine(network, options.arithmetic, options.form),
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
