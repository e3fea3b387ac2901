#include "krohn/automata/operations/equivalence.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "krohn/automata/dfa/graph.h"
#include "krohn/automata/operations/product.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/union_find.h"

namespace krohn {

std::vector<bool> coaccessible_states(const Dfa& dfa) {
  require_acceptor(dfa, "coaccessibility");
  // Arcs backwards, letters forgotten: the sources of q are sources[first[q]] … sources[first[q + 1] − 1].
  std::vector<std::size_t> first(std::size_t{dfa.states()} + 1, 0);
  for (const State target : dfa.table()) ++first[target];
  std::size_t end = 0;
  for (std::size_t& offset : first) offset = end += offset;
  std::vector<State> sources(dfa.table().size());
  for (State state = 0; state < dfa.states(); ++state)
    for (const State target : dfa.row(state)) sources[--first[target]] = state;

  std::vector<bool> coaccessible(dfa.states(), false);
  std::vector<State> queue;
  for (State state = 0; state < dfa.states(); ++state)
    if (dfa.accepts(state)) {
      coaccessible[state] = true;
      queue.push_back(state);
    }
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (std::size_t j = first[queue[i]]; j < first[queue[i] + 1]; ++j)
      if (!coaccessible[sources[j]]) {
        coaccessible[sources[j]] = true;
        queue.push_back(sources[j]);
      }
  return coaccessible;
}

std::optional<Word> shortest_accepted_word(const Dfa& dfa) {
  require_acceptor(dfa, "the shortest accepted word");
  const ShortestWords words(dfa);
  for (const State state : words.states())
    if (dfa.accepts(state)) return words.to(state);
  return std::nullopt;
}

bool is_empty(const Dfa& dfa) { return !shortest_accepted_word(dfa); }

bool is_universal(const Dfa& dfa) {
  require_acceptor(dfa, "universality");
  const std::vector<bool> reachable = reachable_states(dfa);
  for (State state = 0; state < dfa.states(); ++state)
    if (reachable[state] && !dfa.accepts(state)) return false;
  return true;
}

bool is_finite(const Dfa& dfa) {
  const std::vector<bool> coaccessible = coaccessible_states(dfa);
  const Components components = strongly_connected_components(dfa);
  const std::vector<bool> reachable = reachable_states(dfa);
  for (State state = 0; state < dfa.states(); ++state) {
    if (!reachable[state] || !coaccessible[state]) continue;
    for (const State target : dfa.row(state))
      if (components.of[target] == components.of[state]) return false;
  }
  return true;
}

namespace {

/// Both automata over the common alphabet, outputs as numbers that are equal exactly when the names are.
class Comparison {
 public:
  Comparison(const Dfa& a, const Dfa& b) : Comparison(a, b, refine(a.alphabet(), b.alphabet())) {}

  std::size_t states_of_a() const { return kinds_a_.size(); }
  std::size_t states_of_b() const { return kinds_b_.size(); }
  Letter letters() const { return letters_; }
  bool differ(StatePair pair) const { return kinds_a_[pair.a] != kinds_b_[pair.b]; }
  StatePair start() const { return {a_.initial(), b_.initial()}; }
  StatePair next(StatePair pair, Letter letter) const { return {a_.next(pair.a, letter), b_.next(pair.b, letter)}; }

 private:
  Comparison(const Dfa& a, const Dfa& b, AlphabetRefinement common)
      : a_(a, std::move(common.in_a)), b_(b, std::move(common.in_b)), letters_(common.merged.size()) {
    const bool same_letters = a.letters() == letters_ && b.letters() == letters_;  // perhaps in another order
    if (!same_letters && !(a.is_acceptor() && b.is_acceptor()))
      throw InputError(fmt::format(
          "machines with outputs are compared over the same letters, and these have {} and {}, {} together; a group's "
          "letters are chosen by --generators",
          a.letters(), b.letters(), letters_));
    std::map<std::string, std::size_t> kinds;
    kinds_a_ = kinds_of(a, kinds);
    kinds_b_ = kinds_of(b, kinds);
  }

  /// By state, the sink last.
  static std::vector<std::size_t> kinds_of(const Dfa& dfa, std::map<std::string, std::size_t>& kinds) {
    std::vector<std::size_t> of_output, of_state;
    for (const std::string& name : dfa.output_names())
      of_output.push_back(kinds.emplace(name, kinds.size()).first->second);
    for (const Output output : dfa.outputs()) of_state.push_back(of_output[output]);
    of_state.push_back(of_output[0]);  // reject, where the sink is reachable at all
    return of_state;
  }

  ReadOver a_, b_;
  Letter letters_;
  std::vector<std::size_t> kinds_a_, kinds_b_;
};

}  // namespace

std::optional<Word> distinguishing_word(const Dfa& a, const Dfa& b) {
  const Comparison comparison(a, b);
  if (comparison.differ(comparison.start())) return Word{};
  struct Entry {
    StatePair pair;
    std::size_t parent;
    Letter letter;
  };
  const std::size_t offset = comparison.states_of_a();
  UnionFind<std::size_t> assumed_equal(offset + comparison.states_of_b());
  std::vector<Entry> queue{{comparison.start(), 0, 0}};
  assumed_equal.unite(comparison.start().a, offset + comparison.start().b);
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (Letter letter = 0; letter < comparison.letters(); ++letter) {
      const StatePair pair = comparison.next(queue[i].pair, letter);
      if (comparison.differ(pair)) {
        Word word{letter};
        for (std::size_t j = i; j != 0; j = queue[j].parent) word.push_back(queue[j].letter);
        std::reverse(word.begin(), word.end());
        return word;
      }
      if (assumed_equal.unite(pair.a, offset + pair.b)) queue.push_back({pair, i, letter});
    }
  return std::nullopt;
}

bool equivalent(const Dfa& a, const Dfa& b) { return !distinguishing_word(a, b); }

}  // namespace krohn
