#include <algorithm>
#include <numeric>
#include <utility>

#include "krohn/automata/operations/equivalence.h"
#include "krohn/automata/operations/nfa_operations.h"
#include "krohn/automata/operations/product.h"
#include "krohn/automata/questions/lazy_subsets.h"
#include "krohn/automata/questions/search_limits.h"

namespace krohn {
namespace {

/// A set of states of both automata, those of the second behind those of the first.
class StateBits {
 public:
  explicit StateBits(std::size_t states) : words_((states + 63) / 64, 0) {}
  void add(std::span<const State> members, std::size_t offset) {
    for (const State state : members) words_[(offset + state) / 64] |= std::uint64_t{1} << ((offset + state) % 64);
  }
  bool holds(const StateBits& other) const {
    for (std::size_t i = 0; i < words_.size(); ++i)
      if ((other.words_[i] & ~words_[i]) != 0) return false;
    return true;
  }
  void unite(const StateBits& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }

 private:
  std::vector<std::uint64_t> words_;
};

/// What follows from pairs of subsets that are assumed equal when unions of equals are equal: the congruence closure,
/// decided by rewriting both sides to the largest subset that they equal.
class Congruence {
 public:
  explicit Congruence(std::size_t states) : states_(states) {}

  void assume(const StateBits& left, const StateBits& right) {
    rules_.emplace_back(left, right);
    rules_.back().first.unite(right);  // a rule that fires adds both sides
    left_.push_back(left);
  }

  bool implies(const StateBits& left, const StateBits& right) const {
    return closure_holds(left, right) && closure_holds(right, left);
  }

  /// The test looks at every rule, some times over, and may never succeed: it is given up where it does not pay.
  bool pays() const {
    return states_ <= kMostStates && rules_.size() <= kMostRules && (tries_ < 500 || 20 * hits_ >= tries_);
  }
  void count(bool hit) {
    ++tries_;
    hits_ += hit ? 1 : 0;
  }

 private:
  static constexpr std::size_t kMostStates = 8192, kMostRules = 10'000;

  bool closure_holds(const StateBits& start, const StateBits& goal) const {
    StateBits here = start;
    std::vector<std::uint32_t> idle(rules_.size());
    std::iota(idle.begin(), idle.end(), 0U);
    for (bool changed = true; changed;) {
      if (here.holds(goal)) return true;
      changed = false;
      std::erase_if(idle, [&](std::uint32_t rule) {
        if (!here.holds(left_[rule]) && !here.holds(rules_[rule].second)) return false;
        here.unite(rules_[rule].first);
        changed = true;
        return true;
      });
    }
    return here.holds(goal);
  }

  std::size_t states_;
  std::vector<std::pair<StateBits, StateBits>> rules_;  ///< what firing adds, and the right side
  std::vector<StateBits> left_;
  std::uint64_t tries_ = 0, hits_ = 0;
};

/// Classes of points that only ever merge, the points being as many as are asked for.
class GrowingClasses {
 public:
  bool unite(std::size_t a, std::size_t b) {
    a = find(a), b = find(b);
    if (a == b) return false;
    parent_[std::max(a, b)] = std::min(a, b);
    return true;
  }
  bool together(std::size_t a, std::size_t b) { return find(a) == find(b); }

 private:
  std::size_t find(std::size_t point) {
    while (parent_.size() <= point) parent_.push_back(parent_.size());
    while (parent_[point] != point) point = parent_[point] = parent_[parent_[point]];
    return point;
  }
  std::vector<std::size_t> parent_;
};

class EqualitySearch {
 public:
  EqualitySearch(const Nfa& a, const Nfa& b, const QuestionLimits& limits)
      : a_(a),
        b_(b),
        letters_(a.alphabet().size()),
        offset_(a.states()),
        both_(std::size_t{a.states()} + b.states()),
        limits_(limits),
        congruence_(both_) {}

  DecidingWord run() {
    std::vector<Step> layer{{{a_.initial(), b_.initial()}, WordTree::kRoot, kEpsilon}};
    while (!layer.empty() && found_ == WordTree::kRoot) {
      const WordTree::Index begin = tree_.size();
      // Small subsets first: large ones are their unions, and so need not be looked at.
      std::ranges::stable_sort(
          layer, {}, [&](const Step& step) { return a_.members(step.pair.a).size() + b_.members(step.pair.b).size(); });
      for (const Step& step : layer) {
        if (found_ != WordTree::kRoot) break;
        visit(step.pair, step.parent, step.letter);
      }
      layer.clear();
      for (WordTree::Index node = begin; node < tree_.size() && found_ == WordTree::kRoot; ++node) {
        check_limits(tree_, limits_);
        const Pair here = pairs_[node];
        for (Letter letter = 0; letter < letters_; ++letter) {
          const Pair next{a_.next(here.a, letter), b_.next(here.b, letter)};
          if (!classes_.together(2 * std::size_t{next.a}, 2 * std::size_t{next.b} + 1))
            layer.push_back({next, node, letter});
        }
      }
    }
    const bool in_first = found_ != WordTree::kRoot && a_.accepts(pairs_[found_].a);
    return answer(tree_, found_, in_first, !in_first);
  }

  std::uint32_t length() const { return tree_.size() == 0 ? 0 : tree_.depth(tree_.size() - 1); }

 private:
  struct Pair {
    LazySubsets::Index a, b;
  };
  /// To be looked at: a pair that the node before reaches.
  struct Step {
    Pair pair;
    WordTree::Index parent;
    Letter letter;
  };

  void visit(Pair pair, WordTree::Index parent, Letter letter) {
    check_limits(tree_, limits_);
    const bool differ = a_.accepts(pair.a) != b_.accepts(pair.b);
    if (!differ && is_implied(pair)) return;
    pairs_.push_back(pair);
    const WordTree::Index node = tree_.add(parent, letter);
    if (differ) found_ = node;
  }

  /// By the pairs met so far; otherwise it is one of them from now on.
  bool is_implied(Pair pair) {
    const std::size_t left = 2 * std::size_t{pair.a}, right = 2 * std::size_t{pair.b} + 1;
    if (classes_.together(left, right)) return true;
    if (!congruence_.pays()) {
      classes_.unite(left, right);
      return false;
    }
    StateBits in_a(both_), in_b(both_);
    in_a.add(a_.members(pair.a), 0);
    in_b.add(b_.members(pair.b), offset_);
    const bool implied = congruence_.implies(in_a, in_b);
    congruence_.count(implied);
    if (!implied) congruence_.assume(in_a, in_b);
    classes_.unite(left, right);
    return implied;
  }

  LazySubsets a_, b_;
  Letter letters_;
  std::size_t offset_, both_;
  QuestionLimits limits_;
  Congruence congruence_;
  GrowingClasses classes_;
  std::vector<Pair> pairs_;  ///< numbered as the nodes of the tree
  WordTree tree_;
  WordTree::Index found_ = WordTree::kRoot;
};

}  // namespace

DecidingWord distinguishing_word(const Automaton& a, const Automaton& b, const QuestionLimits& limits) {
  require_comparable(alphabet_of(a), alphabet_of(b));
  const Dfa *left = std::get_if<Dfa>(&a), *right = std::get_if<Dfa>(&b);
  if (left != nullptr && right != nullptr) {
    DecidingWord result;
    result.word = distinguishing_word(*left, *right);
    result.pairs = std::uint64_t{left->states()} + right->states();
    if (result.word && left->is_acceptor() && right->is_acceptor()) {
      const ReadOver first(*left, refine(left->alphabet(), right->alphabet()).in_a);
      State state = first.initial();
      for (const Letter letter : *result.word) state = first.next(state, letter);
      result.in_first = first.accepts(state);
      result.in_second = !result.in_first;
    }
    return result;
  }
  const AlphabetRefinement common = refine(alphabet_of(a), alphabet_of(b));
  const Nfa first = read_over(to_nfa(a, "equality"), common.merged, common.in_a);
  const Nfa second = read_over(to_nfa(b, "equality"), common.merged, common.in_b);
  EqualitySearch search(first, second, limits);
  return run_search(search);
}

}  // namespace krohn
