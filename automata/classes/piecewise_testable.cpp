#include "krohn/automata/classes/class_tests.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "krohn/automata/dfa/graph.h"
#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/monoid/properties.h"
#include "krohn/automata/monoid/witness_check.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"

namespace krohn {
namespace {

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
    nodes_.list({{{}, false, start}}, dfa_.alphabet(), most_listed, result);
    return result;
  }

 private:
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
    const std::size_t index = nodes_.begin("subsequences", "sets of states");
    numbers_.emplace(key, index);
    ForbiddenWords::Node made;
    for (Letter letter = 0; letter < dfa_.letters(); ++letter) {
      const State to = dfa_.next(state, letter);
      if (to == state) continue;  // the letter can be left out
      States shorter{state};
      for (const State other : without) shorter.push_back(dfa_.next(other, letter));
      const auto dead = [&](State other) { return !dfa_.accepts(other); };
      if (std::any_of(shorter.begin(), shorter.end(), dead)) continue;  // a shorter word is forbidden
      if (dead(to)) {
        ForbiddenWords::forbid(made, letter);
        continue;
      }
      shorter = least(std::move(shorter));
      if (std::find(shorter.begin(), shorter.end(), to) != shorter.end()) continue;
      nodes_.go_on(made, letter, node(to, std::move(shorter)));
    }
    nodes_.fill(index, std::move(made));
    return index;
  }

  const Dfa& dfa_;
  Components components_;
  ComponentReachability reach_;
  std::map<std::pair<State, States>, std::size_t> numbers_;
  ForbiddenWords nodes_;
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
      require_witness(dfa.accepts(dfa.run(longer)) && !dfa.accepts(dfa.run(shorter)), "SP");
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

namespace {

constexpr std::size_t kMaxVectors = 200'000;

/// Where (ab)ⁿ leads in the end, in an automaton without cycles.
State settled_at(const Dfa& dfa, State state, Letter a, Letter b) {
  for (;;) {
    const State next = dfa.next(dfa.next(state, a), b);
    if (next == state) return state;
    state = next;
  }
}

/// Per letter b, the greatest r such that a word x has the same subsequences of at most r letters as xb. A letter c
/// appended to x adds one to its own number, and no other number is above it then.
using Numbers = std::vector<std::uint32_t>;
constexpr std::uint32_t kAny = UINT32_MAX / 2;  ///< as large as wanted: letters that can be read for ever

Numbers with_letter(Numbers numbers, Letter letter) {
  std::uint32_t& own = numbers[letter];
  if (own != kAny) ++own;
  for (std::uint32_t& other : numbers) other = std::min(other, own);
  return numbers;
}

/// Some of the letters that can be read for ever, read for ever: the best choices. The first of them that is read has
/// no higher number than before, so choosing all above a bound costs as little as choosing one at it.
std::vector<Numbers> with_loops(const Numbers& numbers, const std::vector<Letter>& loops) {
  std::vector<Numbers> result{numbers};
  std::vector<std::uint32_t> bounds;
  for (const Letter letter : loops) bounds.push_back(numbers[letter]);
  std::sort(bounds.begin(), bounds.end());
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  for (const std::uint32_t bound : bounds) {
    if (bound == kAny) continue;
    Numbers more = numbers;
    for (std::uint32_t& number : more) number = std::min(number, bound + 1);
    for (const Letter letter : loops)
      if (numbers[letter] >= bound) more[letter] = kAny;
    result.push_back(std::move(more));
  }
  return result;
}

/// Vectors of which none is at most another in every place.
class Front {
 public:
  void insert(Numbers numbers) {
    const auto at_most = [](const Numbers& a, const Numbers& b) {
      for (std::size_t i = 0; i < a.size(); ++i)
        if (a[i] > b[i]) return false;
      return true;
    };
    for (const Numbers& known : all_)
      if (at_most(numbers, known)) return;
    std::erase_if(all_, [&](const Numbers& known) { return at_most(known, numbers); });
    all_.push_back(std::move(numbers));
  }
  const std::vector<Numbers>& all() const { return all_; }

 private:
  std::vector<Numbers> all_;
};

class OrderSearch {
 public:
  explicit OrderSearch(const Dfa& dfa) : dfa_(dfa), before_(dfa.states()) {}

  std::uint64_t order() {
    before_[dfa_.initial()].insert(Numbers(dfa_.letters(), 0));
    std::uint64_t most = 0;
    // In topological order, one state each.
    for (const std::vector<State>& component : strongly_connected_components(dfa_).members())
      most = std::max(most, pass(component.front()));
    return most + 1;
  }

 private:
  void count() {
    TimeLimit::check();
    if (++vectors_ > kMaxVectors)
      throw LimitError(fmt::format("the order of piecewise testability met {} vectors of numbers", kMaxVectors));
  }

  /// Takes the words to the state on to the next ones; the greatest r + l there.
  std::uint64_t pass(State state) {
    std::vector<Letter> loops;
    for (Letter letter = 0; letter < dfa_.letters(); ++letter)
      if (dfa_.next(state, letter) == state) loops.push_back(letter);
    Front here;
    for (const Numbers& numbers : before_[state].all())
      for (Numbers& more : with_loops(numbers, loops)) here.insert(std::move(more));
    std::uint64_t most = 0;
    for (Letter letter = 0; letter < dfa_.letters(); ++letter) {
      const State to = dfa_.next(state, letter);
      if (to == state) continue;
      std::uint32_t right = 0, left = 0;
      for (const Numbers& numbers : here.all()) {
        count();
        right = std::max(right, numbers[letter]);
        before_[to].insert(with_letter(numbers, letter));
      }
      for (const Numbers& numbers : after(state, to)) left = std::max(left, numbers[letter]);
      if (right == kAny || left == kAny)
        throw Error("a language that is piecewise testable has no order; please report this");
      most = std::max<std::uint64_t>(most, std::uint64_t{right} + left);
    }
    return most;
  }

  /// The words that are accepted from one of the states only, by the same numbers from the other side.
  const std::vector<Numbers>& after(State p, State q) {
    const auto key = std::minmax(p, q);
    if (const auto known = after_.find(key); known != after_.end()) return known->second;
    Front front;
    if (dfa_.accepts(p) != dfa_.accepts(q)) front.insert(Numbers(dfa_.letters(), 0));
    std::vector<Letter> loops;
    for (Letter letter = 0; letter < dfa_.letters(); ++letter) {
      const State a = dfa_.next(p, letter), b = dfa_.next(q, letter);
      if (a == p && b == q) {
        loops.push_back(letter);
        continue;
      }
      if (a == b) continue;
      for (const Numbers& numbers : after(a, b)) {
        count();
        front.insert(with_letter(numbers, letter));
      }
    }
    Front all;
    for (const Numbers& numbers : front.all())
      for (Numbers& more : with_loops(numbers, loops)) all.insert(std::move(more));
    return after_.emplace(key, all.all()).first->second;
  }

  const Dfa& dfa_;
  std::vector<Front> before_;
  std::map<std::pair<State, State>, std::vector<Numbers>> after_;
  std::size_t vectors_ = 0;
};

}  // namespace

std::optional<std::string> piecewise_violation(const Dfa& dfa) {
  if (std::string cycle = returning_state(dfa); !cycle.empty()) return cycle;
  for (State state = 0; state < dfa.states(); ++state) {
    TimeLimit::check();
    for (Letter a = 0; a < dfa.letters(); ++a)
      for (Letter b = a + 1; b < dfa.letters(); ++b) {
        const State p = settled_at(dfa, dfa.next(state, a), a, b), q = settled_at(dfa, dfa.next(state, b), a, b);
        if (p == q) continue;
        const Word once{a, b}, to = word_between(dfa, dfa.initial(), state), tells = telling_word(dfa, p, q).value();
        require_witness(dfa.next(p, a) == p && dfa.next(p, b) == p && dfa.next(q, a) == q && dfa.next(q, b) == q, "PT");
        const auto first = [&](Letter letter) {
          return product_of_words(dfa.alphabet(), {{{&letter, 1}}, {once, true}});
        };
        return fmt::format("after {}, {} and {} differ for every great n, as {} tells",
                           quoted_letters(dfa.alphabet(), to), first(a), first(b),
                           quoted_letters(dfa.alphabet(), tells));
      }
  }
  return std::nullopt;
}

std::uint64_t piecewise_order(const Dfa& dfa) { return OrderSearch(dfa).order(); }

std::uint64_t automaton_depth(const Dfa& dfa) {
  std::vector<std::uint64_t> depth(dfa.states(), 0);
  std::uint64_t most = 0;
  for (const std::vector<State>& component : strongly_connected_components(dfa).members())
    for (Letter letter = 0; letter < dfa.letters(); ++letter) {
      const State state = component.front();
      const State to = dfa.next(state, letter);
      if (to == state) continue;
      depth[to] = std::max(depth[to], depth[state] + 1);
      most = std::max(most, depth[to]);
    }
  return most;
}

}  // namespace krohn
