#include "krohn/automata/syntax/regex.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/syntax/regex_syntax.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"

namespace krohn {

// Bottom-up: what is free of & and ~ becomes one nondeterministic automaton and is determinised once; the operands of &
// and ~ are brought to their minimal automata, combined, and put into what surrounds them as finished parts.

namespace {

using Neighbour = RegexNeighbour;

/// The meaning of a node with & or ~ at the places with these neighbours: all pairs of some before and some behind.
struct FinishedPart {
  RegexContexts contexts;
  Dfa automaton;
};
/// By nodes; of one node the contexts are disjoint and all.
using FinishedParts = std::unordered_map<RegexNodeId, std::vector<FinishedPart>>;

constexpr unsigned kAnyNeighbour = (1U << kNeighbours) - 1;

/// The neighbours behind that the contexts allow after this one before.
constexpr unsigned behind_of(RegexContexts contexts, unsigned before) {
  return contexts >> kNeighbours * before & kAnyNeighbour;
}

/// Thompson's construction between two given states, on a work list instead of recursion.
class NfaBuilder {
 public:
  NfaBuilder(const RegexTree& tree, const RegexLetters& letters, const FinishedParts& parts, std::uint64_t max_states)
      : tree_(tree), letters_(letters), parts_(parts), max_states_(max_states), nfa_(letters.alphabet) {}

  /// The words of `root` between these neighbours.
  Nfa build(RegexNodeId root, Neighbour before, Neighbour behind) {
    const State from = add_state(nfa_), to = add_state(nfa_);
    nfa_.add_initial(from);
    nfa_.set_accepting(to);
    work_.push_back({root, from, to, false});
    while (!work_.empty()) {
      const Part part = work_.back();
      work_.pop_back();
      if (const auto finished = parts_.find(part.node); finished != parts_.end())
        for (const FinishedPart& one : finished->second) embed(one, part);
      else
        connect(tree_.nodes[part.node], part);
    }
    return assertions_.empty() ? std::move(nfa_) : within(before, behind);
  }

 private:
  /// To be built: the language of `node` from one state to the other. Nothing else leaves `to` on its own account or
  /// enters `from`, so alternatives may share both.
  struct Part {
    RegexNodeId node;
    State from, to;
    bool is_alternative;  ///< others begin at `from` too
  };

  /// A move that reads nothing, where the letters on both sides allow it.
  struct Assertion {
    State from, to;
    RegexContexts contexts;
  };

  /// The same automaton, each state with what was read last, while an assertion may follow, and with the neighbours
  /// that the assertions passed since then allow behind. What no assertion tells apart is one.
  Nfa within(Neighbour first, Neighbour last) {
    std::vector<std::vector<Assertion>> leaving(nfa_.states());
    for (const Assertion& assertion : assertions_) leaving[assertion.from].push_back(assertion);
    const std::vector<bool> asks = states_before_assertions();
    std::array<unsigned, kNeighbours> same{};
    for (unsigned before = 0; before < kNeighbours; ++before)
      while (std::ranges::any_of(assertions_, [&](const Assertion& assertion) {
        return behind_of(assertion.contexts, same[before]) != behind_of(assertion.contexts, before);
      }))
        ++same[before];

    struct Place {
      State state;
      unsigned before, allowed;
    };
    Nfa result(letters_.alphabet);
    std::vector<Place> places;
    std::unordered_map<std::uint64_t, State> numbers;
    const auto number = [&](State state, unsigned before, unsigned allowed) {
      before = asks[state] ? same[before] : 0;
      const std::uint64_t key = (std::uint64_t{state} * kNeighbours + before) << kNeighbours | allowed;
      const auto [found, is_new] = numbers.try_emplace(key, result.states());
      if (is_new) {
        add_state(result);
        result.set_accepting(found->second, nfa_.accepts(state) && (allowed >> static_cast<unsigned>(last) & 1) != 0);
        places.push_back({state, before, allowed});
      }
      return found->second;
    };
    for (const State state : nfa_.initial())
      result.add_initial(number(state, static_cast<unsigned>(first), kAnyNeighbour));
    for (State here = 0; here < places.size(); ++here) {
      const auto [state, before, allowed] = places[here];
      for (const Nfa::Arc& arc : nfa_.arcs(state)) {
        if (arc.letter == kEpsilon) {
          result.add_epsilon(here, number(arc.target, before, allowed));
          continue;
        }
        const auto read = static_cast<unsigned>(neighbour(letters_.alphabet[arc.letter]));
        if ((allowed >> read & 1) != 0) add_arc(result, here, arc.letter, number(arc.target, read, kAnyNeighbour));
      }
      for (const Assertion& assertion : leaving[state])
        if (const unsigned still = allowed & behind_of(assertion.contexts, before); still != 0)
          result.add_epsilon(here, number(assertion.to, before, still));
    }
    return result;
  }

  /// From which an assertion can be met.
  std::vector<bool> states_before_assertions() const {
    std::vector<std::vector<State>> sources(nfa_.states());
    for (State state = 0; state < nfa_.states(); ++state)
      for (const Nfa::Arc& arc : nfa_.arcs(state))
        if (sources[arc.target].empty() || sources[arc.target].back() != state) sources[arc.target].push_back(state);
    std::vector<bool> before(nfa_.states(), false);
    std::vector<State> queue;
    const auto reach = [&](State state) {
      if (!before[state]) queue.push_back(state);
      before[state] = true;
    };
    for (const Assertion& assertion : assertions_) {
      sources[assertion.to].push_back(assertion.from);
      reach(assertion.from);
    }
    for (std::size_t i = 0; i < queue.size(); ++i)
      for (const State source : sources[queue[i]]) reach(source);
    return before;
  }

  void connect(const RegexNode& node, const Part& part) {
    switch (node.kind) {
      case RegexKind::kEmptyWord:
      case RegexKind::kCharacters:
      case RegexKind::kToken:
      case RegexKind::kAny:
      case RegexKind::kAssertion:
        return connect_leaf(node, part.from, part.to);
      case RegexKind::kConcatenation:
        return chain(part);
      case RegexKind::kUnion:
        work_.push_back({node.right, part.from, part.to, true});
        work_.push_back({node.left, part.from, part.to, true});
        return;
      case RegexKind::kRepeat:
        return repeat(node, part);
      case RegexKind::kIntersection:
      case RegexKind::kComplement:
        break;  // finished parts
    }
    throw Error("internal error: an intersection or complement was not finished before its surroundings");
  }

  void connect_leaf(const RegexNode& node, State from, State to) {
    switch (node.kind) {
      case RegexKind::kCharacters:
        for (const Letter letter : letters_.of_set[node.left]) add_arc(nfa_, from, letter, to);
        return;
      case RegexKind::kToken:
        return add_arc(nfa_, from, letters_.of_token[node.left], to);
      case RegexKind::kAny:
        for (Letter letter = 0; letter < letters_.alphabet.size(); ++letter) add_arc(nfa_, from, letter, to);
        return;
      case RegexKind::kAssertion:
        return pass(from, to, static_cast<RegexContexts>(node.left));
      default:
        return nfa_.add_epsilon(from, to);
    }
  }

  void pass(State from, State to, RegexContexts contexts) {
    if (contexts == kEverywhere) return nfa_.add_epsilon(from, to);
    if (contexts != 0) assertions_.push_back({from, to, contexts});
  }

  /// The factors one after another. Alternatives share their states as long as they begin alike, as in a tree of words:
  /// a list of words has few arcs at every state.
  void chain(const Part& part) {
    std::vector<RegexNodeId> factors;
    RegexNodeId first = part.node;
    for (; tree_.nodes[first].kind == RegexKind::kConcatenation; first = tree_.nodes[first].left)
      factors.push_back(tree_.nodes[first].right);
    factors.push_back(first);
    State here = part.from;
    for (std::size_t i = factors.size(); i-- > 0;) {
      const RegexNode& factor = tree_.nodes[factors[i]];
      const bool is_leaf = factor.kind < RegexKind::kConcatenation;
      State next = part.to;
      if (i > 0 && is_leaf && part.is_alternative) {
        const auto [known, is_new] = stems_.try_emplace({here, factor.kind, factor.left}, nfa_.states());
        next = known->second;
        if (is_new) connect_leaf(factor, here, add_state(nfa_));
      } else {
        if (i > 0) next = add_state(nfa_);
        work_.push_back({factors[i], here, next, part.is_alternative});
      }
      here = next;
    }
  }

  /// `least` copies in a row, then optional ones that may all be skipped, or a loop.
  void repeat(const RegexNode& node, const Part& part) {
    State here = add_state(nfa_);
    nfa_.add_epsilon(part.from, here);
    const auto advance = [&] {
      const State next = add_state(nfa_);
      work_.push_back({node.left, here, next, false});
      here = next;
    };
    const bool unbounded = node.most == kUnbounded;
    for (std::uint32_t i = unbounded ? 1 : 0; i < node.least; ++i) advance();
    if (unbounded) return loop(node, part, here);
    for (std::uint32_t i = node.least; i < node.most; ++i) {
      nfa_.add_epsilon(here, part.to);
      advance();
    }
    nfa_.add_epsilon(here, part.to);
  }

  /// From `here`, one or more times; none at all is as good when no copy is asked for.
  void loop(const RegexNode& node, const Part& part, State here) {
    const State begin = add_state(nfa_);
    nfa_.add_epsilon(here, begin);
    if (node.least == 0) {
      work_.push_back({node.left, begin, begin, false});
      return nfa_.add_epsilon(begin, part.to);
    }
    const State end = add_state(nfa_);
    work_.push_back({node.left, begin, end, false});
    nfa_.add_epsilon(end, begin);
    nfa_.add_epsilon(end, part.to);
  }

  void embed(const FinishedPart& finished, const Part& part) {
    RegexContexts before = 0, behind = 0;  // the pairs are all of those before with all of those behind
    for (unsigned i = 0; i < kNeighbours; ++i)
      if (const unsigned row = behind_of(finished.contexts, i); row != 0) {
        before |= static_cast<RegexContexts>(kAnyNeighbour << kNeighbours * i);
        behind = static_cast<RegexContexts>(row * 0x1111U);
      }
    const Dfa& dfa = finished.automaton;
    std::vector<State> copy(dfa.states());
    for (State& state : copy) state = add_state(nfa_);
    pass(part.from, copy[dfa.initial()], before);
    for (State state = 0; state < dfa.states(); ++state) {
      if (dfa.accepts(state)) pass(copy[state], part.to, behind);
      for (Letter letter = 0; letter < dfa.letters(); ++letter)
        add_arc(nfa_, copy[state], letter, copy[dfa.next(state, letter)]);
    }
  }

  State add_state(Nfa& nfa) const {
    if (nfa.states() % 4096 == 0) TimeLimit::check();
    if (nfa.states() >= max_states_)
      throw LimitError(
          fmt::format("the expression needs more than {} states before it is determinised; repeat less, "
                      "or raise the limit with --max-states",
                      max_states_));
    return nfa.add_state();
  }

  static void add_arc(Nfa& nfa, State source, Letter letter, State target) {
    constexpr std::size_t kMaxArcs = 30'000'000;
    if (nfa.size() >= kMaxArcs)
      throw LimitError(
          fmt::format("the expression needs more than {} arcs before it is determinised; repeat less, or "
                      "name fewer characters",
                      kMaxArcs));
    nfa.add_arc(source, letter, target);
  }

  const RegexTree& tree_;
  const RegexLetters& letters_;
  const FinishedParts& parts_;
  std::uint64_t max_states_;
  Nfa nfa_;
  std::vector<Part> work_;
  std::vector<Assertion> assertions_;
  /// By a state and a leaf: where the alternatives that begin with them go on.
  std::map<std::tuple<State, RegexKind, std::uint32_t>, State> stems_;
};

class Compiler {
 public:
  Compiler(const RegexTree& tree, const RegexLetters& letters, std::uint64_t max_states)
      : tree_(tree), letters_(letters), max_states_(max_states) {}

  Dfa compile() {
    finish_parts();
    return automaton_of(tree_.root, Neighbour::kEnd, Neighbour::kEnd);
  }

  Automaton compile_as_it_is() {
    finish_parts();
    if (parts_.contains(tree_.root)) return automaton_of(tree_.root, Neighbour::kEnd, Neighbour::kEnd);
    return settled(nfa_of(tree_.root, Neighbour::kEnd, Neighbour::kEnd));
  }

 private:
  void finish_parts() {
    const std::vector<bool> needed = needed_nodes();
    find_assertions(needed);
    for (RegexNodeId node = 0; node < tree_.nodes.size(); ++node)
      if (needed[node]) finish(node);
  }

  /// Simplifications leave nodes behind that nothing refers to.
  std::vector<bool> needed_nodes() const {
    std::vector<bool> needed(tree_.nodes.size(), false);
    needed[tree_.root] = true;
    for (RegexNodeId id = tree_.root + 1; id-- > 0;) {
      const RegexNode& node = tree_.nodes[id];
      if (!needed[id] || node.kind < RegexKind::kConcatenation) continue;
      needed[node.left] = true;
      if (node.kind < RegexKind::kComplement) needed[node.right] = true;
    }
    return needed;
  }

  void find_assertions(const std::vector<bool>& needed) {
    has_assertion_.assign(tree_.nodes.size(), false);
    for (RegexNodeId id = 0; id < tree_.nodes.size(); ++id) {
      const RegexNode& node = tree_.nodes[id];
      if (!needed[id]) continue;
      if (node.kind == RegexKind::kAssertion) assertions_.push_back(static_cast<RegexContexts>(node.left));
      has_assertion_[id] =
          node.kind == RegexKind::kAssertion || (node.kind >= RegexKind::kConcatenation && has_assertion_[node.left]) ||
          (node.kind >= RegexKind::kConcatenation && node.kind < RegexKind::kComplement && has_assertion_[node.right]);
    }
    std::ranges::sort(assertions_);
    assertions_.erase(std::unique(assertions_.begin(), assertions_.end()), assertions_.end());
  }

  /// Operands of & and ~ that have anchors mean something else between other neighbours: an automaton for all that some
  /// anchor tells apart.
  void finish(RegexNodeId id) {
    const RegexNode& node = tree_.nodes[id];
    if (node.kind != RegexKind::kIntersection && node.kind != RegexKind::kComplement) return;
    const auto finished = [&](Neighbour before, Neighbour behind) {
      const Dfa left = automaton_of(node.left, before, behind);
      return node.kind == RegexKind::kComplement
                 ? complement(left)
                 : intersection_of(left, automaton_of(node.right, before, behind), max_states_);
    };
    std::vector<FinishedPart> parts;
    std::map<std::vector<unsigned>, std::size_t> known;
    const auto signature = [&](unsigned before, unsigned behind) {
      std::vector<unsigned> holds;
      if (has_assertion_[id])
        for (const RegexContexts contexts : assertions_) {
          holds.push_back(behind_of(contexts, before));
          unsigned column = 0;
          for (unsigned i = 0; i < kNeighbours; ++i) column = column << 1 | (behind_of(contexts, i) >> behind & 1);
          holds.push_back(column);
        }
      return holds;
    };
    for (unsigned before = 0; before < kNeighbours; ++before)
      for (unsigned behind = 0; behind < kNeighbours; ++behind) {
        const auto one = static_cast<Neighbour>(before), other = static_cast<Neighbour>(behind);
        const auto [found, is_new] = known.try_emplace(signature(before, behind), parts.size());
        if (is_new) parts.push_back({0, finished(one, other)});
        parts[found->second].contexts |= context(one, other);
      }
    parts_.emplace(id, std::move(parts));
  }

  Nfa nfa_of(RegexNodeId node, Neighbour before, Neighbour behind) const {
    return NfaBuilder(tree_, letters_, parts_, max_states_).build(node, before, behind);
  }

  /// The minimal automaton, between these neighbours, of a node whose & and ~ are finished.
  Dfa automaton_of(RegexNodeId node, Neighbour before, Neighbour behind) const {
    if (const auto found = parts_.find(node); found != parts_.end())
      return std::ranges::find_if(
                 found->second,
                 [&](const FinishedPart& part) { return (part.contexts & context(before, behind)) != 0; })
          ->automaton;
    return minimise(determinise(nfa_of(node, before, behind), {.max_states = max_states_}));
  }

  const RegexTree& tree_;
  const RegexLetters& letters_;
  std::uint64_t max_states_;
  std::vector<bool> has_assertion_;        ///< by node
  std::vector<RegexContexts> assertions_;  ///< distinct
  FinishedParts parts_;
};

}  // namespace

Dfa parse_regex(std::string_view expression, const RegexOptions& options) {
  const RegexTree tree = parse_regex_syntax(expression, options.alphabet, options.max_expression_size, options.search);
  const RegexLetters letters = letters_of(tree, options.alphabet);
  return Compiler(tree, letters, options.max_states).compile();
}

Automaton parse_regex_as_it_is(std::string_view expression, const RegexOptions& options) {
  const RegexTree tree = parse_regex_syntax(expression, options.alphabet, options.max_expression_size, options.search);
  const RegexLetters letters = letters_of(tree, options.alphabet);
  return Compiler(tree, letters, options.max_states).compile_as_it_is();
}

// From the sets of characters that an expression names to letters: partition refinement over elementary intervals,
// between two neighbouring ends of ranges no set changes.

namespace {

constexpr std::uint32_t kOutside = UINT32_MAX;

/// A block of the partition: which intervals can still not be told apart.
using Block = std::uint32_t;

class CharacterPartition {
 public:
  /// One block per class of `base`, cut at the ends of all `sets`.
  CharacterPartition(std::span<const CharacterSet> base, std::span<const CharacterSet> sets) {
    starts_.push_back(0);
    for (const auto& group : {base, sets})
      for (const CharacterSet& set : group)
        for (const CodePointRange& range : set) {
          starts_.push_back(range.first);
          starts_.push_back(range.last + 1);
        }
    starts_.push_back(kLastCodePoint + 1);
    std::sort(starts_.begin(), starts_.end());
    starts_.erase(std::unique(starts_.begin(), starts_.end()), starts_.end());
    block_.assign(starts_.size() - 1, kOutside);
    for (; blocks_ < base.size(); ++blocks_)
      for (const std::uint32_t interval : intervals(base[blocks_])) block_[interval] = blocks_;
    parent_.resize(blocks_);
    std::iota(parent_.begin(), parent_.end(), Block{0});
  }

  /// Tells members from others. A set and its complement cut alike, so the one with fewer intervals is gone through.
  void split_by(const CharacterSet& set) {
    std::vector<std::uint32_t> members = intervals(set);
    if (2 * members.size() > block_.size()) members = intervals(complement(set));
    std::unordered_map<Block, Block> moved;
    for (const std::uint32_t interval : members) {
      if (block_[interval] == kOutside) continue;
      const auto [found, added] = moved.emplace(block_[interval], blocks_);
      if (added) {
        parent_.push_back(parent_[block_[interval]]);
        ++blocks_;
      }
      block_[interval] = found->second;
    }
  }

  /// The blocks that have members, by base class and then by first character, with those members.
  std::vector<std::pair<Block, CharacterSet>> classes() const {
    std::vector<CharacterSet> characters(blocks_);
    for (std::uint32_t i = 0; i < block_.size(); ++i)
      if (block_[i] != kOutside) characters[block_[i]].push_back({starts_[i], starts_[i + 1] - 1});
    std::vector<std::pair<Block, CharacterSet>> classes;
    for (Block block = 0; block < blocks_; ++block)
      if (CharacterSet set = normalised(std::move(characters[block])); !set.empty())
        classes.emplace_back(block, std::move(set));
    std::sort(classes.begin(), classes.end(), [&](const auto& a, const auto& b) {
      return std::pair(parent_[a.first], a.second.front()) < std::pair(parent_[b.first], b.second.front());
    });
    return classes;
  }

  Block base_of(Block block) const { return parent_[block]; }
  Block blocks() const { return blocks_; }

  /// The blocks that make up a set which has been split by.
  std::vector<Block> blocks_of(const CharacterSet& set) const {
    std::vector<Block> blocks;
    for (const std::uint32_t interval : intervals(set))
      if (block_[interval] != kOutside) blocks.push_back(block_[interval]);
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    return blocks;
  }

 private:
  std::vector<std::uint32_t> intervals(const CharacterSet& set) const {
    std::vector<std::uint32_t> members;
    for (const CodePointRange& range : set) {
      auto i =
          static_cast<std::uint32_t>(std::lower_bound(starts_.begin(), starts_.end(), range.first) - starts_.begin());
      for (; i < block_.size() && starts_[i] <= range.last; ++i) members.push_back(i);
    }
    return members;
  }

  std::vector<char32_t> starts_;  ///< of the intervals, and one past the last
  std::vector<Block> block_;      ///< of every interval
  std::vector<Block> parent_;     ///< the base class of every block
  Block blocks_ = 0;
};

/// The symbols within which an expression without an alphabet is split: all that occurs.
std::vector<Symbol> universe_of(const RegexTree& tree) {
  const bool names_nothing = std::ranges::count(tree.is_named, true) == 0 && tree.tokens.empty();
  CharacterSet characters;
  if (tree.negates_class || (names_nothing && tree.ranges_over_letters))
    characters = all_characters();
  else
    for (std::uint32_t i = 0; i < tree.sets.size(); ++i)
      if (tree.is_named[i]) characters.insert(characters.end(), tree.sets[i].begin(), tree.sets[i].end());
  std::vector<Symbol> universe;
  if (!characters.empty()) universe.push_back({"", normalised(std::move(characters))});
  std::vector<std::string> tokens = tree.tokens;
  std::sort(tokens.begin(), tokens.end());
  for (std::string& token : tokens) universe.push_back({std::move(token), {}});
  return universe;
}

/// A set of one symbol that has not been split keeps the name of that symbol.
std::string name_of(const Symbol& base, const CharacterSet& characters) {
  return base.characters == characters && !base.name.empty() ? base.name : class_name(characters);
}

}  // namespace

RegexLetters letters_of(const RegexTree& tree, const std::optional<Alphabet>& alphabet) {
  std::vector<Symbol> universe = universe_of(tree);
  if (alphabet) universe.assign(alphabet->symbols().begin(), alphabet->symbols().end());
  std::vector<CharacterSet> base;
  for (const Symbol& symbol : universe) base.push_back(symbol.characters);
  CharacterPartition partition(base, tree.sets);
  for (const CharacterSet& set : tree.sets) partition.split_by(set);

  std::vector<Symbol> symbols;
  std::vector<Letter> letter_of_block(partition.blocks(), 0);
  const auto classes = partition.classes();
  auto next = classes.begin();
  for (Block i = 0; i < universe.size(); ++i) {
    if (universe[i].characters.empty()) symbols.push_back(universe[i]);
    for (; next != classes.end() && partition.base_of(next->first) == i; ++next) {
      letter_of_block[next->first] = static_cast<Letter>(symbols.size());
      symbols.push_back({name_of(universe[i], next->second), next->second});
    }
  }
  RegexLetters letters{Alphabet::from_symbols(std::move(symbols)), {}, {}};
  for (const CharacterSet& set : tree.sets) {
    std::vector<Letter> of_set;
    for (const Block block : partition.blocks_of(set)) of_set.push_back(letter_of_block[block]);
    std::sort(of_set.begin(), of_set.end());
    letters.of_set.push_back(std::move(of_set));
  }
  for (const std::string& token : tree.tokens) letters.of_token.push_back(*letters.alphabet.find(token));
  return letters;
}

}  // namespace krohn
