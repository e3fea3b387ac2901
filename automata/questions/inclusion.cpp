#include <array>

#include "krohn/automata/operations/emptiness.h"
#include "krohn/automata/operations/nfa_operations.h"
#include "krohn/automata/operations/product.h"
#include "krohn/automata/questions/lazy_subsets.h"
#include "krohn/automata/questions/search_limits.h"
#include "krohn/groups/record_set.h"

namespace krohn {
namespace {

/// Pairs of a state of `a` and a subset of `b`, each asking for a word that the state accepts and the subset does not.
class AntichainSearch {
 public:
  AntichainSearch(const Nfa& a, const Nfa& b, bool b_is_deterministic, const QuestionLimits& limits)
      : a_(a), subsets_(b), limits_(limits), useful_(coaccessible_states(a)), covers_(!b_is_deterministic) {
    if (covers_) kept_.resize(a.states());
  }

  DecidingWord run() {
    for (const State state : a_.initial()) visit(state, subsets_.initial(), WordTree::kRoot, kEpsilon);
    by_length(
        tree_, found_, [this](WordTree::Index node) { move_silently(node); },
        [this](WordTree::Index node) { read_letters(node); });
    return answer(tree_, found_, true, false);
  }

  std::uint32_t length() const { return tree_.size() == 0 ? 0 : tree_.depth(at_); }

 private:
  void visit(State state, LazySubsets::Index subset, WordTree::Index parent, Letter letter) {
    if (!useful_[state]) return;
    const std::array<std::uint32_t, 2> record{state, subset};
    if (!covers_) {
      if (!pairs_.insert(record).fresh) return;
    } else if (pairs_.find(record) || is_covered(state, subset)) {
      return;
    } else {
      pairs_.insert(record);
    }
    const WordTree::Index node = tree_.add(parent, letter);
    dead_.push_back(false);
    if (covers_) keep(state, subset, node);
    if (found_ == WordTree::kRoot && a_.accepts(state) && !subsets_.accepts(subset)) found_ = node;
  }

  /// By a pair that was met as early: all its words are words of that pair too.
  bool is_covered(State state, LazySubsets::Index subset) const {
    for (const WordTree::Index node : kept_[state])
      if (subsets_.is_subset(pairs_[node][1], subset)) return true;
    return false;
  }

  /// Pairs that this one covers need not be compared with again, and not be expanded when they are no shorter.
  void keep(State state, LazySubsets::Index subset, WordTree::Index node) {
    std::vector<WordTree::Index>& kept = kept_[state];
    std::erase_if(kept, [&](WordTree::Index old) {
      if (!subsets_.is_subset(subset, pairs_[old][1])) return false;
      if (tree_.depth(old) == tree_.depth(node)) dead_[old] = true;
      return true;
    });
    kept.push_back(node);
  }

  void move_silently(WordTree::Index node) {
    at_ = node;
    check_limits(tree_, limits_);
    if (dead_[node]) return;
    const State state = pairs_[node][0];
    for (const Nfa::Arc& arc : a_.arcs(state))
      if (arc.letter == kEpsilon) visit(arc.target, pairs_[node][1], node, kEpsilon);
  }

  void read_letters(WordTree::Index node) {
    at_ = node;
    check_limits(tree_, limits_);
    if (dead_[node]) return;
    const State state = pairs_[node][0];
    for (const Nfa::Arc& arc : a_.arcs(state))
      if (arc.letter != kEpsilon && useful_[arc.target])
        visit(arc.target, subsets_.next(pairs_[node][1], arc.letter), node, arc.letter);
  }

  const Nfa& a_;
  LazySubsets subsets_;
  QuestionLimits limits_;
  std::vector<bool> useful_;
  bool covers_;
  RecordSet pairs_{2};  ///< numbered as the nodes of the tree
  WordTree tree_;
  std::vector<bool> dead_;                          ///< by node: covered by another of the same length
  std::vector<std::vector<WordTree::Index>> kept_;  ///< by state: the antichain
  WordTree::Index found_ = WordTree::kRoot, at_ = 0;
};

/// Both deterministic: pairs of states.
class DfaInclusionSearch {
 public:
  DfaInclusionSearch(const Dfa& a, const Dfa& b, const QuestionLimits& limits)
      : DfaInclusionSearch(a, b, limits, refine(a.alphabet(), b.alphabet())) {}

  DecidingWord run() {
    visit({a_.initial(), b_.initial()}, WordTree::kRoot, kEpsilon);
    for (at_ = 0; at_ < tree_.size() && found_ == WordTree::kRoot; ++at_) {
      check_limits(tree_, limits_);
      const StatePair here{pairs_[at_][0], pairs_[at_][1]};
      for (Letter letter = 0; letter < letters_; ++letter)
        visit({a_.next(here.a, letter), b_.next(here.b, letter)}, at_, letter);
    }
    return answer(tree_, found_, true, false);
  }

  std::uint32_t length() const { return tree_.size() == 0 ? 0 : tree_.depth(at_); }

 private:
  DfaInclusionSearch(const Dfa& a, const Dfa& b, const QuestionLimits& limits, AlphabetRefinement common)
      : a_(a, std::move(common.in_a)),
        b_(b, std::move(common.in_b)),
        letters_(common.merged.size()),
        limits_(limits),
        useful_(coaccessible_states(a)) {}

  void visit(StatePair pair, WordTree::Index parent, Letter letter) {
    if (found_ != WordTree::kRoot || pair.a == a_.sink() || !useful_[pair.a]) return;
    if (!pairs_.insert(std::array<std::uint32_t, 2>{pair.a, pair.b}).fresh) return;
    const WordTree::Index node = tree_.add(parent, letter);
    if (a_.accepts(pair.a) && !b_.accepts(pair.b)) found_ = node;
  }

  ReadOver a_, b_;
  Letter letters_;
  QuestionLimits limits_;
  std::vector<bool> useful_;
  RecordSet pairs_{2};
  WordTree tree_;
  WordTree::Index found_ = WordTree::kRoot, at_ = 0;
};

}  // namespace

DecidingWord excess_word(const Automaton& a, const Automaton& b, const QuestionLimits& limits) {
  require_comparable(alphabet_of(a), alphabet_of(b));
  const Dfa *left = std::get_if<Dfa>(&a), *right = std::get_if<Dfa>(&b);
  if (left != nullptr && right != nullptr) {
    require_acceptor(*left, "inclusion");
    require_acceptor(*right, "inclusion");
    DfaInclusionSearch search(*left, *right, limits);
    return run_search(search);
  }
  const AlphabetRefinement common = refine(alphabet_of(a), alphabet_of(b));
  const Nfa smaller = read_over(to_nfa(a, "inclusion"), common.merged, common.in_a);
  const Nfa larger = read_over(to_nfa(b, "inclusion"), common.merged, common.in_b);
  AntichainSearch search(smaller, larger, right != nullptr, limits);
  return run_search(search);
}

}  // namespace krohn
