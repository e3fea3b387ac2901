#include "krohn/automata/cascades/holonomy_layers.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <set>
#include <utility>

#include "krohn/groups/error.h"
#include "krohn/groups/permutations/stabiliser_chain.h"
#include "krohn/groups/time_limit.h"

namespace krohn {
namespace {

using Set = Skeleton::Set;

/// What the letters that keep a class do to the labels of its tiles, without the identity.
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

}  // namespace krohn
