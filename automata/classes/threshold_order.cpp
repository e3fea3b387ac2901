#include "krohn/automata/classes/threshold_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "krohn/groups/error.h"
#include "krohn/groups/time_limit.h"
#include "krohn/groups/transformations/components.h"

namespace krohn {
namespace {

constexpr std::uint64_t kMostPairs = 20'000;  ///< of a vertex with two of its states; what each reaches is kept
constexpr std::size_t kMostMoves = 2'000'000;
constexpr std::size_t kMostStates = 64;  ///< at a vertex: those of a set are bits of a number

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
          if (after.size() > kMostStates) fail();
        }
      states = std::move(longer);
      TimeLimit::check();
      if (states.size() > kMostPairs) fail();
    }
    if (states[0].size() > kMostStates) fail();
    std::uint64_t pairs = 0;
    for (const std::vector<State>& at : states) {
      first_pair_.push_back(static_cast<std::uint32_t>(pairs));
      sizes_.push_back(static_cast<Place>(at.size()));
      pairs += at.size() * at.size();
      if (pairs > kMostPairs) fail();
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
                    kMostPairs, kMostStates));
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
      if (seen.size() > kMostMoves)
        throw LimitError(fmt::format("t is not determined: more than {} moves", kMostMoves));
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
