#include "krohn/automata/cascades/holonomy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

#include "krohn/automata/cascades/holonomy_layers.h"
#include "krohn/automata/cascades/skeleton.h"
#include "krohn/automata/cascades/trim.h"
#include "krohn/automata/dfa/graph.h"
#include "krohn/groups/error.h"
#include "krohn/groups/record_set.h"
#include "krohn/groups/time_limit.h"

namespace krohn {
namespace {

using Set = Skeleton::Set;

/// Builds one layer after the other, the sets that are highest in the subduction order first. A context of a level is a
/// triple (O, N, s): the sets that the labels above stand for before and after the letter s, with s(O) ⊆ N.
class Builder {
 public:
  Builder(const Dfa& dfa, const HolonomyOptions& options)
      : dfa_(dfa),
        skeleton_(Skeleton::of(dfa, options.max_sets)),
        sets_(skeleton_.sets()),
        layers_(holonomy_layers(skeleton_)),
        options_(options) {
    if (options.outline)
      options.outline({sets_.size(), sets_.classes(), skeleton_.height(0), layers_.heights_with_groups});
  }

  Cascade build() {
    Cascade cascade;
    cascade.alphabet = dfa_.alphabet();
    cascade.method = "holonomy";
    for (Letter letter = 0; letter < dfa_.letters(); ++letter) intern({0, 0, letter});
    readout_nodes_.push_back(0);
    Set start = 0;
    for (std::uint32_t level = 0; level < layers_.count; ++level) {
      cascade.layers.push_back(build_layer(level));
      cascade.readout.next.push_back(build_readout(level, cascade.layers.back().width));
      const Label label = label_containing(start, level, sets_.singleton(dfa_.initial()));
      cascade.initial.push_back(label);
      start = below(start, level, label);
    }
    finish_readout(cascade);
    return cascade;
  }

 private:
  struct Triple {
    Set before, after;
    Letter letter;
  };

  bool splits(Set set, std::uint32_t level) const { return layers_.of_class[sets_.class_of(set)] == level; }
  Label width_of(Set set, std::uint32_t level) const {
    return splits(set, level) ? static_cast<Label>(skeleton_.tiles(set).size()) : 0;
  }
  /// The set one level down: tile `label` of a set that splits here, otherwise the set itself.
  Set below(Set set, std::uint32_t level, Label label) const {
    return splits(set, level) ? skeleton_.tiles(set)[label] : set;
  }
  /// The first tile of `set` around `inner`; 0 when the set does not split here.
  Label label_containing(Set set, std::uint32_t level, Set inner) const {
    if (!splits(set, level)) return 0;
    const std::span<const Set> tiles = skeleton_.tiles(set);
    const auto tile = std::find_if(tiles.begin(), tiles.end(), [&](Set t) { return sets_.is_subset(inner, t); });
    assert(tile != tiles.end());
    return static_cast<Label>(tile - tiles.begin());
  }

  Context intern(const Triple& triple) {
    const std::uint32_t record[] = {triple.before, triple.after, triple.letter};
    const RecordSet::Insertion insertion = next_contexts_.insert(record);
    if (insertion.fresh && ++contexts_ > options_.max_contexts)
      throw LimitError(
          fmt::format("the holonomy cascade needs more than {} contexts; raise --max-contexts", options_.max_contexts));
    return insertion.index;
  }

  /// The action of a level in a context, on `width` labels (MATH.md §3).
  std::vector<Point> action_of(const Triple& triple, std::uint32_t level, Label width) const {
    std::vector<Point> images(width);
    for (Label label = 0; label < width; ++label) images[label] = label;
    if (!splits(triple.after, level)) return images;
    const Set moved = sets_.image(triple.before, triple.letter);
    if (moved == triple.after && splits(triple.before, level)) {
      permute_tiles(triple, images);
    } else {
      std::fill(images.begin(), images.end(), label_containing(triple.after, level, moved));
    }
    return images;
  }

  /// Equivalent sets mapped onto each other carry tiles to tiles; labels past their number stay.
  void permute_tiles(const Triple& triple, std::vector<Point>& images) const {
    const std::span<const Set> from = skeleton_.tiles(triple.before), to = skeleton_.tiles(triple.after);
    assert(from.size() == to.size());
    for (Label label = 0; label < from.size(); ++label) {
      const auto tile = std::find(to.begin(), to.end(), sets_.image(from[label], triple.letter));
      assert(tile != to.end());
      images[label] = static_cast<Label>(tile - to.begin());
    }
  }

  CascadeLayer build_layer(std::uint32_t level) {
    const RecordSet contexts = std::exchange(next_contexts_, RecordSet(3));
    CascadeLayer layer;
    for (Context c = 0; c < contexts.size(); ++c)
      layer.width = std::max({layer.width, width_of(contexts[c][0], level), width_of(contexts[c][1], level)});
    std::map<std::vector<Point>, Action> interned;
    const bool last = level + 1 == layers_.count;
    layer.wiring.action_of.reserve(contexts.size());
    if (!last) layer.wiring.next.reserve(std::size_t{contexts.size()} * layer.width);
    for (Context c = 0; c < contexts.size(); ++c) {
      TimeLimit::check();
      const Triple triple{contexts[c][0], contexts[c][1], contexts[c][2]};
      std::vector<Point> images = action_of(triple, level, layer.width);
      const auto [entry, fresh] = interned.try_emplace(images, static_cast<Action>(interned.size()));
      if (fresh) layer.actions.push_back(Transformation::from_images(images));
      layer.wiring.action_of.push_back(entry->second);
      if (!last) append_next(triple, level, images, layer.wiring.next);
    }
    return layer;
  }

  void append_next(const Triple& triple, std::uint32_t level, const std::vector<Point>& images,
                   std::vector<Context>& next) {
    const Label valid =
        splits(triple.before, level) ? width_of(triple.before, level) : static_cast<Label>(images.size());
    for (Label label = 0; label < images.size(); ++label) {
      if (label >= valid) {
        next.push_back(kNoContext);
        continue;
      }
      next.push_back(
          intern({below(triple.before, level, label), below(triple.after, level, images[label]), triple.letter}));
    }
  }

  std::vector<Context> build_readout(std::uint32_t level, Label width) {
    const std::vector<Set> nodes = std::exchange(readout_nodes_, {});
    std::map<Set, Context> number;
    std::vector<Context> next;
    for (const Set node : nodes)
      for (Label label = 0; label < width; ++label) {
        if (splits(node, level) && label >= width_of(node, level)) {
          next.push_back(kNoContext);
          continue;
        }
        const Set to = below(node, level, label);
        const auto [entry, fresh] = number.try_emplace(to, static_cast<Context>(number.size()));
        if (fresh) readout_nodes_.push_back(to);
        next.push_back(entry->second);
      }
    return next;
  }

  /// After the last level every node is a singleton: replace node numbers by states. A single state has no level; it
  /// gets a layer of one label.
  void finish_readout(Cascade& cascade) const {
    if (cascade.layers.empty()) {
      cascade.layers.push_back({.width = 1,
                                .actions = {Transformation::identity(1)},
                                .wiring = {.action_of = std::vector<Action>(dfa_.letters(), 0), .next = {}},
                                .component = {}});
      cascade.initial.push_back(0);
      cascade.readout.next.push_back({0});
    }
    for (Context& node : cascade.readout.next.back())
      if (node != kNoContext) node = sets_.members(readout_nodes_[node]).front();
  }

  const Dfa& dfa_;
  Skeleton skeleton_;
  const SetOrbit& sets_;
  HolonomyLayers layers_;
  const HolonomyOptions& options_;
  RecordSet next_contexts_{3};
  std::vector<Set> readout_nodes_;
  std::uint64_t contexts_ = 0;
};

/// An automaton without its unreachable states, and the old number of every state that stays.
struct Part {
  Dfa dfa;
  std::vector<State> original;
};

Part reachable_part(const Dfa& dfa) {
  const std::vector<bool> reached = reachable_states(dfa);
  std::vector<State> original, number(dfa.states(), 0);
  for (State state = 0; state < dfa.states(); ++state)
    if (reached[state]) {
      number[state] = static_cast<State>(original.size());
      original.push_back(state);
    }
  std::vector<State> table;
  for (const State state : original)
    for (const State target : dfa.row(state)) table.push_back(number[target]);
  std::vector<Output> outputs(original.size(), 0);
  return {Dfa::moore(dfa.alphabet(), std::move(table), number[dfa.initial()], std::move(outputs), {"state"}),
          std::move(original)};
}

}  // namespace

Cascade holonomy_decomposition(const Dfa& dfa, const HolonomyOptions& options) {
  const Part part = reachable_part(dfa);
  Cascade cascade = Builder(part.dfa, options).build();
  for (Context& state : cascade.readout.next.back())
    if (state != kNoContext) state = part.original[state];
  cascade.has_start = dfa.has_start();
  return trim(cascade);
}

}  // namespace krohn
