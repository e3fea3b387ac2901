#include "krohn/automata/classes/class_tests.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "krohn/automata/dfa/graph.h"
#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/monoid/witness_check.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/groups/transformations/transformation.h"

namespace krohn {
namespace {

std::string not_substitutable(const Dfa& dfa, StandingPair pair) {
  // Some word is accepted from p and not from q, or the other way round; let it be from p.
  Word tells = telling_word(dfa, pair.p, pair.q).value();
  if (!dfa.accepts(dfa.run(tells, pair.p))) std::swap(pair.p, pair.q);
  const Word to_p = word_between(dfa, dfa.initial(), pair.p), to_q = word_between(dfa, dfa.initial(), pair.q);
  const Word ends = shortest_word(dfa, pair.q, [&](State state) { return dfa.accepts(state); }).value();
  for (const std::size_t times : {1, 2, 3}) {
    Word middle;
    for (std::size_t i = 0; i < times; ++i) middle.insert(middle.end(), pair.word.begin(), pair.word.end());
    require_witness(dfa.accepts(dfa.run(joined({&to_p, &middle, &tells}))) &&
                        dfa.accepts(dfa.run(joined({&to_q, &middle, &ends}))) &&
                        !dfa.accepts(dfa.run(joined({&to_q, &middle, &tells}))),
                    "SL");
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
    std::vector<ForbiddenWords::Path> paths;
    ListedWords result;
    const auto begin = [&](ForbiddenWords::Path path, States set) {
      path.node = node(std::move(set), all);
      if (path.node == kNoNode || nodes_[path.node].words == 0) return;
      ForbiddenWords::add(result.count, nodes_[path.node].words);
      result.longest = std::max(result.longest, nodes_[path.node].length + 1);
      paths.push_back(std::move(path));
    };
    for (Letter letter = 0; letter < dfa_.letters(); ++letter) {
      const ForbiddenWords::Path path{{letter}, false, kNoNode};
      States set = after(all, letter);
      if (!set.empty()) {
        begin(path, std::move(set));
        continue;
      }
      ForbiddenWords::add(result.count, 1);
      result.longest = std::max<std::uint64_t>(result.longest, 1);
      if (result.words.size() < most_listed) result.words.push_back(ForbiddenWords::text(dfa_.alphabet(), path));
    }
    begin({{}, true, kNoNode}, {dfa_.initial()});
    nodes_.list(std::move(paths), dfa_.alphabet(), most_listed, result);
    return result;
  }

 private:
  static constexpr std::size_t kNoNode = SIZE_MAX;

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
    const std::size_t index = nodes_.begin("factors", "pairs of sets of states");
    numbers_.emplace(std::make_pair(first, second), index);
    ForbiddenWords::Node made;
    for (Letter letter = 0; letter < dfa_.letters(); ++letter) {
      States longer = after(first, letter), rest = after(second, letter);
      if (longer.empty()) {
        if (!rest.empty()) ForbiddenWords::forbid(made, letter);
        continue;
      }
      // Recursion ends: in a strictly local language the sets are equal after k letters.
      if (const std::size_t to = node(std::move(longer), std::move(rest)); to != kNoNode)
        nodes_.go_on(made, letter, to);
    }
    if (!may_end(first) && may_end(second)) ForbiddenWords::forbid(made, dfa_.letters());
    nodes_.fill(index, std::move(made));
    return index;
  }

  const Dfa& dfa_;
  std::vector<bool> useful_;
  std::map<std::pair<States, States>, std::size_t> numbers_;
  ForbiddenWords nodes_;
};

}  // namespace

std::size_t ForbiddenWords::begin(const char* words, const char* what) {
  constexpr std::size_t kMaxNodes = 200'000;
  if (nodes_.size() == kMaxNodes)
    throw LimitError(fmt::format("the search for forbidden {} met {} {}", words, kMaxNodes, what));
  TimeLimit::check();
  nodes_.emplace_back();
  return nodes_.size() - 1;
}

void ForbiddenWords::forbid(Node& made, Letter letter) {
  made.forbidden.push_back(letter);
  add(made.words, 1);
  made.length = std::max<std::uint64_t>(made.length, 1);
}

void ForbiddenWords::go_on(Node& made, Letter letter, std::size_t to) const {
  if (nodes_[to].words == 0) return;
  made.next.emplace_back(letter, to);
  add(made.words, nodes_[to].words);
  made.length = std::max(made.length, nodes_[to].length + 1);
}

std::string ForbiddenWords::text(const Alphabet& alphabet, const Path& path, bool to_end) {
  return fmt::format("{}{}{}", path.from_start ? "⋊" : "", alphabet.format_word(path.letters), to_end ? "⋉" : "");
}

void ForbiddenWords::list(std::vector<Path> paths, const Alphabet& alphabet, std::size_t most,
                          ListedWords& result) const {
  while (!paths.empty() && result.words.size() < most) {
    std::vector<Path> longer;
    for (const Path& path : paths) {
      if (longer.size() > 50 * most) break;
      const auto with = [&](Letter letter, std::size_t node) {
        Path more{path.letters, path.from_start, node};
        if (letter < alphabet.size()) more.letters.push_back(letter);
        return more;
      };
      for (const Letter letter : nodes_[path.node].forbidden)
        if (result.words.size() < most)
          result.words.push_back(text(alphabet, with(letter, path.node), letter == alphabet.size()));
      for (const auto& [letter, next] : nodes_[path.node].next) longer.push_back(with(letter, next));
    }
    paths = std::move(longer);
  }
  result.complete = result.words.size() == result.count;
}

ClassOrder strictly_local_order(const Dfa& dfa) {
  const PairPaths paths = pair_paths(dfa, coaccessible_states(dfa));
  if (paths.cycle) return {std::nullopt, not_substitutable(dfa, *paths.cycle)};
  return {paths.has_pairs ? paths.longest + 2 : 1, {}};
}

ListedWords minimal_forbidden_factors(const Dfa& dfa, std::size_t most_listed) {
  return FactorSearch(dfa).find(most_listed);
}

namespace {

constexpr std::uint64_t kMaxArcs = 50'000'000;

class PairTest {
 public:
  explicit PairTest(const Dfa& dfa)
      : dfa_(dfa), n_(dfa.states()), states_(strongly_connected_components(dfa)), reach_(condensation(dfa, states_)) {
    table_.reserve(std::size_t{n_} * n_ * dfa.letters());
    for (State p = 0; p < n_; ++p) {
      TimeLimit::check();
      for (State q = 0; q < n_; ++q)
        for (Letter letter = 0; letter < dfa.letters(); ++letter)
          table_.push_back(dfa.next(p, letter) * n_ + dfa.next(q, letter));
    }
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
    require_witness(dfa_.run(word, p) == p && dfa_.run(word, q) == q, "LT");
    return word;
  }

  std::string both_ways(State p, State q) const {
    const Word x = keeping(p, q), there = word_between(dfa_, p, q), back = word_between(dfa_, q, p);
    require_witness(dfa_.run(there, p) == q && dfa_.run(back, q) == p, "LT");
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
    require_witness(dfa_.run(there, p) == q && from_p != reaches(dfa_.run(s, q), q), "LT");
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
    throw LimitError(
        fmt::format("the pairs of states have {}; decided up to {}", counted(arcs, "arc"), with_thousands(kMaxArcs)));
  return PairTest(dfa).violation();
}

namespace {

constexpr std::uint64_t kMaxPairs = 20'000;  ///< of a vertex with two of its states; what each reaches is kept
constexpr std::size_t kMaxMoves = 2'000'000;
constexpr std::size_t kMaxStates = 64;  ///< at a vertex: those of a set are bits of a number

/// Leads every state to one that no word leaves: words with it have one fate, and their factors tell.
bool is_fatal(const Dfa& dfa, Letter letter) {
  const State end = dfa.next(0, letter);
  for (State state = 0; state < dfa.states(); ++state)
    if (dfa.next(state, letter) != end) return false;
  for (Letter other = 0; other < dfa.letters(); ++other)
    if (dfa.next(end, other) != end) return false;
  return true;
}

/// The words of j letters as vertices, each with the states that it leads to, which are called by their places there;
/// a letter leads from a word to its last j letters. A path is a word that is read from a vertex on.
class WindowGraph {
 public:
  using Vertex = std::uint32_t;
  using Place = std::uint32_t;
  using PlaceBits = std::uint64_t;

  WindowGraph(const Dfa& dfa, const std::vector<Letter>& letters, std::uint64_t j) : letters_(letters.size()) {
    std::vector<std::vector<State>> states{{}};
    for (State state = 0; state < dfa.states(); ++state) states[0].push_back(state);
    for (std::uint64_t i = 0; i < j; ++i) {
      std::vector<std::vector<State>> longer;
      for (const std::vector<State>& before : states)
        for (const Letter letter : letters) {
          std::vector<State>& after = longer.emplace_back();
          for (const State state : before) after.push_back(dfa.next(state, letter));
          std::ranges::sort(after);
          after.erase(std::unique(after.begin(), after.end()), after.end());
          if (after.size() > kMaxStates) fail();
        }
      states = std::move(longer);
      TimeLimit::check();
      if (states.size() > kMaxPairs) fail();
    }
    if (states[0].size() > kMaxStates) fail();
    std::uint64_t pairs = 0;
    for (const std::vector<State>& at : states) {
      first_pair_.push_back(static_cast<std::uint32_t>(pairs));
      sizes_.push_back(static_cast<Place>(at.size()));
      pairs += at.size() * at.size();
      if (pairs > kMaxPairs) fail();
    }
    pairs_ = static_cast<std::uint32_t>(pairs);
    for (Vertex v = 0; v < states.size(); ++v)
      for (std::size_t c = 0; c < letters_; ++c) {
        const std::vector<State>& there = states[next(v, c)];
        std::vector<Place>& move = moves_.emplace_back();
        for (const State state : states[v]) {
          const State to = dfa.next(state, letters[c]);
          move.push_back(static_cast<Place>(std::ranges::lower_bound(there, to) - there.begin()));
        }
      }
    find_reached();
  }

  Vertex vertices() const { return static_cast<Vertex>(sizes_.size()); }
  Place states(Vertex v) const { return sizes_[v]; }
  std::size_t letters() const { return letters_; }
  Vertex next(Vertex v, std::size_t c) const {
    return static_cast<Vertex>((v * letters_ + c) % std::max<std::size_t>(sizes_.size(), 1));
  }
  const std::vector<Place>& move(Vertex v, std::size_t c) const { return moves_[v * letters_ + c]; }

  /// The q to which some path from u to v leads p2 where it leads p1 to a.
  PlaceBits reached(Vertex u, Place p1, Place p2, Vertex v, Place a) const {
    const std::uint32_t component = component_[first_pair_[u] + p1 * sizes_[u] + p2];
    const std::size_t from = first_pair_[v] + std::size_t{a} * sizes_[v];
    const std::uint64_t* words = reached_.data() + component * words_;
    PlaceBits bits = words[from / 64] >> from % 64;
    if (from % 64 != 0 && from / 64 + 1 < words_) bits |= words[from / 64 + 1] << (64 - from % 64);
    return sizes_[v] == 64 ? bits : bits & ((PlaceBits{1} << sizes_[v]) - 1);
  }

 private:
  [[noreturn]] static void fail() {
    throw LimitError(
        fmt::format("k and t are not determined: words of so many letters lead to more than {} pairs of states, or to "
                    "more than {} states",
                    kMaxPairs, kMaxStates));
  }

  /// The components that each component of the pairs reaches, sinks first.
  void find_reached() {
    std::vector<std::uint32_t> table;
    for (Vertex v = 0; v < vertices(); ++v)
      for (Place p = 0; p < sizes_[v]; ++p)
        for (Place q = 0; q < sizes_[v]; ++q)
          for (std::size_t c = 0; c < letters_; ++c) {
            const Vertex to = next(v, c);
            table.push_back(first_pair_[to] + move(v, c)[p] * sizes_[to] + move(v, c)[q]);
          }
    component_ = strong_components(pairs_, static_cast<std::uint32_t>(letters_), table);
    std::vector<std::vector<std::uint32_t>> members(*std::ranges::max_element(component_) + 1);
    for (std::uint32_t pair = 0; pair < pairs_; ++pair) members[component_[pair]].push_back(pair);
    words_ = pairs_ / 64 + 1;
    reached_.assign(members.size() * words_, 0);
    for (std::size_t component = 0; component < members.size(); ++component) {
      TimeLimit::check();
      std::uint64_t* own = reached_.data() + component * words_;
      for (const std::uint32_t pair : members[component]) own[pair / 64] |= std::uint64_t{1} << pair % 64;
      std::set<std::uint32_t> below;
      for (const std::uint32_t pair : members[component])
        for (std::size_t c = 0; c < letters_; ++c) below.insert(component_[table[pair * letters_ + c]]);
      below.erase(static_cast<std::uint32_t>(component));
      for (const std::uint32_t other : below)
        for (std::size_t i = 0; i < words_; ++i) own[i] |= reached_[other * words_ + i];
    }
  }

  std::size_t letters_;
  std::vector<Place> sizes_;
  std::vector<std::uint32_t> first_pair_;
  std::uint32_t pairs_ = 0;
  std::vector<std::vector<Place>> moves_;
  std::vector<std::uint32_t> component_;
  std::size_t words_ = 0;
  std::vector<std::uint64_t> reached_;
};

using Vertex = WindowGraph::Vertex;
using Place = WindowGraph::Place;
using PlaceBits = WindowGraph::PlaceBits;

bool are_one_place(PlaceBits first, PlaceBits second) { return first == second && std::has_single_bit(first); }

/// True if xyz and zyx lead every state to one, for all paths x, z from u to v and y from v to u. From s by x to a, by
/// y to b, by z to d; by z to c, by y to p, by x to q: q and d must be one.
bool paths_swap(const WindowGraph& graph, Vertex u, Vertex v) {
  const Place here = graph.states(u), there = graph.states(v);
  if (there == 1) return true;
  std::vector<PlaceBits> from_s(std::size_t{here} * there);
  for (Place s = 0; s < here; ++s) {
    for (Place other = 0; other < here; ++other)
      for (Place a = 0; a < there; ++a) from_s[other * there + a] = graph.reached(u, s, other, v, a);
    for (Place a = 0; a < there; ++a)
      for (Place c = 0; c < there; ++c)
        for (Place b = 0; b < here; ++b) {
          const PlaceBits d = from_s[b * there + c];
          if (d == 0) continue;
          for (PlaceBits back = graph.reached(v, a, c, u, b); back != 0; back &= back - 1) {
            const auto p = static_cast<std::size_t>(std::countr_zero(back));
            const PlaceBits q = from_s[p * there + a];
            if (q != 0 && !are_one_place(q, d)) return false;
          }
        }
  }
  return true;
}

bool all_swap(const WindowGraph& graph) {
  for (Vertex u = 0; u < graph.vertices(); ++u)
    for (Vertex v = 0; v < graph.vertices(); ++v) {
      TimeLimit::check();
      if (!paths_swap(graph, u, v)) return false;
    }
  return true;
}

/// The least t, where all paths swap: 1 more than the most times that a loop c at some u still moves a state r to which
/// a loop leads that has the letters of c with other loops between them.
std::uint64_t least_threshold(const WindowGraph& graph) {
  std::uint64_t least = 1;
  std::size_t moves = 0;
  for (Vertex u = 0; u < graph.vertices(); ++u) {
    if (graph.states(u) == 1) continue;
    // A vertex, the state to which s was led, and what the letters of c alone do to the states of u.
    using Move = std::tuple<Vertex, Place, std::vector<Place>>;
    std::vector<Place> still(graph.states(u));
    for (Place p = 0; p < still.size(); ++p) still[p] = p;
    std::set<Move> seen;
    std::vector<const Move*> queue;
    const auto add = [&](Vertex v, Place y, const std::vector<Place>& c) {
      if (const auto [at, fresh] = seen.emplace(v, y, c); fresh) queue.push_back(&*at);
      if (++moves % 1024 == 0) TimeLimit::check();
      if (seen.size() > kMaxMoves) throw LimitError(fmt::format("t is not determined: more than {} moves", kMaxMoves));
    };
    for (Place s = 0; s < graph.states(u); ++s) add(u, s, still);
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const auto& [v, y, c] = *queue[i];
      for (std::size_t letter = 0; letter < graph.letters(); ++letter) {
        const Vertex to = graph.next(v, letter);
        const std::vector<Place>& move = graph.move(v, letter);
        std::vector<Place> further = c;
        for (Place& p : further) p = move[p];
        for (Place r = 0; r < graph.states(to); ++r) {
          if ((graph.reached(to, move[y], move[y], to, r) >> r & 1) == 0) continue;
          add(to, r, further);
          if (to != u) continue;
          std::uint64_t times = 0;
          for (Place at = r; further[at] != at; at = further[at])
            if (++times > graph.states(u)) throw Error("a loop is not aperiodic; please report this");
          least = std::max(least, times + 1);
        }
      }
    }
  }
  return least;
}

}  // namespace

ThresholdOrder threshold_order(const Dfa& dfa) {
  std::vector<Letter> letters;
  for (Letter letter = 0; letter < dfa.letters(); ++letter)
    if (!is_fatal(dfa, letter)) letters.push_back(letter);
  for (std::uint64_t k = 1;; ++k) {
    const WindowGraph graph(dfa, letters, k - 1);
    if (all_swap(graph)) return {k, least_threshold(graph)};
  }
}

}  // namespace krohn
