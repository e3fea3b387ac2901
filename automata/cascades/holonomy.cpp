#include "krohn/automata/cascades/holonomy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "krohn/automata/cascades/emulation.h"
#include "krohn/automata/dfa/graph.h"
#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/monoid/algebra.h"
#include "krohn/automata/monoid/stamp.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/record_set.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/groups/permutations/stabiliser_chain.h"

namespace krohn {

/// The sets as words over the points, the rarest point first, in a tree of beginnings: what lies inside a set is found
/// along those branches all of whose points it has. Branches of a few sets are looked at one by one.
class Skeleton::Tree {
 public:
  Tree(const SetOrbit& sets, std::span<const Set> by_size) : sets_(sets), by_size_(by_size), order_(by_size.size()) {
    std::vector<std::size_t> uses(sets.degree(), 0);
    for (const Set set : by_size)
      for (const Point point : sets.members(set)) ++uses[point];
    points_.resize(sets.degree());
    std::iota(points_.begin(), points_.end(), Point{0});
    std::ranges::stable_sort(points_, {}, [&](Point point) { return uses[point]; });
    std::vector<Point> rank(sets.degree());
    for (Point r = 0; r < rank.size(); ++r) rank[points_[r]] = r;
    std::iota(order_.begin(), order_.end(), std::uint32_t{0});
    nodes_.push_back({0, static_cast<std::uint32_t>(order_.size()), 0, 0, 0});
    for (std::size_t node = 0; node < nodes_.size(); ++node) split(node, rank);
  }

  /// Numbers in `by_size`, from `first` on, of the sets inside `set`: increasing.
  void find_inside(Set set, std::size_t first, std::vector<std::size_t>& found) {
    stack_.assign(1, 0);
    while (!stack_.empty()) {
      const Node node = nodes_[stack_.back()];
      stack_.pop_back();
      for (std::uint32_t child = node.first_child; child < node.first_child + node.children; ++child)
        if (sets_.contains(set, points_[nodes_[child].rank])) stack_.push_back(child);
      const std::uint32_t end = node.children > 0 ? nodes_[node.first_child].begin : node.end;
      for (std::uint32_t i = node.begin; i < end; ++i)
        if (order_[i] >= first && sets_.is_subset(by_size_[order_[i]], set)) found.push_back(order_[i]);
    }
    std::ranges::sort(found);
  }

 private:
  /// A range of `order_`: first what ends here or is not split any more, then what the children have.
  struct Node {
    std::uint32_t begin, end;
    Point rank;  ///< of the last point of the beginning
    std::uint32_t first_child, children;
  };
  static constexpr std::uint32_t kFew = 8;

  /// Sorts a node's sets by their first point past the beginning.
  void split(std::size_t number, const std::vector<Point>& rank) {
    const Node node = nodes_[number];
    if (node.end - node.begin <= kFew) return;
    const Point from = number == 0 ? 0 : node.rank + 1;
    std::vector<std::pair<Point, std::uint32_t>> keyed;  // 0: ends here
    for (std::uint32_t i = node.begin; i < node.end; ++i) {
      Point next = sets_.degree();
      for (const Point point : sets_.members(by_size_[order_[i]]))
        if (rank[point] >= from) next = std::min(next, rank[point]);
      keyed.emplace_back(next == sets_.degree() ? 0 : next + 1, order_[i]);
    }
    std::ranges::sort(keyed);
    nodes_[number].first_child = static_cast<std::uint32_t>(nodes_.size());
    for (std::uint32_t i = 0; i < keyed.size(); ++i) {
      order_[node.begin + i] = keyed[i].second;
      if (keyed[i].first == 0) continue;
      if (i == 0 || keyed[i - 1].first != keyed[i].first) {
        nodes_.push_back({node.begin + i, node.begin + i, keyed[i].first - 1, 0, 0});
        ++nodes_[number].children;
      }
      ++nodes_.back().end;
    }
  }

  const SetOrbit& sets_;
  std::span<const Set> by_size_;
  std::vector<Point> points_;         ///< by rank
  std::vector<std::uint32_t> order_;  ///< numbers in by_size_, by branches
  std::vector<Node> nodes_;           ///< the children of a node side by side
  std::vector<std::uint32_t> stack_;
};

Skeleton Skeleton::of(const Dfa& dfa, std::uint64_t max_sets) {
  std::vector<Transformation> letters;
  for (Letter letter = 0; letter < dfa.letters(); ++letter) letters.push_back(dfa.letter_map(letter));
  Skeleton result(SetOrbit::of(letters, dfa.states(), SetOrbit::Seeds::kWholeSetAndSingletons, max_sets));
  std::vector<Set> by_size(result.sets_.size());
  std::iota(by_size.begin(), by_size.end(), Set{0});
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](Set a, Set b) { return result.sets_.cardinality(a) > result.sets_.cardinality(b); });
  result.find_tiles(by_size);
  result.find_heights(by_size);
  return result;
}

void Skeleton::find_tiles(std::span<const Set> by_size) {
  // The tiles of a class's first set are searched for; those of the others are its images along a spanning tree, which
  // is what makes tile labels mean the same throughout the class.
  Tree tree(sets_, by_size);
  std::vector<std::vector<Set>> tiles(sets_.size());
  std::vector<bool> reached(sets_.size(), false);
  for (Set root = 0; root < sets_.size(); ++root) {
    if (reached[root]) continue;
    TimeLimit::check();
    reached[root] = true;
    tiles[root] = maximal_inside(root, by_size, tree);
    std::vector<Set> queue{root};
    for (std::size_t i = 0; i < queue.size(); ++i) {
      TimeLimit::check();
      for (Letter letter = 0; letter < sets_.generators(); ++letter) {
        const Set to = sets_.image(queue[i], letter);
        if (reached[to] || sets_.class_of(to) != sets_.class_of(root)) continue;
        reached[to] = true;
        for (const Set tile : tiles[queue[i]]) tiles[to].push_back(sets_.image(tile, letter));
        queue.push_back(to);
      }
    }
  }
  tile_begin_.assign(1, 0);
  for (const std::vector<Set>& own : tiles) {
    tiles_.insert(tiles_.end(), own.begin(), own.end());
    tile_begin_.push_back(tiles_.size());
  }
}

std::vector<Skeleton::Set> Skeleton::maximal_inside(Set set, std::span<const Set> by_size, Tree& tree) const {
  std::vector<Set> maximal;
  if (sets_.cardinality(set) == 1) return maximal;
  const auto smaller = std::partition_point(
      by_size.begin(), by_size.end(), [&](Set other) { return sets_.cardinality(other) >= sets_.cardinality(set); });
  std::vector<std::size_t> inside;
  tree.find_inside(set, static_cast<std::size_t>(smaller - by_size.begin()), inside);
  for (const std::size_t number : inside) {
    const Set other = by_size[number];
    const bool covered =
        std::any_of(maximal.begin(), maximal.end(), [&](Set tile) { return sets_.is_subset(other, tile); });
    if (!covered) maximal.push_back(other);
  }
  return maximal;
}

void Skeleton::find_heights(std::span<const Set> by_size) {
  // A strict step down goes to a tile, or to an image in another class. Sets of one size step down among themselves
  // only along images, which never raise the number of the class; so: small sets first, then small class numbers.
  std::vector<Set> order(by_size.rbegin(), by_size.rend());
  std::stable_sort(order.begin(), order.end(), [&](Set a, Set b) {
    return sets_.cardinality(a) != sets_.cardinality(b) ? sets_.cardinality(a) < sets_.cardinality(b)
                                                        : sets_.class_of(a) < sets_.class_of(b);
  });
  height_of_class_.assign(sets_.classes(), 0);
  for (const Set set : order) {
    if (sets_.cardinality(set) == 1) continue;
    std::uint32_t above = 0;
    for (const Set tile : tiles(set)) above = std::max(above, height(tile));
    for (Letter letter = 0; letter < sets_.generators(); ++letter) {
      const Set to = sets_.image(set, letter);
      if (sets_.class_of(to) != sets_.class_of(set)) above = std::max(above, height(to));
    }
    std::uint32_t& own = height_of_class_[sets_.class_of(set)];
    own = std::max(own, 1 + above);
  }
}

namespace {

using Set = Skeleton::Set;

/// The maps of the labels of a class's tiles by the letters that keep it, without the identity.
using LabelPermutations = std::set<std::vector<Point>>;

void add_label_permutations(const Skeleton& skeleton, Set set, LabelPermutations& permutations) {
  TimeLimit::check();
  const SetOrbit& sets = skeleton.sets();
  const std::span<const Set> from = skeleton.tiles(set);
  std::vector<Point> images(from.size());
  for (std::uint32_t letter = 0; letter < sets.generators(); ++letter) {
    const Set image = sets.image(set, letter);
    if (sets.class_of(image) != sets.class_of(set)) continue;
    const std::span<const Set> to = skeleton.tiles(image);
    bool moves = false;
    for (Point label = 0; label < from.size(); ++label) {
      images[label] = static_cast<Point>(std::find(to.begin(), to.end(), sets.image(from[label], letter)) - to.begin());
      assert(images[label] < to.size());
      moves = moves || images[label] != label;
    }
    if (moves) permutations.insert(images);
  }
}

/// A group of label permutations, of one degree for the whole height; without a chain when that met its limit.
struct LabelGroup {
  std::vector<Permutation> generators;
  std::optional<StabiliserChain> chain;

  LabelGroup(const LabelPermutations& permutations, Point degree) {
    for (std::vector<Point> images : permutations) {
      for (auto point = static_cast<Point>(images.size()); point < degree; ++point) images.push_back(point);
      generators.push_back(Permutation::from_images(std::move(images)));
    }
    StabiliserChainOptions cheap;
    cheap.max_entries = 2'000'000;
    try {
      chain.emplace(PermutationGroup::from_generators(degree, generators), cheap);
    } catch (const LimitError&) {  // then it shares with nobody
    }
  }

  bool contains(const LabelGroup& other) const {
    return chain && std::all_of(other.generators.begin(), other.generators.end(),
                                [&](const Permutation& generator) { return chain->contains(generator); });
  }
};

/// The classes of one height over their layers: which of them each class takes.
std::vector<std::uint32_t> share(const std::vector<LabelPermutations>& classes) {
  std::size_t degree = 0;
  for (const LabelPermutations& permutations : classes)
    if (!permutations.empty()) degree = std::max(degree, permutations.begin()->size());
  std::vector<LabelGroup> largest;  // per layer
  std::vector<std::uint32_t> layer_of(classes.size(), 0);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (classes[i].empty()) continue;
    LabelGroup group(classes[i], static_cast<Point>(degree));
    std::uint32_t layer = 0;
    while (layer < largest.size() && !largest[layer].contains(group) && !group.contains(largest[layer])) ++layer;
    layer_of[i] = layer;
    if (layer == largest.size())
      largest.push_back(std::move(group));
    else if (!largest[layer].contains(group))
      largest[layer] = std::move(group);
  }
  return layer_of;
}

}  // namespace

HolonomyLayers holonomy_layers(const Skeleton& skeleton) {
  const SetOrbit& sets = skeleton.sets();
  HolonomyLayers layers;
  layers.of_class.assign(sets.classes(), HolonomyLayers::kNone);
  std::vector<std::vector<Set>> members(sets.classes());
  std::vector<std::vector<std::uint32_t>> classes_at(skeleton.height(0) + 1);
  for (Set set = 0; set < sets.size(); ++set) {
    if (sets.cardinality(set) == 1) continue;
    std::vector<Set>& own = members[sets.class_of(set)];
    if (own.empty()) classes_at[skeleton.height(set)].push_back(sets.class_of(set));
    own.push_back(set);
  }
  for (std::uint32_t height = skeleton.height(0); height >= 1; --height) {
    const std::vector<std::uint32_t>& classes = classes_at[height];
    std::vector<LabelPermutations> permutations(classes.size());
    const bool alone = classes.size() == 1;  // shares with nobody: whether it has a group is enough
    for (std::size_t i = 0; i < classes.size(); ++i)
      for (const Set set : members[classes[i]])
        if (!alone || permutations[i].empty()) add_label_permutations(skeleton, set, permutations[i]);
    layers.heights_with_groups += std::ranges::any_of(permutations, [](const auto& own) { return !own.empty(); });
    const std::vector<std::uint32_t> layer_of = alone ? std::vector<std::uint32_t>{0} : share(permutations);
    for (std::size_t i = 0; i < classes.size(); ++i) layers.of_class[classes[i]] = layers.count + layer_of[i];
    layers.count += 1 + *std::max_element(layer_of.begin(), layer_of.end());
  }
  return layers;
}

namespace {

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

namespace {

/// The t of the header, for an automaton all of whose states are reachable.
Label position_period(const Dfa& dfa, std::uint64_t max_elements) {
  TransformationMonoid::Options options;
  options.max_elements = max_elements;
  const auto monoid = TransformationMonoid::enumerate(letter_maps(dfa), dfa.states(), options);
  if (!monoid.complete())
    throw LimitError(
        fmt::format("whether a position signal helps is decided up to {} of the transition "
                    "monoid, which has more",
                    counted(max_elements, "element")));
  const Stamp stamp(monoid);
  if (stamp.stability_index() == 0) throw LimitError("the powers of the alphabet did not repeat in time");
  if (const auto cycle = stamp.stable_cycle())
    throw InputError(
        fmt::format("the stamp is not quasi-aperiodic: {} acts with a cycle, and so do words of every multiple of {}",
                    quoted_letters(dfa.alphabet(), monoid.word(*cycle)), counted(stamp.stability_index(), "letter")));
  return static_cast<Label>(stamp.position_period());
}

/// The automaton over pairs (letter, position), numbered letter · t + position.
class Positioned {
 public:
  Positioned(const Dfa& dfa, Label period) : dfa_(dfa), period_(period), some_state_(period) {
    number({0, dfa.initial()});
    for (std::size_t i = 0; i < states_.size(); ++i) {
      const auto [position, state] = states_[i];
      for (Letter letter = 0; letter < dfa.letters(); ++letter)
        number({(position + 1) % period, dfa.next(state, letter)});
    }
  }

  Dfa automaton() const {
    std::vector<std::string> names;
    for (Letter letter = 0; letter < dfa_.letters(); ++letter)
      for (Label i = 0; i < period_; ++i) names.push_back(fmt::format("{}:{}", i, dfa_.alphabet().name(letter)));
    std::vector<State> table;
    for (const auto& [position, state] : states_)
      for (Letter letter = 0; letter < dfa_.letters(); ++letter)
        for (Label i = 0; i < period_; ++i) {
          const State from = position == i ? state : some_state_[i];
          table.push_back(number_.at({(i + 1) % period_, dfa_.next(from, letter)}));
        }
    return Dfa::acceptor(Alphabet::from_names(names), std::move(table), 0, std::vector<bool>(states_.size(), false));
  }

  /// The state of the pair; kNoContext when its position is another.
  Context state_at(Label position, State pair) const {
    return states_[pair].first == position ? states_[pair].second : kNoContext;
  }

 private:
  void number(std::pair<Label, State> pair) {
    const auto [entry, fresh] = number_.try_emplace(pair, static_cast<State>(states_.size()));
    if (!fresh) return;
    states_.push_back(pair);
    some_state_[pair.first] = pair.second;
  }

  const Dfa& dfa_;
  Label period_;
  std::map<std::pair<Label, State>, State> number_;
  std::vector<std::pair<Label, State>> states_;
  std::vector<State> some_state_;  ///< per position, a state that is reached there
};

/// Every letter adds 1; the context below is the letter with the position before it.
CascadeLayer counter(Letter letters, Label period) {
  CascadeLayer layer;
  layer.width = period;
  std::vector<Point> images;
  for (Label x = 0; x < period; ++x) images.push_back((x + 1) % period);
  layer.actions.push_back(Transformation::from_images(std::move(images)));
  layer.wiring.action_of.assign(letters, 0);
  for (Context c = 0; c < letters * period; ++c) layer.wiring.next.push_back(c);
  return layer;
}

/// The readout below a counter: nodes node · t + position, so that only labels that agree on the position are decoded.
Readout below_counter(const Readout& readout, const std::vector<CascadeLayer>& layers, const Positioned& positioned,
                      Label period) {
  Readout result;
  result.next.emplace_back(period);
  std::iota(result.next[0].begin(), result.next[0].end(), Context{0});
  for (std::size_t k = 0; k < layers.size(); ++k) {
    const Label width = layers[k].width;
    const std::vector<Context>& old = readout.next[k];
    std::vector<Context>& level = result.next.emplace_back();
    for (std::size_t node = 0; node < old.size() / width; ++node)
      for (Label position = 0; position < period; ++position)
        for (Label label = 0; label < width; ++label) {
          const Context to = old[node * width + label];
          if (to == kNoContext)
            level.push_back(kNoContext);
          else
            level.push_back(k + 1 < layers.size() ? to * period + position : positioned.state_at(position, to));
        }
  }
  return result;
}

}  // namespace

Cascade position_cascade(const Dfa& dfa, const PositionCascadeOptions& options) {
  const Label period = position_period(canonical(dfa), options.max_elements);
  if (period == 1) return holonomy_decomposition(dfa, options.holonomy);
  const Positioned positioned(dfa, period);
  const Cascade below = holonomy_decomposition(positioned.automaton(), options.holonomy);
  Cascade cascade;
  cascade.alphabet = dfa.alphabet();
  cascade.method = "holonomy below positions";
  cascade.layers.push_back(counter(dfa.letters(), period));
  cascade.layers.insert(cascade.layers.end(), below.layers.begin(), below.layers.end());
  cascade.initial.push_back(0);
  cascade.initial.insert(cascade.initial.end(), below.initial.begin(), below.initial.end());
  cascade.readout = below_counter(below.readout, below.layers, positioned, period);
  return trim(cascade);
}

}  // namespace krohn
