#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "krohn/automata/cascades/cascade.h"
#include "krohn/automata/cascades/emulation.h"
#include "krohn/automata/dfa/graph.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/record_set.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/groups/names/named_group.h"

namespace krohn {
namespace {

constexpr Point kBits = 32;

std::size_t words_for(Point points) { return (std::size_t{points} + kBits - 1) / kBits; }

std::uint64_t hash_images(std::span<const Point> set, const std::vector<Point>& map) {
  std::uint64_t hash = 0;
  for (const Point p : set) hash = (hash ^ map[p]) * 0x9E3779B97F4A7C15U + (hash >> 29);
  return hash;
}

bool same_images(std::span<const Point> set, const std::vector<Point>& f, const std::vector<Point>& g) {
  return std::all_of(set.begin(), set.end(), [&](Point p) { return f[p] == g[p]; });
}

// One level of the chain decomposition: its contexts, its moves, and the labels that are used; MATH.md §3.

/// letter ↦ (point ↦ point), over the reachable states numbered 0 … n−1.
using PointMaps = std::vector<std::vector<Point>>;

/// All (O, N, s) of one level: the points that are left before the letter (O) and after it (N), |O| = |N| = size, with
/// s(O) ⊆ N. The old sets of the level are the nodes of the readout.
struct ChainLevel {
  Point points = 0;  ///< n
  Label size = 0;    ///< |O|
  Letter letters = 0;
  RecordSet sets;      ///< bit sets of points, 32 points a word
  RecordSet contexts;  ///< (node of O, node of N, letter)
  /// For each point that may come first, the node that its labels in the layers before lead to.
  std::vector<Context> initial;
  /// node · letters + letter ↦ a letter that does the same to the points of the node: contexts that differ only in what
  /// a letter does elsewhere are one context. Empty on the first level, whose contexts are the letters themselves.
  std::vector<Letter> same_letter;

  struct Triple {
    Context before, after;
    Letter letter;
  };

  /// O = N = Q, one context per letter.
  static ChainLevel top(Point points, const PointMaps& maps) {
    const auto letters = static_cast<Letter>(maps.size());
    ChainLevel level{points, points, letters, RecordSet(words_for(points)), RecordSet(3), {}, {}};
    std::vector<std::uint32_t> all(words_for(points), 0);
    for (Point p = 0; p < points; ++p) all[p / kBits] |= std::uint32_t{1} << (p % kBits);
    const Context node = level.sets.insert(all).index;
    for (Letter letter = 0; letter < letters; ++letter)
      level.contexts.insert(std::vector<std::uint32_t>{node, node, letter});
    return level;
  }

  /// The empty level below, whose sets have one point less.
  ChainLevel next() const { return {points, size - 1, letters, RecordSet(sets.words()), RecordSet(3), {}, {}}; }

  Triple context(Context c) const {
    const RecordSet::Record record = contexts[c];
    return {record[0], record[1], record[2]};
  }
  /// The points of a node, increasing. O(n/32 + size).
  void unpack(Context node, std::vector<Point>& result) const {
    result.clear();
    const RecordSet::Record set = sets[node];
    for (Point word = 0; word < set.size(); ++word)
      for (std::uint32_t bits = set[word]; bits != 0; bits &= bits - 1)
        result.push_back(word * kBits + static_cast<Point>(std::countr_zero(bits)));
  }

  /// The node of `below` that is `node` without its point number `label`.
  Context without(Context node, Label label, ChainLevel& below) const {
    std::vector<Point> members;
    unpack(node, members);
    const Point removed = members[label];
    std::vector<std::uint32_t> set(sets[node].begin(), sets[node].end());
    set[removed / kBits] &= ~(std::uint32_t{1} << (removed % kBits));
    return below.sets.insert(set).index;
  }

  /// Fills `same_letter`; call when all sets are there. O(nodes · letters · size).
  void name_letters(const PointMaps& maps) {
    same_letter.resize(std::size_t{sets.size()} * letters);
    std::vector<Point> members;
    std::vector<std::pair<std::uint64_t, Letter>> by_hash(letters);
    for (Context node = 0; node < sets.size(); ++node) {
      TimeLimit::check();
      unpack(node, members);
      for (Letter letter = 0; letter < letters; ++letter)
        by_hash[letter] = {hash_images(members, maps[letter]), letter};
      std::sort(by_hash.begin(), by_hash.end());
      Letter leader = 0;
      for (Letter i = 0; i < letters; ++i) {
        const auto [hash, letter] = by_hash[i];
        const bool same = i > 0 && hash == by_hash[i - 1].first && same_images(members, maps[leader], maps[letter]);
        if (!same) leader = letter;
        same_letter[std::size_t{node} * letters + letter] = leader;
      }
    }
  }

  Context add_context(Context before, Context after, Letter letter) {
    const std::uint32_t record[] = {before, after, same_letter[std::size_t{before} * letters + letter]};
    return contexts.insert(record).index;
  }
};

/// The maps of the contexts on the labels 0 … size−1, labels being positions in the sorted sets.
struct LevelMoves {
  Label size = 0;
  std::vector<Action> action_of;  ///< per context
  RecordSet actions;              ///< distinct images of the labels
};

/// The (node, label) pairs that words can lead to, and no fewer: the least set that holds the targets of all resets and
/// the initial pairs, and is closed under all contexts. Each level over-approximates a little, since it forgets how the
/// labels before it reached the node. O(contexts · size).
class ReachableLabels {
 public:
  ReachableLabels(const ChainLevel& level, const LevelMoves& moves)
      : level_(level),
        moves_(moves),
        size_(moves.size),
        reached_(std::size_t{level.sets.size()} * moves.size, false),
        first_(std::size_t{level.sets.size()} + 1, 0),
        leaving_(level.contexts.size()) {
    for (Context c = 0; c < level.contexts.size(); ++c) ++first_[level.context(c).before + 1];
    for (std::size_t node = 1; node < first_.size(); ++node) first_[node] += first_[node - 1];
    std::vector<std::size_t> free = first_;
    for (Context c = 0; c < level.contexts.size(); ++c) leaving_[free[level.context(c).before]++] = c;
    for (Context c = 0; c < level.contexts.size(); ++c) {
      TimeLimit::check();
      const RecordSet::Record images = moves.actions[moves.action_of[c]];
      if (std::adjacent_find(images.begin(), images.end(), std::not_equal_to<>()) == images.end())
        add(level.context(c).after, images[0]);
    }
    close();
  }

  /// Chooses the initial label among `candidates`: the first that a reset reaches anyhow, so that no label is used for
  /// the start alone, else the first. Returns it.
  Label start(Context node, std::span<const Label> candidates) {
    assert(!candidates.empty());
    const auto reached = std::find_if(candidates.begin(), candidates.end(), [&](Label x) { return contains(node, x); });
    const Label chosen = reached == candidates.end() ? candidates.front() : *reached;
    add(node, chosen);
    close();
    return chosen;
  }

  bool contains(Context node, Label label) const { return reached_[std::size_t{node} * size_ + label]; }
  Label size() const { return size_; }
  /// Labels that are reached at some node.
  std::vector<bool> used() const {
    std::vector<bool> result(size_, false);
    for (std::size_t pair = 0; pair < reached_.size(); ++pair)
      if (reached_[pair]) result[pair % size_] = true;
    return result;
  }

 private:
  void add(Context node, Label label) {
    const std::size_t pair = std::size_t{node} * size_ + label;
    if (reached_[pair]) return;
    reached_[pair] = true;
    open_.emplace_back(node, label);
  }

  void close() {
    while (!open_.empty()) {
      const std::pair<Context, Label> pair = open_.back();
      open_.pop_back();
      for (std::size_t i = first_[pair.first]; i < first_[pair.first + 1]; ++i) {
        const Context c = leaving_[i];
        add(level_.context(c).after, moves_.actions[moves_.action_of[c]][pair.second]);
      }
    }
  }

  const ChainLevel& level_;
  const LevelMoves& moves_;
  Label size_;
  std::vector<bool> reached_;
  std::vector<std::size_t> first_;  ///< node ↦ its first entry in `leaving_`
  std::vector<Context> leaving_;    ///< contexts, by old node
  std::vector<std::pair<Context, Label>> open_;
};

/// Renumbers the labels that are used at some node, closed under all actions so that bijections stay bijections, and
/// merges the actions that have become the same.
class LabelTrimming {
 public:
  LabelTrimming(const LevelMoves& moves, const ReachableLabels& reachable)
      : label_(moves.size, UINT32_MAX), action_(moves.actions.size()) {
    std::vector<bool> kept = reachable.used();
    for (bool grown = true; grown;) {
      grown = false;
      for (Action a = 0; a < moves.actions.size(); ++a)
        for (Label x = 0; x < moves.size; ++x)
          if (kept[x] && !kept[moves.actions[a][x]]) grown = kept[moves.actions[a][x]] = true;
    }
    std::vector<Label> old;
    for (Label x = 0; x < moves.size; ++x)
      if (kept[x]) {
        label_[x] = width_++;
        old.push_back(x);
      }
    std::map<std::vector<Point>, Action> known;
    for (Action a = 0; a < moves.actions.size(); ++a) {
      std::vector<Point> images;
      for (const Label x : old) images.push_back(label_[moves.actions[a][x]]);
      const auto [entry, fresh] = known.try_emplace(std::move(images), static_cast<Action>(actions_.size()));
      if (fresh) actions_.push_back(Transformation::from_images(entry->first));
      action_[a] = entry->second;
    }
  }

  Label width() const { return width_; }
  Label label(Label old) const { return label_[old]; }
  Action action(Action old) const { return action_[old]; }
  const std::vector<Transformation>& actions() const { return actions_; }

 private:
  Label width_ = 0;
  std::vector<Label> label_;
  std::vector<Action> action_;
  std::vector<Transformation> actions_;
};

/// The positions of the points of one set, looked up by point. Filled per set, so that it costs O(size), not O(n).
class Positions {
 public:
  explicit Positions(Point points) : position_(points, 0) {}
  void fill(std::span<const Point> set) {
    for (Label x = 0; x < set.size(); ++x) position_[set[x]] = x;
  }
  Label operator[](Point point) const { return position_[point]; }

 private:
  std::vector<Label> position_;
};

/// How many distinct images the points of `set` have; `mark` has one entry per point, all equal before and after.
Label count_images(std::span<const Point> set, const std::vector<Point>& map, std::vector<bool>& mark) {
  Label images = 0;
  for (const Point p : set) {
    if (!mark[map[p]]) ++images;
    mark[map[p]] = true;
  }
  for (const Point p : set) mark[map[p]] = false;
  return images;
}

/// Runs `image(triple, old set, new set, images)` over all contexts and interns what it writes.
template <class Image>
LevelMoves collect_moves(const ChainLevel& level, Image image) {
  LevelMoves moves{level.size, {}, RecordSet(level.size)};
  moves.action_of.reserve(level.contexts.size());
  std::vector<Point> before, after;
  std::vector<Label> images(level.size);
  for (Context c = 0; c < level.contexts.size(); ++c) {
    TimeLimit::check();
    const ChainLevel::Triple triple = level.context(c);
    level.unpack(triple.before, before);
    level.unpack(triple.after, after);
    image(triple, before, after, images);
    moves.action_of.push_back(moves.actions.insert(images).index);
  }
  return moves;
}

/// True when every letter is injective or constant on the sets on which it occurs. O(contexts · size).
bool every_map_is_bijective_or_constant(const ChainLevel& level, const PointMaps& maps) {
  std::vector<Point> before;
  std::vector<bool> mark(level.points, false);
  for (Context c = 0; c < level.contexts.size(); ++c) {
    TimeLimit::check();
    const ChainLevel::Triple triple = level.context(c);
    level.unpack(triple.before, before);
    const Label images = count_images(before, maps[triple.letter], mark);
    if (images != 1 && images != level.size) return false;
  }
  return true;
}

/// The label is the position of the point itself. Only for levels with the property above.
LevelMoves point_moves(const ChainLevel& level, const PointMaps& maps) {
  Positions position(level.points);
  return collect_moves(level, [&](const ChainLevel::Triple& triple, std::span<const Point> before,
                                  std::span<const Point> after, std::vector<Label>& images) {
    position.fill(after);
    for (Label x = 0; x < level.size; ++x) images[x] = position[maps[triple.letter][before[x]]];
  });
}

/// The label is the position of the point that is removed: it moves with the letter when s(O) = N, and is otherwise
/// reset to the least point of N outside s(O).
LevelMoves removal_moves(const ChainLevel& level, const PointMaps& maps) {
  Positions position(level.points);
  std::vector<bool> hit(level.size);
  return collect_moves(level, [&](const ChainLevel::Triple& triple, std::span<const Point> before,
                                  std::span<const Point> after, std::vector<Label>& images) {
    position.fill(after);
    std::fill(hit.begin(), hit.end(), false);
    for (Label x = 0; x < level.size; ++x) {
      images[x] = position[maps[triple.letter][before[x]]];
      hit[images[x]] = true;
    }
    const auto missed = std::find(hit.begin(), hit.end(), false);
    if (missed != hit.end()) std::fill(images.begin(), images.end(), static_cast<Label>(missed - hit.begin()));
  });
}

/// The reachable states, increasing: the points of the decomposition.
std::vector<State> points_of(const Dfa& dfa) {
  const std::vector<bool> reached = reachable_states(dfa);
  std::vector<State> found;
  for (State state = 0; state < dfa.states(); ++state)
    if (reached[state]) found.push_back(state);
  return found;
}

/// The points that may come first: the initial state, or all.
std::vector<Point> starting_points(const Dfa& dfa, const std::vector<State>& states) {
  std::vector<Point> points;
  for (Point point = 0; point < states.size(); ++point)
    if (!dfa.has_start() || states[point] == dfa.initial()) points.push_back(point);
  return points;
}

PointMaps point_maps(const Dfa& dfa, std::span<const State> states) {
  std::vector<Point> point_of(dfa.states(), 0);
  for (Point p = 0; p < states.size(); ++p) point_of[states[p]] = p;
  PointMaps maps(dfa.letters(), std::vector<Point>(states.size()));
  for (Letter letter = 0; letter < dfa.letters(); ++letter)
    for (Point p = 0; p < states.size(); ++p) maps[letter][p] = point_of[dfa.next(states[p], letter)];
  return maps;
}

/// The descent from Q to single points, one layer a level.
class Chain {
 public:
  Chain(const Dfa& dfa, const ChainOptions& options)
      : options_(options),
        states_(points_of(dfa)),
        maps_(point_maps(dfa, states_)),
        starts_(starting_points(dfa, states_)) {
    cascade_.alphabet = dfa.alphabet();
    cascade_.has_start = dfa.has_start();
    cascade_.method = "chain";
  }

  Cascade run() && {
    ChainLevel level = ChainLevel::top(static_cast<Point>(states_.size()), maps_);
    level.initial.assign(starts_.size(), 0);
    for (bool last = false; !last;) {
      contexts_ += level.contexts.size();
      require_within_limit();
      const bool tracks = level.size == 1 || (options_.early_stop && every_map_is_bijective_or_constant(level, maps_));
      last = tracks || level.size == 2;
      const LevelMoves moves = tracks ? point_moves(level, maps_) : removal_moves(level, maps_);
      ReachableLabels reachable(level, moves);
      std::vector<Label> initial;
      for (std::size_t i = 0; i < starts_.size(); ++i)
        initial.push_back(reachable.start(level.initial[i], initial_candidates(level, i, tracks)));
      const LabelTrimming trimming(moves, reachable);
      append_layer(moves, trimming, initial.front());
      if (last)
        append_states(level, reachable, trimming, tracks);
      else
        level = descend(level, moves, reachable, trimming, initial);
    }
    drop_constant_layers();
    return std::move(cascade_);
  }

 private:
  /// A layer that tracks must start at the point itself; one that removes may start with any other point removed.
  std::vector<Label> initial_candidates(const ChainLevel& level, std::size_t start, bool tracks) const {
    std::vector<Point> points;
    level.unpack(level.initial[start], points);
    std::vector<Label> candidates;
    for (Label x = 0; x < level.size; ++x)
      if ((points[x] == starts_[start]) == tracks) candidates.push_back(x);
    return candidates;
  }

  void append_layer(const LevelMoves& moves, const LabelTrimming& trimming, Label initial) {
    CascadeLayer& layer = cascade_.layers.emplace_back();
    layer.width = trimming.width();
    layer.actions = trimming.actions();
    layer.wiring.action_of.reserve(moves.action_of.size());
    for (const Action action : moves.action_of) layer.wiring.action_of.push_back(trimming.action(action));
    layer.component = component_name(layer.actions);
    cascade_.initial.push_back(trimming.label(initial));
  }

  /// The last level of the readout: the tracked point, or the one of two that was not removed.
  void append_states(const ChainLevel& level, const ReachableLabels& reachable, const LabelTrimming& trimming,
                     bool tracks) {
    const Label width = trimming.width();
    std::vector<Context>& to = cascade_.readout.next.emplace_back(std::size_t{level.sets.size()} * width, kNoContext);
    std::vector<Point> points;
    for (Context node = 0; node < level.sets.size(); ++node) {
      level.unpack(node, points);
      for (Label x = 0; x < level.size; ++x)
        if (reachable.contains(node, x))
          to[std::size_t{node} * width + trimming.label(x)] = states_[points[tracks ? x : 1 - x]];
    }
  }

  /// Removes the labelled point from every old and new set: the readout's next level and the next layer's contexts.
  ChainLevel descend(const ChainLevel& level, const LevelMoves& moves, const ReachableLabels& reachable,
                     const LabelTrimming& trimming, const std::vector<Label>& initial) {
    const Label width = trimming.width();
    ChainLevel below = level.next();
    std::vector<Context>& child =
        cascade_.readout.next.emplace_back(std::size_t{level.sets.size()} * width, kNoContext);
    for (Context node = 0; node < level.sets.size(); ++node)
      for (Label x = 0; x < level.size; ++x)
        if (reachable.contains(node, x))
          child[std::size_t{node} * width + trimming.label(x)] = level.without(node, x, below);
    for (std::size_t i = 0; i < initial.size(); ++i)
      below.initial.push_back(child[std::size_t{level.initial[i]} * width + trimming.label(initial[i])]);
    below.name_letters(maps_);

    std::vector<Context>& next = cascade_.layers.back().wiring.next;
    next.assign(std::size_t{level.contexts.size()} * width, kNoContext);
    for (Context c = 0; c < level.contexts.size(); ++c) {
      TimeLimit::check();
      const auto [before, after, letter] = level.context(c);
      for (Label x = 0; x < level.size; ++x) {
        if (!reachable.contains(before, x)) continue;
        const Label pre = trimming.label(x), post = trimming.label(moves.actions[moves.action_of[c]][x]);
        next[std::size_t{c} * width + pre] = below.add_context(child[std::size_t{before} * width + pre],
                                                               child[std::size_t{after} * width + post], letter);
      }
      if (contexts_ + below.contexts.size() > options_.max_contexts) break;
    }
    return below;
  }

  void require_within_limit() const {
    if (contexts_ <= options_.max_contexts) return;
    throw LimitError(fmt::format("the chain of {} met its limit of {} contexts in layer {}; raise max_contexts",
                                 counted(states_.size(), "state"), options_.max_contexts, cascade_.layers.size() + 1));
  }

  /// Layers of one label say nothing: whoever pointed at them points at what they point at. The first layer is never
  /// one of them when there are two states: its one label would be a point that no letter reaches, and all are reached.
  void drop_constant_layers() {
    for (std::size_t k = cascade_.layers.size(); k-- > 1;) {
      if (cascade_.layers[k].width != 1) continue;
      skip(cascade_.layers[k - 1].wiring.next, cascade_.layers[k].wiring.next);
      skip(cascade_.readout.next[k - 1], cascade_.readout.next[k]);
      const auto at = static_cast<std::ptrdiff_t>(k);
      cascade_.layers.erase(cascade_.layers.begin() + at);
      cascade_.readout.next.erase(cascade_.readout.next.begin() + at);
      cascade_.initial.erase(cascade_.initial.begin() + at);
    }
  }

  /// For a layer with one label, `beyond[c]` is where entry c leads; empty: nowhere.
  static void skip(std::vector<Context>& entries, const std::vector<Context>& beyond) {
    if (beyond.empty()) entries.clear();
    for (Context& entry : entries)
      if (entry != kNoContext) entry = beyond[entry];
  }

  ChainOptions options_;
  std::vector<State> states_;
  PointMaps maps_;
  std::vector<Point> starts_;
  std::uint64_t contexts_ = 0;
  Cascade cascade_;
};

}  // namespace

std::string component_name(std::span<const Transformation> actions) {
  StabiliserChainOptions cheap;
  cheap.max_entries = 2'000'000;
  std::vector<Permutation> generators;
  for (const Transformation& action : actions)
    if (action.is_permutation() && !action.is_identity()) generators.push_back(action.to_permutation());
  if (generators.empty()) return "trivial";
  const Point degree = generators.front().degree();
  try {
    return recognised_name(PermutationGroup::from_generators(degree, std::move(generators)), cheap);
  } catch (const LimitError&) {
    return fmt::format("permutations of {}", counted(degree, "point"));
  }
}

Cascade chain_decomposition(const Dfa& dfa, const ChainOptions& options) {
  return merge_contexts(Chain(dfa, options).run());
}

}  // namespace krohn
