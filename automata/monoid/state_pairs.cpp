#include "krohn/automata/monoid/state_pairs.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/automata/operations/operations.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"

namespace krohn {
namespace {

class Walk {
 public:
  Walk(const Dfa& dfa, const std::vector<bool>& counts)
      : dfa_(dfa), counts_(counts), n_(dfa.states()), colour_(size(), kNew), height_(size(), 0) {}

  PairPaths paths() {
    PairPaths result;
    for (State q = 1; q < n_; ++q)
      for (State p = 0; p < q; ++p) {
        if (!counts_[p] || !counts_[q]) continue;
        result.has_pairs = true;
        const std::size_t pair = number(p, q);
        if (colour_[pair] == kNew && !visit(p, q, result)) return result;
        result.longest = std::max<std::uint64_t>(result.longest, height_[pair]);
      }
    return result;
  }

 private:
  enum Colour : std::uint8_t { kNew, kOpen, kDone };
  struct Step {
    State p, q;
    Letter next = 0;  ///< the letter to try next
  };

  std::size_t size() const { return std::size_t{n_} * (n_ - 1) / 2; }
  static std::size_t number(State p, State q) {
    if (p > q) std::swap(p, q);
    return std::size_t{q} * (q - 1) / 2 + p;
  }

  /// False once a cycle was found.
  bool visit(State p, State q, PairPaths& result) {
    std::vector<Step> path{{p, q}};
    colour_[number(p, q)] = kOpen;
    while (!path.empty()) {
      Step& step = path.back();
      const std::size_t pair = number(step.p, step.q);
      if (step.next == dfa_.letters()) {
        TimeLimit::check();
        colour_[pair] = kDone;
        path.pop_back();
        if (!path.empty()) {
          std::uint32_t& above = height_[number(path.back().p, path.back().q)];
          above = std::max(above, height_[pair] + 1);
        }
        continue;
      }
      const Letter letter = step.next++;
      const State a = dfa_.next(step.p, letter), b = dfa_.next(step.q, letter);
      if (a == b || !counts_[a] || !counts_[b]) continue;
      const std::size_t to = number(a, b);
      if (colour_[to] == kDone) {
        height_[pair] = std::max(height_[pair], height_[to] + 1);
      } else if (colour_[to] == kOpen) {
        result.cycle = cycle(path, to);
        return false;
      } else {
        colour_[to] = kOpen;
        path.push_back({a, b});
      }
    }
    return true;
  }

  StandingPair cycle(const std::vector<Step>& path, std::size_t to) const {
    const auto from =
        std::find_if(path.begin(), path.end(), [&](const Step& step) { return number(step.p, step.q) == to; });
    StandingPair standing{from->p, from->q, {}};
    for (auto step = from; step != path.end(); ++step) standing.word.push_back(step->next - 1);
    if (dfa_.run(standing.word, standing.p) != standing.p) {  // the two change places
      const Word once = standing.word;
      standing.word.insert(standing.word.end(), once.begin(), once.end());
    }
    return standing;
  }

  const Dfa& dfa_;
  const std::vector<bool>& counts_;
  State n_;
  std::vector<Colour> colour_;
  std::vector<std::uint32_t> height_;
};

}  // namespace

PairPaths pair_paths(const Dfa& dfa, const std::vector<bool>& counts) {
  if (dfa.states() > kMaxPairedStates)
    throw LimitError(
        fmt::format("{}; pairs of states are compared up to {}", counted(dfa.states(), "state"), kMaxPairedStates));
  return Walk(dfa, counts).paths();
}

std::optional<Word> shortest_word(const Dfa& dfa, State from, const std::function<bool(State)>& goal,
                                  bool may_be_empty) {
  if (may_be_empty && goal(from)) return Word{};
  std::vector<State> queue{from}, parent(dfa.states(), dfa.states());
  std::vector<Letter> letter_of(dfa.states());
  parent[from] = from;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (Letter letter = 0; letter < dfa.letters(); ++letter) {
      const State next = dfa.next(queue[i], letter);
      if (parent[next] != dfa.states() && next != from) continue;
      if (goal(next)) {
        Word word{letter};
        for (State state = queue[i]; state != from; state = parent[state]) word.push_back(letter_of[state]);
        std::reverse(word.begin(), word.end());
        return word;
      }
      if (next == from) continue;
      parent[next] = queue[i];
      letter_of[next] = letter;
      queue.push_back(next);
    }
  return std::nullopt;
}

Word word_between(const Dfa& dfa, State from, State to) {
  return shortest_word(dfa, from, [to](State state) { return state == to; }).value();
}

std::optional<Word> telling_word(const Dfa& dfa, State p, State q) {
  const auto started_at = [&](State state) {
    return Dfa::acceptor(dfa.alphabet(), {dfa.table().begin(), dfa.table().end()}, state,
                         {dfa.outputs().begin(), dfa.outputs().end()});
  };
  return distinguishing_word(started_at(p), started_at(q));
}

}  // namespace krohn
