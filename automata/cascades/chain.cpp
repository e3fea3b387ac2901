#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "krohn/automata/cascades/cascade.h"
#include "krohn/automata/cascades/chain_level.h"
#include "krohn/automata/cascades/trim.h"
#include "krohn/automata/dfa/graph.h"
#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"
#include "krohn/groups/time_limit.h"

namespace krohn {
namespace {

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

  /// Of a layer with one label, `beyond[c]` is where entry c leads; empty: nowhere.
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

Cascade chain_decomposition(const Dfa& dfa, const ChainOptions& options) {
  return merge_contexts(Chain(dfa, options).run());
}

}  // namespace krohn
