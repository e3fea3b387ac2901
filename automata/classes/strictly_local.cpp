#include "krohn/automata/classes/strictly_local.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "krohn/automata/classes/state_pairs.h"
#include "krohn/automata/dfa/shown_word.h"
#include "krohn/automata/operations/emptiness.h"
#include "krohn/groups/error.h"
#include "krohn/groups/time_limit.h"

namespace krohn {
namespace {

constexpr std::size_t kMaxNodes = 200'000;

Word joined(std::initializer_list<const Word*> parts) {
  Word all;
  for (const Word* part : parts) all.insert(all.end(), part->begin(), part->end());
  return all;
}

std::string not_substitutable(const Dfa& dfa, StandingPair pair) {
  // Some word is accepted from p and not from q, or the other way round; let it be from p.
  Word tells = telling_word(dfa, pair.p, pair.q).value();
  if (!dfa.accepts(dfa.run(tells, pair.p))) std::swap(pair.p, pair.q);
  const Word to_p = word_between(dfa, dfa.initial(), pair.p), to_q = word_between(dfa, dfa.initial(), pair.q);
  const Word ends = shortest_word(dfa, pair.q, [&](State state) { return dfa.accepts(state); }).value();
  for (const std::size_t times : {1, 2, 3}) {
    Word middle;
    for (std::size_t i = 0; i < times; ++i) middle.insert(middle.end(), pair.word.begin(), pair.word.end());
    if (!dfa.accepts(dfa.run(joined({&to_p, &middle, &tells}))) ||
        !dfa.accepts(dfa.run(joined({&to_q, &middle, &ends}))) ||
        dfa.accepts(dfa.run(joined({&to_q, &middle, &tells}))))
      throw Error("the witness against \"SL\" failed its check; please report this");
  }
  const auto around = [&](const Word& start, const Word& end) {
    return product_of_words(dfa.alphabet(), {{start}, {pair.word, true}, {end}});
  };
  return fmt::format("for every n, {} and {} are accepted and {} is not", around(to_p, tells), around(to_q, ends),
                     around(to_q, tells));
}

using States = std::vector<State>;

/// Depth first over the pairs (S(ay), S(y)) of sets of states, where S(x) are the states from which something is
/// accepted after a word that ends in x: a·y·b is a minimal forbidden factor exactly when S(ayb) is empty and neither
/// S(ay) nor S(yb) is. Once the two sets are equal nothing follows.
class FactorSearch {
 public:
  explicit FactorSearch(const Dfa& dfa) : dfa_(dfa), useful_(coaccessible_states(dfa)) {}

  ListedWords find(std::size_t most_listed) {
    States all;
    for (State state = 0; state < dfa_.states(); ++state)
      if (useful_[state]) all.push_back(state);
    if (all.empty()) return {{"⋊"}, 1, 1, true};
    std::vector<Found> starts;
    ListedWords result;
    for (Letter letter = 0; letter < dfa_.letters(); ++letter) {
      States set = after(all, letter);
      if (set.empty())
        starts.push_back({{letter}, false, kNoNode});
      else
        starts.push_back({{letter}, false, node(std::move(set), all)});
    }
    starts.push_back({{}, true, node({dfa_.initial()}, all)});
    list(std::move(starts), most_listed, result);
    return result;
  }

 private:
  static constexpr std::size_t kNoNode = SIZE_MAX;
  struct Node {
    States first, second;
    std::vector<std::size_t> next;  ///< per letter: a node, or kNoNode where nothing follows
    std::vector<bool> forbidden;    ///< per letter, and last the end ⋉
    std::uint64_t words = 0;        ///< forbidden factors through here
    std::uint64_t length = 0;       ///< letters of the longest, from here
  };
  /// A word with its node; without one it is forbidden itself.
  struct Found {
    Word letters;
    bool from_start;
    std::size_t node;
  };

  States after(const States& set, Letter letter) const {
    States next;
    for (const State state : set)
      if (const State to = dfa_.next(state, letter); useful_[to]) next.push_back(to);
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    return next;
  }

  bool may_end(const States& set) const {
    return std::any_of(set.begin(), set.end(), [&](State state) { return dfa_.accepts(state); });
  }

  std::size_t node(States first, States second) {
    if (first == second) return kNoNode;
    const auto known = numbers_.find({first, second});
    if (known != numbers_.end()) return known->second;
    if (nodes_.size() == kMaxNodes)
      throw LimitError(fmt::format("the search for forbidden factors met {} pairs of sets of states", kMaxNodes));
    TimeLimit::check();
    const std::size_t index = nodes_.size();
    numbers_.emplace(std::make_pair(first, second), index);
    nodes_.emplace_back();
    Node made;
    made.next.assign(dfa_.letters(), kNoNode);
    made.forbidden.assign(dfa_.letters() + 1, false);
    for (Letter letter = 0; letter < dfa_.letters(); ++letter) {
      States longer = after(first, letter), rest = after(second, letter);
      if (longer.empty()) {
        made.forbidden[letter] = !rest.empty();
        continue;
      }
      // Recursion ends: in a strictly local language the sets are equal after k letters.
      const std::size_t to = node(std::move(longer), std::move(rest));
      made.next[letter] = to;
      if (to == kNoNode) continue;
      add(made.words, nodes_[to].words);
      if (nodes_[to].words > 0) made.length = std::max(made.length, nodes_[to].length + 1);
    }
    made.forbidden[dfa_.letters()] = !may_end(first) && may_end(second);
    for (const bool forbidden : made.forbidden)
      if (forbidden) {
        add(made.words, 1);
        made.length = std::max<std::uint64_t>(made.length, 1);
      }
    made.first = std::move(first);
    made.second = std::move(second);
    nodes_[index] = std::move(made);
    return index;
  }

  static void add(std::uint64_t& sum, std::uint64_t more) { sum = sum + more < sum ? UINT64_MAX : sum + more; }

  std::string text(const Found& found, bool to_end) const {
    return fmt::format("{}{}{}", found.from_start ? "⋊" : "", dfa_.alphabet().format_word(found.letters),
                       to_end ? "⋉" : "");
  }

  void list(std::vector<Found> layer, std::size_t most_listed, ListedWords& result) const {
    for (const Found& found : layer) {
      if (found.node == kNoNode && !found.from_start && after_all(found.letters[0]).empty()) {
        add(result.count, 1);
        result.longest = std::max<std::uint64_t>(result.longest, 1);
      } else if (found.node != kNoNode && nodes_[found.node].words > 0) {
        add(result.count, nodes_[found.node].words);
        result.longest = std::max(result.longest, nodes_[found.node].length + 1);
      }
    }
    for (const Found& found : layer)
      if (found.node == kNoNode && !found.from_start && after_all(found.letters[0]).empty() &&
          result.words.size() < most_listed)
        result.words.push_back(text(found, false));
    while (!layer.empty() && result.words.size() < most_listed) {
      std::vector<Found> longer;
      for (const Found& found : layer) {
        if (found.node == kNoNode) continue;
        const Node& node = nodes_[found.node];
        if (node.words == 0 || longer.size() > 50 * most_listed) continue;
        for (Letter letter = 0; letter <= dfa_.letters(); ++letter) {
          Found more = found;
          if (letter < dfa_.letters()) more.letters.push_back(letter);
          if (node.forbidden[letter] && result.words.size() < most_listed)
            result.words.push_back(text(more, letter == dfa_.letters()));
          if (letter == dfa_.letters() || node.next[letter] == kNoNode) continue;
          more.node = node.next[letter];
          longer.push_back(std::move(more));
        }
      }
      layer = std::move(longer);
    }
    result.complete = result.words.size() == result.count;
  }

  States after_all(Letter letter) const {
    States all;
    for (State state = 0; state < dfa_.states(); ++state)
      if (useful_[state]) all.push_back(state);
    return after(all, letter);
  }

  const Dfa& dfa_;
  std::vector<bool> useful_;
  std::map<std::pair<States, States>, std::size_t> numbers_;
  std::vector<Node> nodes_;
};

}  // namespace

ClassOrder strictly_local_order(const Dfa& dfa) {
  const PairPaths paths = pair_paths(dfa, coaccessible_states(dfa));
  if (paths.cycle) return {std::nullopt, not_substitutable(dfa, *paths.cycle)};
  return {paths.has_pairs ? paths.longest + 2 : 1, {}};
}

ListedWords minimal_forbidden_factors(const Dfa& dfa, std::size_t most_listed) {
  return FactorSearch(dfa).find(most_listed);
}

}  // namespace krohn
