#include "krohn/simulate/prove/pairs/pair_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/record_set.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/pairs/network_machine.h"

namespace krohn {

PairSearchEnd PairSearchEnd::closed(std::uint64_t pairs, std::uint64_t length) {
  PairSearchEnd end;
  end.length = length;
  end.pairs = pairs;
  return end;
}

PairSearchEnd PairSearchEnd::wrong(std::uint64_t pairs, Word word, State expected, std::uint32_t given) {
  PairSearchEnd end;
  end.kind = Kind::kWrong;
  end.pairs = pairs;
  end.word = std::move(word);
  end.expected = expected;
  end.given = given;
  return end;
}

PairSearchEnd PairSearchEnd::stopped(std::uint64_t pairs, std::uint64_t length, std::uint64_t complete,
                                     std::string limit) {
  PairSearchEnd end = closed(pairs, length);
  end.kind = Kind::kLimit;
  end.complete = complete;
  end.limit = std::move(limit);
  return end;
}

Certificate certificate_of(PairSearchEnd end, const CertifyOptions& options) {
  Certificate certificate;
  certificate.arithmetic = options.arithmetic;
  certificate.form = options.form;
  certificate.method = "closed reachable set";
  certificate.pairs = end.pairs;
  certificate.limit = std::move(end.limit);
  const std::string pairs = counted(end.pairs, "pair"), letters = counted(end.length, "letter");
  switch (end.kind) {
    case PairSearchEnd::Kind::kClosed:
      certificate.claim = Proved{};
      certificate.proof = ReachedPairs{end.pairs, end.length};
      certificate.evidence = fmt::format(
          "breadth-first search ended after {} of automaton state and memory, all answered correctly; no word needed "
          "more than {} to reach one",
          pairs, letters);
      break;
    case PairSearchEnd::Kind::kWrong:
      certificate.evidence = fmt::format("breadth-first search met a wrong answer after {} and {}",
                                         counted(end.word.size(), "letter"), pairs);
      certificate.claim = Refuted{std::move(end.word), /*shortest=*/true};
      certificate.proof = FailingRun{{}, end.expected, end.given == kNoState ? std::nullopt : std::optional(end.given)};
      break;
    case PairSearchEnd::Kind::kLimit:
      certificate.claim = ProvedUpTo{end.length};
      if (end.length > 0) certificate.proof = ReachedPairs{end.complete, end.length - 1};
      certificate.evidence = fmt::format(
          "words of up to {} were all answered correctly, in a search that met {} of automaton state and memory",
          letters, pairs);
  }
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
    PairSearchEnd end = search();
    end.steps = steps_;
    return end;
  }

 private:
  static constexpr std::size_t kStepsAtOnce = 64;  ///< machines may read so many words together faster than one by one

  PairSearchEnd search() {
    const Output answer = machine_.answer_at_start().output;
    std::vector<std::uint32_t> start{tracked_ ? tracked_->automaton.initial() : answer};
    if (!is_right(start[0], answer)) return PairSearchEnd::wrong(0, {}, start[0], answer);
    start.insert(start.end(), memory_.begin(), memory_.end());
    pairs_.insert(start);
    parents_.push_back(0);
    if (steps_of_) steps_of_->answers.push_back(answer);
    std::uint64_t depth = 0;
    for (RecordSet::Index begin = 0; begin < pairs_.size(); ++depth) {
      const RecordSet::Index end = pairs_.size();
      for (RecordSet::Index first = begin; first < end; first += limits_.pairs_at_once) {
        const RecordSet::Index last = std::min<RecordSet::Index>(end, first + limits_.pairs_at_once);
        if (!expand(first, last)) return wrong();
        if (full_ && !limits_.ends_levels) return stopped(depth, begin);
        if (depth > 0 && is_late()) return stopped(depth, begin);
      }
      if (full_) return stopped(depth + 1, end);
      begin = end;
    }
    return PairSearchEnd::closed(pairs_.size(), depth - 1);
  }

  PairSearchEnd stopped(std::uint64_t length, std::uint64_t complete) const {
    return PairSearchEnd::stopped(pairs_.size(), length, complete, limit_);
  }

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

  PairSearchEnd wrong() { return PairSearchEnd::wrong(pairs_.size(), failing_word(), failing_.after, failing_.answer); }

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
  return certificate_of(reach_pairs(*network_reader(network, options.arithmetic, options.form, NetworkReading::kPairs),
                                    every_state(network.automaton), limits),
                        options);
}

}  // namespace krohn
