#include "krohn/automata/classes/piecewise_testable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "krohn/automata/classes/state_pairs.h"
#include "krohn/automata/dfa/graph.h"
#include "krohn/automata/dfa/shown_word.h"
#include "krohn/automata/monoid/partial_verdicts.h"
#include "krohn/groups/error.h"
#include "krohn/groups/time_limit.h"

namespace krohn {
namespace {

constexpr std::size_t kMaxVectors = 200'000;

/// Where (ab)ⁿ leads in the end, in an automaton without cycles.
State settled(const Dfa& dfa, State state, Letter a, Letter b) {
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
        const State p = settled(dfa, dfa.next(state, a), a, b), q = settled(dfa, dfa.next(state, b), a, b);
        if (p == q) continue;
        const Word once{a, b}, to = word_between(dfa, dfa.initial(), state), tells = telling_word(dfa, p, q).value();
        if (dfa.next(p, a) != p || dfa.next(p, b) != p || dfa.next(q, a) != q || dfa.next(q, b) != q)
          throw Error("the witness against \"PT\" failed its check; please report this");
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
