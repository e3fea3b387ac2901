#include "krohn/automata/classes/locally_testable.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "krohn/automata/classes/state_pairs.h"
#include "krohn/automata/dfa/graph.h"
#include "krohn/automata/dfa/shown_word.h"
#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"
#include "krohn/groups/time_limit.h"
#include "krohn/groups/transformations/components.h"

namespace krohn {
namespace {

constexpr std::uint64_t kMaxArcs = 50'000'000;

class PairTest {
 public:
  explicit PairTest(const Dfa& dfa)
      : dfa_(dfa), n_(dfa.states()), states_(strongly_connected_components(dfa)), reach_(condensation(dfa, states_)) {
    table_.reserve(std::size_t{n_} * n_ * dfa.letters());
    for (State p = 0; p < n_; ++p)
      for (State q = 0; q < n_; ++q)
        for (Letter letter = 0; letter < dfa.letters(); ++letter)
          table_.push_back(dfa.next(p, letter) * n_ + dfa.next(q, letter));
    component_ = strong_components(n_ * n_, dfa.letters(), table_);
    std::vector<std::uint32_t> size(n_ * n_, 0);
    for (const std::uint32_t component : component_) ++size[component];
    stands_.resize(component_.size());
    for (std::uint32_t pair = 0; pair < n_ * n_; ++pair) {
      stands_[pair] = size[component_[pair]] > 1;
      for (Letter letter = 0; letter < dfa.letters(); ++letter)
        if (next(pair, letter) == pair) stands_[pair] = true;
    }
  }

  std::optional<std::string> violation() {
    for (State p = 0; p < n_; ++p)
      for (State q = 0; q < n_; ++q)
        if (p != q && stands_[p * n_ + q] && states_.of[p] == states_.of[q]) return both_ways(p, q);
    for (State q = 0; q < n_; ++q)
      if (auto found = towards(q)) return found;
    return std::nullopt;
  }

 private:
  std::uint32_t next(std::uint32_t pair, Letter letter) const {
    return table_[std::size_t{pair} * dfa_.letters() + letter];
  }
  bool reaches(State from, State to) const { return reach_.reaches(states_.of[from], states_.of[to]); }

  /// A word, not empty, that takes both states to themselves.
  Word keeping(State p, State q) const {
    const std::uint32_t start = p * n_ + q;
    struct Arc {
      std::uint32_t parent;
      Letter letter;
    };
    std::vector<Arc> tree(component_.size(), {UINT32_MAX, 0});
    std::vector<std::uint32_t> queue{start};
    for (std::size_t i = 0; i < queue.size() && tree[start].parent == UINT32_MAX; ++i)
      for (Letter letter = 0; letter < dfa_.letters(); ++letter) {
        const std::uint32_t to = next(queue[i], letter);
        if (component_[to] != component_[start] || tree[to].parent != UINT32_MAX) continue;
        tree[to] = {queue[i], letter};
        queue.push_back(to);
      }
    Word word;
    std::uint32_t at = start;
    do {
      word.push_back(tree[at].letter);
      at = tree[at].parent;
    } while (at != start);
    std::reverse(word.begin(), word.end());
    if (dfa_.run(word, p) != p || dfa_.run(word, q) != q) fail();
    return word;
  }

  [[noreturn]] static void fail() { throw Error("the witness against \"LT\" failed its check; please report this"); }

  std::string both_ways(State p, State q) const {
    const Word x = keeping(p, q), there = word_between(dfa_, p, q), back = word_between(dfa_, q, p);
    if (dfa_.run(there, p) != q || dfa_.run(back, q) != p) fail();
    return fmt::format("{} keeps the states {} and {}, {} leads from the first to the second, and {} back",
                       quoted_letters(dfa_.alphabet(), x), dfa_.state_name(p), dfa_.state_name(q),
                       quoted_letters(dfa_.alphabet(), there), quoted_letters(dfa_.alphabet(), back));
  }

  /// The pairs that are reached from (p, q) for some p above q that a word keeps beside it: of none may exactly one
  /// state reach q.
  std::optional<std::string> towards(State q) const {
    struct Arc {
      std::uint32_t parent;
      Letter letter;
    };
    std::vector<Arc> tree(component_.size(), {UINT32_MAX, 0});
    std::vector<std::uint32_t> queue;
    for (State p = 0; p < n_; ++p) {
      const std::uint32_t pair = p * n_ + q;
      if (p == q || !stands_[pair] || !reaches(p, q)) continue;
      tree[pair].parent = pair;
      queue.push_back(pair);
    }
    for (std::size_t i = 0; i < queue.size(); ++i) {
      if (i % 1024 == 0) TimeLimit::check();
      const State a = queue[i] / n_, b = queue[i] % n_;
      if (reaches(a, q) != reaches(b, q)) {
        Word s;
        std::uint32_t at = queue[i];
        for (; tree[at].parent != at; at = tree[at].parent) s.push_back(tree[at].letter);
        std::reverse(s.begin(), s.end());
        return one_sided(at / n_, q, s);
      }
      for (Letter letter = 0; letter < dfa_.letters(); ++letter) {
        const std::uint32_t to = next(queue[i], letter);
        if (tree[to].parent != UINT32_MAX) continue;
        tree[to] = {queue[i], letter};
        queue.push_back(to);
      }
    }
    return std::nullopt;
  }

  std::string one_sided(State p, State q, const Word& s) const {
    const Word x = keeping(p, q), there = word_between(dfa_, p, q);
    const bool from_p = reaches(dfa_.run(s, p), q);
    if (dfa_.run(there, p) != q || from_p == reaches(dfa_.run(s, q), q)) fail();
    const State comes = from_p ? p : q, stays = from_p ? q : p;
    const Word back = word_between(dfa_, dfa_.run(s, comes), q);
    return fmt::format(
        "{} keeps the states {} and {}, {} leads from the first to the second, {} then {} from state {} to the second, "
        "and no word after {} from state {}",
        quoted_letters(dfa_.alphabet(), x), dfa_.state_name(p), dfa_.state_name(q),
        quoted_letters(dfa_.alphabet(), there), quoted_letters(dfa_.alphabet(), s),
        quoted_letters(dfa_.alphabet(), back), dfa_.state_name(comes), quoted_letters(dfa_.alphabet(), s),
        dfa_.state_name(stays));
  }

  const Dfa& dfa_;
  State n_;
  Components states_;
  ComponentReachability reach_;
  std::vector<std::uint32_t> table_, component_;
  std::vector<bool> stands_;
};

}  // namespace

std::optional<std::string> local_violation(const Dfa& dfa) {
  const std::uint64_t arcs = std::uint64_t{dfa.states()} * dfa.states() * dfa.letters();
  if (arcs > kMaxArcs || dfa.states() > 60'000)
    throw LimitError(fmt::format("the pairs of states have {}; decided up to {}", counted(arcs, "arc"), kMaxArcs));
  return PairTest(dfa).violation();
}

}  // namespace krohn
