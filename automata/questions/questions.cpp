#include "krohn/automata/questions/questions.h"

#include <algorithm>
#include <array>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/operations/emptiness.h"
#include "krohn/automata/operations/nfa_operations.h"
#include "krohn/automata/operations/product.h"
#include "krohn/automata/questions/search_limits.h"
#include "krohn/groups/record_set.h"

namespace krohn {
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

}  // namespace krohn
