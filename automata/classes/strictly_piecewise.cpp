#include "krohn/automata/classes/strictly_piecewise.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "krohn/automata/classes/state_pairs.h"
#include "krohn/automata/dfa/graph.h"
#include "krohn/automata/dfa/shown_word.h"
#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"
#include "krohn/groups/time_limit.h"

namespace krohn {
namespace {

constexpr State kMaxPairedStates = 4000;
constexpr std::size_t kMaxNodes = 200'000;

using States = std::vector<State>;

/// Along a minimal forbidden word: the state, and the states after the word with one letter left out.
class SubsequenceSearch {
 public:
  explicit SubsequenceSearch(const Dfa& dfa) : dfa_(dfa), reach_(condensation(dfa, components(dfa))) {}

  ListedWords find(std::size_t most_listed) {
    ListedWords result;
    if (!dfa_.accepts(dfa_.initial())) return {{""}, 1, 0, true};  // nothing is accepted
    const std::size_t start = node(dfa_.initial(), {});
    result.count = nodes_[start].words;
    result.longest = nodes_[start].length;
    list(start, most_listed, result);
    return result;
  }

 private:
  static constexpr std::size_t kNoNode = SIZE_MAX;
  struct Node {
    std::vector<std::pair<Letter, std::size_t>> next;
    std::vector<Letter> forbidden;
    std::uint64_t words = 0, length = 0;
  };

  const Components& components(const Dfa& dfa) { return components_ = strongly_connected_components(dfa); }
  bool reaches(State from, State to) const { return reach_.reaches(components_.of[from], components_.of[to]); }

  /// Without states from which others of the set are reached: what is accepted from there is accepted here.
  States least(States set) const {
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
    States kept;
    for (const State state : set)
      if (std::none_of(set.begin(), set.end(), [&](State other) { return other != state && reaches(state, other); }))
        kept.push_back(state);
    return kept;
  }

  std::size_t node(State state, States without) {
    const auto key = std::make_pair(state, without);
    if (const auto known = numbers_.find(key); known != numbers_.end()) return known->second;
    if (nodes_.size() == kMaxNodes)
      throw LimitError(fmt::format("the search for forbidden subsequences met {} sets of states", kMaxNodes));
    TimeLimit::check();
    const std::size_t index = nodes_.size();
    numbers_.emplace(key, index);
    nodes_.emplace_back();
    Node made;
    for (Letter letter = 0; letter < dfa_.letters(); ++letter) {
      const State to = dfa_.next(state, letter);
      if (to == state) continue;  // the letter can be left out
      States shorter{state};
      for (const State other : without) shorter.push_back(dfa_.next(other, letter));
      const auto dead = [&](State other) { return !dfa_.accepts(other); };
      if (std::any_of(shorter.begin(), shorter.end(), dead)) continue;  // a shorter word is forbidden
      if (dead(to)) {
        made.forbidden.push_back(letter);
        made.words += 1;
        made.length = std::max<std::uint64_t>(made.length, 1);
        continue;
      }
      shorter = least(std::move(shorter));
      if (std::find(shorter.begin(), shorter.end(), to) != shorter.end()) continue;
      const std::size_t next = node(to, std::move(shorter));
      if (nodes_[next].words == 0) continue;
      made.next.emplace_back(letter, next);
      made.words = made.words + nodes_[next].words < made.words ? UINT64_MAX : made.words + nodes_[next].words;
      made.length = std::max(made.length, nodes_[next].length + 1);
    }
    nodes_[index] = std::move(made);
    return index;
  }

  void list(std::size_t start, std::size_t most_listed, ListedWords& result) const {
    std::vector<std::pair<Word, std::size_t>> layer{{{}, start}};
    while (!layer.empty() && result.words.size() < most_listed) {
      std::vector<std::pair<Word, std::size_t>> longer;
      for (const auto& [word, at] : layer) {
        if (longer.size() > 50 * most_listed) break;
        for (const Letter letter : nodes_[at].forbidden) {
          if (result.words.size() == most_listed) break;
          Word forbidden = word;
          forbidden.push_back(letter);
          result.words.push_back(dfa_.alphabet().format_word(forbidden));
        }
        for (const auto& [letter, next] : nodes_[at].next) {
          longer.emplace_back(word, next);
          longer.back().first.push_back(letter);
        }
      }
      layer = std::move(longer);
    }
    result.complete = result.words.size() == result.count;
  }

  const Dfa& dfa_;
  Components components_;
  ComponentReachability reach_;
  std::map<std::pair<State, States>, std::size_t> numbers_;
  std::vector<Node> nodes_;
};

}  // namespace

std::optional<std::string> lost_subsequence(const Dfa& dfa) {
  const State n = dfa.states();
  if (n > kMaxPairedStates)
    throw LimitError(fmt::format("{}; pairs of states are compared up to {}", counted(n, "state"), kMaxPairedStates));
  struct Arc {
    std::uint32_t parent;
    Letter letter;
  };
  constexpr std::uint32_t kNew = UINT32_MAX, kStart = UINT32_MAX - 1;
  std::vector<Arc> tree(std::size_t{n} * n, {kNew, 0});
  std::vector<std::uint32_t> queue;
  for (State state = 0; state < n; ++state)
    for (Letter letter = 0; letter < dfa.letters(); ++letter) {
      const std::uint32_t pair = dfa.next(state, letter) * n + state;
      if (dfa.next(state, letter) == state || tree[pair].parent != kNew) continue;
      tree[pair] = {kStart, letter};
      queue.push_back(pair);
    }
  for (std::size_t i = 0; i < queue.size(); ++i) {
    TimeLimit::check();
    const State with = queue[i] / n, without = queue[i] % n;
    if (dfa.accepts(with) && !dfa.accepts(without)) {
      Word after;
      std::uint32_t at = queue[i];
      for (; tree[at].parent != kStart; at = tree[at].parent) after.push_back(tree[at].letter);
      std::reverse(after.begin(), after.end());
      Word longer = word_between(dfa, dfa.initial(), at % n), shorter = longer;
      longer.push_back(tree[at].letter);
      longer.insert(longer.end(), after.begin(), after.end());
      shorter.insert(shorter.end(), after.begin(), after.end());
      if (!dfa.accepts(dfa.run(longer)) || dfa.accepts(dfa.run(shorter)))
        throw Error("the witness against \"SP\" failed its check; please report this");
      return fmt::format("{} is accepted and its subsequence {} is not", quoted_letters(dfa.alphabet(), longer),
                         quoted_letters(dfa.alphabet(), shorter));
    }
    for (Letter letter = 0; letter < dfa.letters(); ++letter) {
      const State a = dfa.next(with, letter), b = dfa.next(without, letter);
      if (a == b || tree[a * n + b].parent != kNew) continue;
      tree[a * n + b] = {queue[i], letter};
      queue.push_back(a * n + b);
    }
  }
  return std::nullopt;
}

ListedWords minimal_forbidden_subsequences(const Dfa& dfa, std::size_t most_listed) {
  return SubsequenceSearch(dfa).find(most_listed);
}

}  // namespace krohn
