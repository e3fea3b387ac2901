#include "krohn/automata/operations/questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/operations/nfa_operations.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/record_set.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/groups/base/union_find.h"

namespace krohn {

// The tree of a breadth-first search, by which the word to a node is found again.

/// The nodes of a search in the order in which they were met, each with its parent and the letter between. Node 0, 1, …
/// may be roots. 12 bytes a node.
class WordTree {
 public:
  using Index = std::uint32_t;
  static constexpr Index kRoot = UINT32_MAX;

  Index size() const { return static_cast<Index>(arcs_.size()); }
  /// `letter` may be kEpsilon: a step that reads nothing.
  Index add(Index parent, Letter letter) {
    const bool reads = parent != kRoot && letter != kEpsilon;
    arcs_.push_back({parent, letter, parent == kRoot ? 0 : arcs_[parent].depth + (reads ? 1U : 0U)});
    return size() - 1;
  }
  std::uint32_t depth(Index node) const { return arcs_[node].depth; }
  Word word_to(Index node) const {
    Word word;
    for (; node != kRoot; node = arcs_[node].parent)
      if (arcs_[node].parent != kRoot && arcs_[node].letter != kEpsilon) word.push_back(arcs_[node].letter);
    std::reverse(word.begin(), word.end());
    return word;
  }

 private:
  struct Arc {
    Index parent;
    Letter letter;
    std::uint32_t depth;
  };
  std::vector<Arc> arcs_;
};

// The limits of every search.

/// To be called for every pair that is expanded.
inline void check_limits(const WordTree& tree, const QuestionLimits& limits) {
  TimeLimit::check();
  if (tree.size() > limits.max_pairs)
    throw LimitError(
        fmt::format("the search met more than {} of states; raise --max-pairs", counted(limits.max_pairs, "pair")));
}

/// Goes through the tree by the words' lengths until `found` is a node: every node first moves without a letter, to
/// nodes of the same length, then reads one.
template <class MoveSilently, class ReadLetters>
void by_length(const WordTree& tree, const WordTree::Index& found, MoveSilently move_silently,
               ReadLetters read_letters) {
  for (WordTree::Index begin = 0; begin < tree.size() && found == WordTree::kRoot;) {
    for (WordTree::Index node = begin; node < tree.size(); ++node) move_silently(node);
    const WordTree::Index end = tree.size();
    if (found != WordTree::kRoot) break;
    for (WordTree::Index node = begin; node < end && found == WordTree::kRoot; ++node) read_letters(node);
    begin = end;
  }
}

/// Returns the result of `search.run()`. The message of a limit also says how far the search came.
template <class Search>
DecidingWord run_search(Search& search) {
  try {
    return search.run();
  } catch (const LimitError& error) {
    throw LimitError(fmt::format("{}\nNo word of fewer than {} decides the question.", error.what(),
                                 counted(search.length(), "letter")));
  }
}

/// A yes, or the word to `node`.
inline DecidingWord answer(const WordTree& tree, WordTree::Index node, bool in_first, bool in_second) {
  DecidingWord result;
  result.pairs = tree.size();
  if (node == WordTree::kRoot) return result;
  result.word = tree.word_to(node);
  result.in_first = in_first;
  result.in_second = in_second;
  return result;
}

namespace {

/// Pairs of states of two automata over one alphabet, layer by layer: first what moves without a letter reach, so that
/// no pair is met later than its shortest word allows.
class CommonWordSearch {
 public:
  CommonWordSearch(const Nfa& a, const Nfa& b, const QuestionLimits& limits)
      : a_(a), b_(b), limits_(limits), useful_a_(coaccessible_states(a)), useful_b_(coaccessible_states(b)) {
    for (State state = 0; state < b.states(); ++state) {
      arcs_of_b_.emplace_back(b.arcs(state).begin(), b.arcs(state).end());
      std::sort(arcs_of_b_.back().begin(), arcs_of_b_.back().end());
    }
  }

  DecidingWord run() {
    for (const State in_a : a_.initial())
      for (const State in_b : b_.initial()) visit({in_a, in_b}, WordTree::kRoot, kEpsilon);
    by_length(
        tree_, found_, [this](WordTree::Index node) { move_silently(node); },
        [this](WordTree::Index node) { read_letters(node); });
    return answer(tree_, found_, true, true);
  }

  std::uint32_t length() const { return tree_.size() == 0 ? 0 : tree_.depth(at_); }

 private:
  void visit(StatePair pair, WordTree::Index parent, Letter letter) {
    if (!useful_a_[pair.a] || !useful_b_[pair.b]) return;
    if (!pairs_.insert(std::array<std::uint32_t, 2>{pair.a, pair.b}).fresh) return;
    const WordTree::Index node = tree_.add(parent, letter);
    if (found_ == WordTree::kRoot && a_.accepts(pair.a) && b_.accepts(pair.b)) found_ = node;
  }

  StatePair pair(WordTree::Index node) const { return {pairs_[node][0], pairs_[node][1]}; }

  void move_silently(WordTree::Index node) {
    at_ = node;
    check_limits(tree_, limits_);
    const StatePair here = pair(node);
    for (const Nfa::Arc& arc : a_.arcs(here.a))
      if (arc.letter == kEpsilon) visit({arc.target, here.b}, node, kEpsilon);
    for (const Nfa::Arc& arc : b_.arcs(here.b))
      if (arc.letter == kEpsilon) visit({here.a, arc.target}, node, kEpsilon);
  }

  void read_letters(WordTree::Index node) {
    at_ = node;
    check_limits(tree_, limits_);
    const StatePair here = pair(node);
    const std::vector<Nfa::Arc>& others = arcs_of_b_[here.b];
    for (const Nfa::Arc& arc : a_.arcs(here.a)) {
      if (arc.letter == kEpsilon) continue;
      for (auto other = std::lower_bound(others.begin(), others.end(), Nfa::Arc{arc.letter, 0});
           other != others.end() && other->letter == arc.letter; ++other)
        visit({arc.target, other->target}, node, arc.letter);
    }
  }

  const Nfa &a_, &b_;
  QuestionLimits limits_;
  std::vector<bool> useful_a_, useful_b_;
  std::vector<std::vector<Nfa::Arc>> arcs_of_b_;
  RecordSet pairs_{2};  ///< numbered as the nodes of the tree
  WordTree tree_;
  WordTree::Index found_ = WordTree::kRoot, at_ = 0;
};

/// "01--|…": several valuations of bits.
bool is_class_of_valuations(const Symbol& letter) {
  std::string_view name = letter.name;
  const bool goes_on = name.ends_with("|…");
  if (goes_on) name.remove_suffix(std::string_view("|…").size());
  return letter.characters.empty() && !name.empty() && name.find_first_not_of("01-") == std::string_view::npos &&
         (goes_on || name.find('-') != std::string_view::npos);
}

}  // namespace

void require_comparable(const Alphabet& a, const Alphabet& b) {
  for (const auto& [own, other] : {std::pair(&a, &b), std::pair(&b, &a)})
    for (const Symbol& letter : own->symbols())
      if (is_class_of_valuations(letter) && !other->find(letter.name))
        throw InputError(
            fmt::format("the letter {} stands for several valuations of bits, and the other alphabet, {}, has other "
                        "ones; automata over bits can be compared where their letters are the same",
                        in_quotes(letter.name), to_string(*other)));
}

DecidingWord accepted_word(const Automaton& automaton, const QuestionLimits& limits) {
  const Dfa* dfa = std::get_if<Dfa>(&automaton);
  if (dfa == nullptr) return common_word(automaton, automaton, limits);
  DecidingWord result;
  result.word = shortest_accepted_word(*dfa);
  result.in_first = result.in_second = result.word.has_value();
  result.pairs = dfa->states();
  return result;
}

DecidingWord common_word(const Automaton& a, const Automaton& b, const QuestionLimits& limits) {
  require_comparable(alphabet_of(a), alphabet_of(b));
  const AlphabetRefinement common = refine(alphabet_of(a), alphabet_of(b));
  const Nfa left = read_over(to_nfa(a, "disjointness"), common.merged, common.in_a);
  const Nfa right = read_over(to_nfa(b, "disjointness"), common.merged, common.in_b);
  CommonWordSearch search(left, right, limits);
  return run_search(search);
}

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

namespace {

/// A set of states of both automata, those of the second behind those of the first.
class StateBits {
 public:
  explicit StateBits(std::size_t states) : words_((states + 63) / 64, 0) {}
  /// `offset` is a multiple of 64.
  void add(LazySubsets::Blocks blocks, std::size_t offset) {
    for (const std::uint64_t block : blocks)
      words_[offset / 64 + (block >> 33)] |= (block & UINT32_MAX) << (block >> 32) % 2 * 32;
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

/// The consequences of pairs of subsets that are assumed equal, where unions of equals are equal: the congruence
/// closure, decided by rewriting both sides to the largest subset that they equal.
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
    return states_ <= kMaxStates && rules_.size() <= kMaxRules && (tries_ < 500 || 20 * hits_ >= tries_);
  }
  void count(bool hit) {
    ++tries_;
    hits_ += hit ? 1 : 0;
  }

 private:
  static constexpr std::size_t kMaxStates = 8192, kMaxRules = 10'000;

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
  std::vector<std::pair<StateBits, StateBits>> rules_;  ///< the set that firing adds, and the right side
  std::vector<StateBits> left_;
  std::uint64_t tries_ = 0, hits_ = 0;
};

class EqualitySearch {
 public:
  EqualitySearch(const Nfa& a, const Nfa& b, const QuestionLimits& limits)
      : a_(a),
        b_(b),
        letters_(a.alphabet().size()),
        offset_((std::size_t{a.states()} + 63) / 64 * 64),
        both_(offset_ + b.states()),
        limits_(limits),
        congruence_(std::size_t{a.states()} + b.states()) {}

  DecidingWord run() {
    std::vector<Step> layer{{{a_.initial(), b_.initial()}, WordTree::kRoot, kEpsilon}};
    while (!layer.empty() && found_ == WordTree::kRoot) {
      const WordTree::Index begin = tree_.size();
      // Small subsets first: large ones are their unions, and so need not be looked at.
      std::ranges::stable_sort(layer, {},
                               [&](const Step& step) { return a_.count(step.pair.a) + b_.count(step.pair.b); });
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
          const auto [left, right] = points(next);
          if (classes_.find(left) != classes_.find(right)) layer.push_back({next, node, letter});
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

  /// Two points of `classes_`, which has them from now on.
  std::pair<std::size_t, std::size_t> points(Pair pair) {
    const std::size_t left = 2 * std::size_t{pair.a}, right = 2 * std::size_t{pair.b} + 1;
    classes_.grow(std::max(left, right) + 1);
    return {left, right};
  }

  /// By the pairs met so far; otherwise it is one of them from now on.
  bool is_implied(Pair pair) {
    const auto [left, right] = points(pair);
    if (!classes_.unite(left, right)) return true;
    if (!congruence_.pays()) return false;
    StateBits in_a(both_), in_b(both_);
    in_a.add(a_.blocks(pair.a), 0);
    in_b.add(b_.blocks(pair.b), offset_);
    const bool implied = congruence_.implies(in_a, in_b);
    congruence_.count(implied);
    if (!implied) congruence_.assume(in_a, in_b);
    return implied;
  }

  LazySubsets a_, b_;
  Letter letters_;
  std::size_t offset_, both_;
  QuestionLimits limits_;
  Congruence congruence_;
  UnionFind<std::size_t> classes_{0};
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
