// automata/cascades/chain_level.h — one level of the chain decomposition: its contexts, its moves, and the labels that
// are used. Internal to the chain (automata/cascades/chain.cpp); MATH.md §3.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "krohn/automata/cascades/cascade.h"
#include "krohn/groups/record_set.h"

namespace krohn {

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
  static ChainLevel top(Point points, const PointMaps& maps);
  /// The empty level below, whose sets have one point less.
  ChainLevel next() const;

  Triple context(Context c) const {
    const RecordSet::Record record = contexts[c];
    return {record[0], record[1], record[2]};
  }
  /// The points of a node, increasing. O(n/32 + size).
  void unpack(Context node, std::vector<Point>& result) const;
  /// The node of `below` that is `node` without its point number `label`.
  Context without(Context node, Label label, ChainLevel& below) const;
  /// Fills `same_letter`; call when all sets are there. O(nodes · letters · size).
  void name_letters(const PointMaps& maps);
  Context add_context(Context before, Context after, Letter letter);
};

/// What the contexts do to the labels 0 … size−1, labels being positions in the sorted sets.
struct LevelMoves {
  Label size = 0;
  std::vector<Action> action_of;  ///< per context
  RecordSet actions;              ///< distinct images of the labels
};

/// True when every letter is injective or constant on the sets on which it occurs. O(contexts · size).
bool every_map_is_bijective_or_constant(const ChainLevel& level, const PointMaps& maps);

/// The label is the position of the point itself. Only for levels with the property above.
LevelMoves point_moves(const ChainLevel& level, const PointMaps& maps);

/// The label is the position of the point that is removed: it moves with the letter when s(O) = N, and is otherwise
/// reset to the least point of N outside s(O).
LevelMoves removal_moves(const ChainLevel& level, const PointMaps& maps);

/// The (node, label) pairs that words can lead to, and no fewer: the least set that holds the targets of all resets and
/// the initial pairs, and is closed under all contexts. Each level over-approximates a little, since it forgets how the
/// labels before it reached the node. O(contexts · size).
class ReachableLabels {
 public:
  ReachableLabels(const ChainLevel& level, const LevelMoves& moves);

  /// Chooses the initial label among `candidates`: the first that a reset reaches anyhow, so that no label is used for
  /// the start alone, else the first. Returns it.
  Label start(Context node, std::span<const Label> candidates);

  bool contains(Context node, Label label) const { return reached_[std::size_t{node} * size_ + label]; }
  Label size() const { return size_; }
  /// Labels that are reached at some node.
  std::vector<bool> used() const;

 private:
  void add(Context node, Label label);
  void close();

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
  LabelTrimming(const LevelMoves& moves, const ReachableLabels& reachable);

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

}  // namespace krohn
